"""Prometheus metrics: requests by route and status, decisions by outcome, what is kept in memory.

No label carries a name from a request.
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, multiprocess

MULTIPROCESS_DIR = "PROMETHEUS_MULTIPROC_DIR"
"""Set by `policyd serve --workers`: the workers of one service add their counts up in this folder."""

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Metrics:
    """The metrics of one process."""

    def __init__(self) -> None:
        """Start all counts at zero."""
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "policyd_requests", "Requests by route and status.", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "policyd_request_seconds", "How long requests take.", ["route"], buckets=_BUCKETS, registry=self.registry
        )
        self.decisions = Counter(
            "policyd_decisions", "Decisions by the facet `admitted`.", ["admitted"], registry=self.registry
        )
        self.imports = Counter("policyd_imports", "Imports by outcome.", ["outcome"], registry=self.registry)
        self.active = Gauge(
            "policyd_requests_active",
            "Requests that are worked on.",
            registry=self.registry,
            multiprocess_mode="livesum",
        )

    def text(self) -> bytes:
        """The exposition, of all workers where there are several."""
        if os.environ.get(MULTIPROCESS_DIR):
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            return generate_latest(registry)
        return generate_latest(self.registry)
