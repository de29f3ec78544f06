"""What stands behind the routes of one process: the database, what is kept in memory, the clock.

Source: style 3, 11.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock
from typing import cast

from fastapi import Request

from policyd.core.cards import Timestamp
from policyd.service.metrics import Metrics
from policyd.settings import Settings
from policyd.store.session import Database
from policyd.usecases.recent import Recent
from policyd.usecases.stored_decisions import Decisions

KNOWN_SNAPSHOTS = 20_000
"""So much is kept of what was read about snapshots, without their facts."""


@dataclass(slots=True)
class Services:
    """Everything the routes share.

    Attributes:
        computing: held while a batch is decided: threads that only compute would keep each other waiting.
        proving: held while a question about all calls is worked on, for the same reason.
        known: what was read about snapshots, by their stamps.
    """

    settings: Settings
    database: Database
    decisions: Decisions = field(default_factory=Decisions)
    metrics: Metrics = field(default_factory=Metrics)
    computing: Lock = field(default_factory=Lock)
    proving: Lock = field(default_factory=Lock)
    known: Recent = field(default_factory=lambda: Recent(KNOWN_SNAPSHOTS))


def services(request: Request) -> Services:
    """The services of the application that handles `request`."""
    return cast("Services", request.app.state.services)


def now() -> Timestamp:
    """The present moment; asked for at the rim only."""
    moment = datetime.now(UTC)
    return Timestamp(int(moment.timestamp()), moment.microsecond * 1000)
