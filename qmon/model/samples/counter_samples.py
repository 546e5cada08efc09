"""The server's own counters, on servers where a separate statement reads them (SQL Server). Totals, never rates."""

from __future__ import annotations

from dataclasses import dataclass, replace

from qmon.model.samples.polled_samples import ServerSample, WaitSample


@dataclass(frozen=True, slots=True)
class ServerCounters:
    """One row. Totals since the server started, except ``threadless``. ``None``: this server has no such counter.

    Attributes:
        commits: transactions of this database that wrote.
        transactions: all transactions started in this database.
        log_flush_waits: commits of this database that waited for the log.
        threadless: tasks that currently wait for a worker thread and have no session yet.
        ghosts_skipped: deleted rows that scans stepped over because the server has not removed them yet (Skipped
            Ghosted Records/sec).
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
    """Return the server's sample with the values of its counters added."""
    if counters is None:
        return server
    return replace(server, commits=counters.commits, deadlocks=counters.deadlocks)


def add_threadless_waits(
    waits: tuple[WaitSample, ...] | None, counters: ServerCounters | None
) -> tuple[WaitSample, ...] | None:
    """Return the waits of sessions, plus those of tasks without a thread (``THREADPOOL``)."""
    if waits is None or counters is None or not counters.threadless:
        return waits
    return (*waits, WaitSample("CPU", "THREADPOOL", counters.threadless))
