"""Rates of the server's own counters, from two samples of their totals (SQL Server). Pure functions."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.samples.counters import ServerCounters


@dataclass(frozen=True, slots=True)
class CounterRates:
    """All per second over ``seconds``; ``None``: this server has no such counter.

    ``transactions`` (begun) and ``log_flush_waits`` (commits that waited for the log) are of this database; batches,
    pages split, requests for a lock that ran out of time, and ghosts (deleted rows that scans stepped over) are of the
    whole server, qmon's own batches among them.
    """

    seconds: float
    batches: float | None
    transactions: float | None
    page_splits: float | None
    lock_timeouts: float | None
    log_flush_waits: float | None
    ghosts_skipped: float | None = None


def rates_between(before: ServerCounters, now: ServerCounters, seconds: float) -> CounterRates | None:
    """The rates between two samples; ``None`` after a reset of any of them, or where no time has passed."""
    pairs = (
        (before.batches, now.batches),
        (before.transactions, now.transactions),
        (before.page_splits, now.page_splits),
        (before.lock_timeouts, now.lock_timeouts),
        (before.log_flush_waits, now.log_flush_waits),
        (before.ghosts_skipped, now.ghosts_skipped),
    )
    moved = [None if a is None or b is None else b - a for a, b in pairs]
    if seconds <= 0 or any(each is not None and each < 0 for each in moved):
        return None
    return CounterRates(seconds, *(None if each is None else each / seconds for each in moved))
