"""Where the items of a fleet are worked on: in this process, in processes of this machine, or by any scheduler.

Items are put together in batches, so that their way to a worker and back costs little beside the work. A batch whose
worker dies is given to another one; results come in any order and are told apart by their number, so the outcome does
not depend on who did what.

Source: style 3 (guests on the use cases).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from policyd.findings import InputError

if TYPE_CHECKING:
    from distributed import Client

Work: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
"""The work on one item; it must not raise, and a worker must be able to import it by name."""

BATCHES_EACH = 8
"""So many batches for each worker, so that none waits long for the last one."""

COLLECT_EVERY = 200_000
"""New objects after which a worker looks for circles."""

MAX_BATCH = 64
"""Items of one batch."""

PATIENCE_S = 5
"""A scheduler that does not answer for so long is not there."""

MAX_DEATHS = 3
"""So many workers may die over one batch; then it is told as failed."""


class LaneError(InputError):
    """The workers cannot be had."""


@dataclass(frozen=True, slots=True)
class Here:
    """One item after the other, in this process."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Workers of `dask.distributed`.

    Attributes:
        workers: so many processes of this machine, where there is no scheduler.
        scheduler: the address of a scheduler that has workers of its own; empty for none.
    """

    workers: int = 2
    scheduler: str = ""


Lane: TypeAlias = Here | Cluster


def run_all(items: Sequence[dict[str, Any]], work: Work, lane: Lane) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The result of every item with its number, each once, in the order in which they are ready.

    Args:
        items: what is worked on; values that JSON knows.
        work: what is done.
        lane: where.

    Yields:
        Number and result; None where workers died over an item again and again.

    Raises:
        LaneError: if the workers cannot be had.
    """
    match lane:
        case Here():
            for number, item in enumerate(items):
                yield number, work(item)
        case Cluster():
            with _client(lane) as client:
                yield from _spread(items, work, client)


def worked(work: Work, batch: list[tuple[int, dict[str, Any]]]) -> list[tuple[int, dict[str, Any]]]:
    """The work on one batch, on a worker."""
    # results are trees without circles; looking for circles in them takes a third of the time
    gc.set_threshold(COLLECT_EVERY, 50, 50)
    return [(number, work(item)) for number, item in batch]


def _spread(items: Sequence[dict[str, Any]], work: Work, client: Client) -> Iterator[tuple[int, dict[str, Any] | None]]:
    from distributed import KilledWorker, as_completed

    workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    size = max(1, min(MAX_BATCH, len(items) // (workers * BATCHES_EACH) or 1))
    numbered = list(enumerate(items))
    batches = [numbered[start : start + size] for start in range(0, len(numbered), size)]
    futures = {client.submit(worked, work, batch, pure=False): batch for batch in batches}
    again: list[tuple[int, dict[str, Any]]] = []
    for future in as_completed(futures, loop=client.loop):
        try:
            # a result that died with its worker is made again while this waits
            found = future.result()
        except KilledWorker:
            again += futures[future]
            continue
        future.release()
        yield from found
    # a worker takes with it what only waited for it, so each gets its own trial
    for number, item in again:
        single = client.submit(worked, work, [(number, item)], pure=False)
        try:
            yield from single.result()
        except KilledWorker:
            yield number, None


@contextmanager
def _client(lane: Cluster) -> Iterator[Client]:
    try:
        import dask
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        if error.name not in ("dask", "distributed"):
            raise
        raise LaneError.of(
            "STORE070",
            "work can be spread only with the extra `fleet`",
            None,
            "install `policyd[fleet]`, or `--workers 1`",
        ) from None
    quiet = {
        "distributed.scheduler.allowed-failures": MAX_DEATHS,
        # workers are forked from one process that has imported the library
        "distributed.worker.multiprocessing-method": "forkserver" if sys.platform != "win32" else "spawn",
        "distributed.admin.log-format": "",
        "logging": {"distributed": "critical"},
    }
    with dask.config.set(quiet):
        if lane.scheduler:
            try:
                with Client(lane.scheduler, timeout=PATIENCE_S, set_as_default=False) as client:
                    yield client
            except (OSError, ValueError) as error:
                raise LaneError.of(
                    "STORE071", f"the scheduler at `{lane.scheduler}` does not answer", None, "give `tcp://host:port`"
                ) from error
            return
        with (
            LocalCluster(
                n_workers=lane.workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address="127.0.0.1:0",  # None would take the dashboard's port for a server without one
                scheduler_kwargs={"dashboard": False},
                host="127.0.0.1",
                silence_logs=50,
            ) as cluster,
            Client(cluster, set_as_default=False) as client,
        ):
            yield client
