"""Waiting: what sessions waited for between two samples of the totals. Pure functions and their records.

Both engines come to the same unit: seconds waited by all sessions for each second watched, which is the mean number of
sessions in that wait. A counter that falls, or totals that began anew, give no rate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from qmon.model.samples.waits import WaitSource, WaitTotal, WaitTotals
from qmon.model.server_start import same_start
from qmon.model.waits.known import benign


@dataclass(frozen=True, slots=True)
class WaitRate:
    """One wait. ``event`` empty: running on a processor.

    ``sessions``: in it on average (seconds waited per second). ``share``: of all that is not benign, 0 to 1.
    ``per_s``: waits that ended per second, ``each_s``: seconds one took on average, ``signal``: share of its time spent
    waiting for a processor; ``None`` where nobody counts them.
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
        """What tells it from all others: ``IO:WalSync``, ``wait:WRITELOG``."""
        return f"{self.kind}:{self.event}"

    @property
    def name(self) -> str:
        """``IO:WalSync``, ``WRITELOG``; ``running`` on a processor."""
        if not self.event:
            return "running"
        return self.event if self.kind == "wait" else self.key


@dataclass(frozen=True, slots=True)
class Waiting:
    """All waits of some time. ``seconds``: time watched; ``samples``: of the sessions in it, ``None`` where the
    server counts. ``rates``: the longest first, without benign ones and latches; ``latches``: of non-page latches
    (SQL Server), whose time is in a wait as well; ``benign``: folded away.
    """

    source: WaitSource
    seconds: float
    samples: int | None
    rates: tuple[WaitRate, ...]
    latches: tuple[WaitRate, ...] = ()
    benign: tuple[WaitRate, ...] = ()

    @property
    def busy(self) -> float:
        """Sessions that waited or ran, on average."""
        return sum(rate.sessions for rate in self.rates)

    def of(self, events: Iterable[str]) -> tuple[WaitRate, ...]:
        """Those of these events, named in small letters."""
        wanted = frozenset(events)
        return tuple(rate for rate in self.rates if rate.event.casefold() in wanted)


def waiting_between(before: WaitTotals, now: WaitTotals) -> Waiting | None:
    """What was waited for between two samples; ``None`` where they do not belong together or nothing was watched."""
    seconds = _seconds_between(before, now)
    if seconds is None or seconds <= 0:
        return None
    old = {(total.kind, total.event): total for total in before.waits}
    spent: list[tuple[WaitTotal, WaitTotal | None, float]] = []
    for total in now.waits:
        was = old.get((total.kind, total.event))
        waited = total.waited_s - (was.waited_s if was is not None else 0.0)
        if waited < -1e-9 or (was is not None and (total.waits or 0) < (was.waits or 0)):
            return None  # reset between the two: what this sample holds is of an unknown time
        if waited > 0 or (total.waits or 0) > ((was.waits or 0) if was is not None else 0):
            spent.append((total, was, max(0.0, waited)))
    whole = sum(waited for total, _, waited in spent if not _aside(total))
    rates = [_rate(total, was, waited, seconds, whole) for total, was, waited in spent]
    rates.sort(key=lambda rate: (-rate.sessions, rate.kind, rate.event))
    samples = now.samples - before.samples if now.samples is not None and before.samples is not None else None
    return Waiting(
        now.source,
        seconds,
        samples,
        tuple(r for r in rates if not benign(r.kind, r.event) and r.kind != "latch"),
        tuple(r for r in rates if r.kind == "latch" and not benign(r.kind, r.event)),
        tuple(r for r in rates if benign(r.kind, r.event)),
    )


def _seconds_between(before: WaitTotals, now: WaitTotals) -> float | None:
    """The seconds watched between two samples; ``None``: the counters were reset in between.

    If the server's clock was changed, its start moves. The time at which it was read does not.
    """
    moved = now.since_at - before.since_at
    if now.source is not before.source:
        return None
    if now.source is WaitSource.COUNTED:
        seconds = now.watched_s - before.watched_s + moved
        return seconds if same_start(before.since_at, now.since_at) else None
    return now.watched_s - before.watched_s if abs(moved) < 1.0 else None


def _aside(total: WaitTotal) -> bool:
    return total.kind == "latch" or benign(total.kind, total.event)


def _rate(total: WaitTotal, was: WaitTotal | None, waited: float, seconds: float, whole: float) -> WaitRate:
    share = waited / whole if whole > 0 and not _aside(total) else 0.0
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
