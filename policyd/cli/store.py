"""The database of the command line: opened from the settings, refused while it is not migrated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policyd.settings import Settings
    from policyd.store.session import Database
    from policyd.usecases.import_deployment import Writer

LOCAL = "local"
"""Who writes from the command line, in the history and the audit log."""


@contextmanager
def database(*, is_migrated: bool = True) -> Iterator[Database]:
    """The database that POLICYD_DATABASE_URL names, closed afterwards.

    Args:
        is_migrated: whether to refuse one that is not at the revision this code expects.

    Raises:
        StoreError: if it cannot be used.
        InputError: if the settings cannot be read.
    """
    from policyd.cli.used import snapshots_read
    from policyd.store import migrate
    from policyd.store.session import Database
    from policyd.usecases.snapshots import reading_into

    opened = Database(settings())
    try:
        if is_migrated:
            migrate.require_migrated(opened)
        with reading_into(snapshots_read()):
            yield opened
    finally:
        opened.close()


def settings() -> Settings:
    """The settings of this process.

    Raises:
        InputError: naming the first variable that cannot be read.
    """
    from pydantic import ValidationError

    from policyd.findings import InputError
    from policyd.settings import Settings

    try:
        return Settings()
    except ValidationError as wrong:
        first = wrong.errors()[0]
        name = "_".join(["POLICYD", *(str(part).upper() for part in first["loc"])])
        message = f"the environment variable `{name}` cannot be used: {first['msg'].lower()}"
        raise InputError.of("MANIF091", message) from None


def writer() -> Writer:
    """Who writes now from the command line."""
    from policyd.cli.options import now
    from policyd.usecases.import_deployment import Writer

    return Writer(LOCAL, now())
