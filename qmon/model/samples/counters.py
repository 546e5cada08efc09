"""The server's own counters, where it has them apart from its clock (SQL Server): totals, never rates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qmon.model.samples.polled import ServerSample, WaitSample


@dataclass(frozen=True, slots=True)
class ServerCounters:
    """One row; totals since the server started, but for ``threadless``. ``None``: this server has no such counter.

    ``commits`` are transactions of this database that wrote, ``transactions`` all of its that began,
    ``log_flush_waits`` its commits that waited for the log; the others are the whole server's. ``threadless``: tasks
    that wait for a worker thread at this moment, which have no session yet. ``ghosts_skipped``: deleted rows that scans
    stepped over because the server has not removed them yet (Skipped Ghosted Records/sec).
    """

    commits: int | None
    transactions: int | None
    deadlocks: int | None
    lock_timeouts: int | None
    page_splits: int | None
    batches: int | None
    log_flush_waits: int | None
    threadless: int | None = None
    ghosts_skipped: int | None = None


def with_counters(server: ServerSample, counters: ServerCounters | None) -> ServerSample:
    """The server's sample with what its counters add."""
    if counters is None:
        return server
    return replace(server, commits=counters.commits, deadlocks=counters.deadlocks)


def with_threadless(
    waits: tuple[WaitSample, ...] | None, counters: ServerCounters | None
) -> tuple[WaitSample, ...] | None:
    """The waits of sessions, and those of tasks that have no thread yet (``THREADPOOL``)."""
    if waits is None or counters is None or not counters.threadless:
        return waits
    return (*waits, WaitSample("CPU", "THREADPOOL", counters.threadless))
