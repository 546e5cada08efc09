"""Rates of the server's own counters, from two samples of their totals (SQL Server)."""

from __future__ import annotations

from dataclasses import dataclass

from qmon.model.samples.counter_samples import ServerCounters


@dataclass(frozen=True, slots=True)
class CounterRates:
    """Rates per second over ``seconds``. A rate is ``None`` if this server has no such counter.

    ``transactions`` (started transactions) and ``log_flush_waits`` (commits that waited for the log) are counted for
    this database. Batches, page splits, lock timeouts and skipped ghosts (deleted rows) are counted for the whole
    server, including qmon's own batches.
    """

    seconds: float
    batches: float | None
    transactions: float | None
    page_splits: float | None
    lock_timeouts: float | None
    log_flush_waits: float | None
    ghosts_skipped: float | None = None


def rates_between(before: ServerCounters, now: ServerCounters, seconds: float) -> CounterRates | None:
    """Return the rates between two samples, or ``None`` if any counter was reset or no time has passed."""
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
