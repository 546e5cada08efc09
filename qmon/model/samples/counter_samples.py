"""The server's own counters, if a separate statement reads them (SQL Server). Counters are totals, never rates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qmon.model.samples.polled_samples import ServerSample, WaitSample


@dataclass(frozen=True, slots=True)
class ServerCounters:
    """One row: totals since the server started, except ``threadless``.

    A field is ``None`` if this server has no such counter.

    Attributes:
        commits: transactions of this database that wrote.
        transactions: all transactions started in this database.
        log_flush_waits: commits of this database that waited for the log.
        threadless: tasks that currently wait for a worker thread and have no session yet.
        ghosts_skipped: deleted rows that scans skipped because the server has not removed the rows yet (Skipped Ghosted
            Records/sec).
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


def merge_counters(server: ServerSample, counters: ServerCounters | None) -> ServerSample:
    """Add the values of the server's counters to the server's sample."""
    if counters is None:
        return server
    return replace(server, commits=counters.commits, deadlocks=counters.deadlocks)


def add_threadless_waits(
    waits: tuple[WaitSample, ...] | None, counters: ServerCounters | None
) -> tuple[WaitSample, ...] | None:
    """Add the waits of tasks without a thread (``THREADPOOL``) to the waits of sessions."""
    if waits is None or counters is None or not counters.threadless:
        return waits
    return (*waits, WaitSample("CPU", "THREADPOOL", counters.threadless))
