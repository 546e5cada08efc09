"""Waiting: the waits of sessions between two samples of the wait totals.

The unit is the same for both engines: the seconds that all sessions waited per watched second, which equals the mean
number of waiting sessions. If a counter decreased or the totals were reset, there is no rate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qmon.model.samples.wait_samples import WaitSource, WaitTotal, WaitTotals
from qmon.model.server_start import is_same_start
from qmon.model.waits.meanings import is_benign


@dataclass(frozen=True, slots=True)
class WaitRate:
    """One wait. An empty ``event`` means that sessions run on a processor.

    Attributes:
        sessions: average number of sessions in this wait (seconds waited per second).
        share: share of all waits that are not benign, 0 to 1.
        per_s: finished waits per second; ``None`` if finished waits are not counted.
        each_s: average seconds per finished wait; ``None`` if finished waits are not counted.
        signal: share of the waiting time spent waiting for a processor; ``None`` if this time is not counted.
    """

    kind: str
    event: str
    sessions: float
    share: float
    per_s: float | None = None
    each_s: float | None = None
    signal: float | None = None

    @property
    def key(self) -> str:
        """The key that identifies the wait: ``IO:WalSync``, ``wait:WRITELOG``."""
        return f"{self.kind}:{self.event}"

    @property
    def name(self) -> str:
        """``IO:WalSync`` or ``WRITELOG``; ``running`` if sessions run on a processor."""
        if not self.event:
            return "running"
        return self.event if self.kind == "wait" else self.key


@dataclass(frozen=True, slots=True)
class Waiting:
    """All waits of a period.

    Attributes:
        seconds: seconds watched.
        samples: number of samples of sessions in this time; ``None`` if the server counts waits.
        rates: the waits, longest first, without benign waits and latches.
        latches: non-page latches (SQL Server). Their time is also part of a wait.
        benign: waits that are not a sign of a problem.
    """

    source: WaitSource
    seconds: float
    samples: int | None
    rates: tuple[WaitRate, ...]
    latches: tuple[WaitRate, ...] = ()
    benign: tuple[WaitRate, ...] = ()

    @property
    def busy(self) -> float:
        """Average number of sessions that waited or ran."""
        return sum(rate.sessions for rate in self.rates)

    def rates_for(self, events: Iterable[str]) -> tuple[WaitRate, ...]:
        """Return the waits with these event names (lower case)."""
        wanted = frozenset(events)
        return tuple(rate for rate in self.rates if rate.event.casefold() in wanted)


def waiting_between(before: WaitTotals, now: WaitTotals) -> Waiting | None:
    """Return the waits between two samples, or ``None`` if the totals were reset or no time was watched."""
    seconds = _seconds_between(before, now)
    if seconds is None or seconds <= 0:
        return None
    old = {(total.kind, total.event): total for total in before.waits}
    spent: list[tuple[WaitTotal, WaitTotal | None, float]] = []
    for total in now.waits:
        was = old.get((total.kind, total.event))
        waited = total.waited_s - (was.waited_s if was is not None else 0.0)
        if waited < -1e-9 or (was is not None and (total.waits or 0) < (was.waits or 0)):
            return None  # the totals were reset between the two samples, so this sample covers an unknown time
        if waited > 0 or (total.waits or 0) > ((was.waits or 0) if was is not None else 0):
            spent.append((total, was, max(0.0, waited)))
    whole = sum(waited for total, _, waited in spent if not _is_left_out(total))
    rates = [_wait_rate(total, was, waited, seconds, whole) for total, was, waited in spent]
    rates.sort(key=lambda rate: (-rate.sessions, rate.kind, rate.event))
    samples = now.samples - before.samples if now.samples is not None and before.samples is not None else None
    return Waiting(
        now.source,
        seconds,
        samples,
        tuple(r for r in rates if not is_benign(r.kind, r.event) and r.kind != "latch"),
        tuple(r for r in rates if r.kind == "latch" and not is_benign(r.kind, r.event)),
        tuple(r for r in rates if is_benign(r.kind, r.event)),
    )


def _seconds_between(before: WaitTotals, now: WaitTotals) -> float | None:
    """Return the seconds watched between two samples, or ``None`` if the counters were reset in between.

    A change of the server's clock changes the reported start, but not the time of the reading.
    """
    moved = now.since_at - before.since_at
    if now.source is not before.source:
        return None
    if now.source is WaitSource.COUNTED:
        seconds = now.watched_s - before.watched_s + moved
        return seconds if is_same_start(before.since_at, now.since_at) else None
    return now.watched_s - before.watched_s if abs(moved) < 1.0 else None


def _is_left_out(total: WaitTotal) -> bool:
    return total.kind == "latch" or is_benign(total.kind, total.event)


def _wait_rate(
    total: WaitTotal, was: WaitTotal | None, waited: float, seconds: float, total_seconds: float
) -> WaitRate:
    share = waited / total_seconds if total_seconds > 0 and not _is_left_out(total) else 0.0
    count = None if total.waits is None else total.waits - ((was.waits or 0) if was is not None else 0)
    signal = None
    if total.signal_s is not None and waited > 0:
        before = (was.signal_s or 0.0) if was is not None else 0.0
        signal = min(1.0, max(0.0, total.signal_s - before) / waited)
    return WaitRate(
        total.kind,
        total.event,
        waited / seconds,
        share,
        None if count is None else count / seconds,
        waited / count if count else None,
        signal,
    )
