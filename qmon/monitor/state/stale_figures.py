"""Figures that stay on the screen while their probe is left out to stay within the budget, or fails, with their age."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from qmon.model.figure import Figure, Verdict
from qmon.model.layout.layout import Layout
from qmon.model.operations import Pause
from qmon.model.rates.forecast import Forecast, Trend
from qmon.model.rates.forgotten import forgotten
from qmon.model.reasons import Reason
from qmon.model.samples.polled import CounterSample
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.model.text import duration, time_of_day
from qmon.model.view import QueueView
from qmon.monitor.probes import table_counters
from qmon.monitor.probes.cadence import COUNTING_BRIEF_S, COUNTING_S, SIZES_TURN_S, STATISTICS_S
from qmon.monitor.probes.queue import BLOCKED, ring_probe

_NAMES: Final = tuple(field.name for field in fields(QueueView) if field.type == "Figure")


def gone_queues(snapshot: Snapshot) -> frozenset[str]:
    """The queues of a poll that could not be seen in it at all."""
    return frozenset(failure.queue for failure in snapshot.failures if failure.gone and failure.queue)


def unseen(layout: Layout, reason: str) -> QueueView:
    """A queue of which nothing was ever seen."""
    figures: dict[str, Any] = dict.fromkeys(_NAMES, Figure.unknown(reason))
    return QueueView(layout, verdict=Verdict("", ""), forecast=Forecast(Trend.UNKNOWN), **figures)


def as_old(view: QueueView, age_s: float, reason: str) -> QueueView:
    """What was seen of a queue ``age_s`` seconds ago, each figure old; what was not known then is not known now."""
    old: dict[str, Any] = {
        name: Figure.unknown(reason)
        if figure.value is None
        else replace(figure, age_s=figure.age_s + age_s, old=True, reason=reason)
        for name, figure in _figures(view)
    }
    return replace(
        view,
        **old,
        forecast=Forecast(Trend.UNKNOWN),
        messages=None,
        page=None,
        flow=None,
        span_s=None,
        window_s=None,
        ledger=None,
        throttled=(),
        use=None,
        read_at=None,
    )


def unread(view: QueueView, read_at: float, pauses: tuple[Pause, ...]) -> QueueView:
    """The view of a queue in the polls in which it is not its turn. ``pauses``: those in force now."""
    older: dict[str, Any] = {
        name: Figure(  # of a hundred queues in each poll: ``replace`` takes five times as long
            f.value, not f.at_least, f.at_least, f.reason, f.age_s, f.every_s, f.old, f.partial
        )
        for name, f in _figures(view)
        if f.value is not None
    }
    if pauses:
        older["forecast"] = view.forecast.while_paused
    return replace(view, **older, messages=None, page=None, flow=None, span_s=None, pauses=pauses, read_at=read_at)


def _figures(view: QueueView) -> Iterator[tuple[str, Figure]]:
    return ((name, getattr(view, name)) for name in _NAMES)


_PROGRESS: Final = "progress"


def of_locks(probe: str) -> bool:
    """Whether a probe reads only which rows are held, and is left out of most polls for what it costs."""
    return probe.startswith("unseen")


def flow_unread(q: QueueSamples, before: QueueSamples) -> bool:
    """Whether what moved since the poll ``before`` is not known, since its probe was left out, or failed.

    Not where nothing tells it any more: a table of one queue has several now.
    """
    if "rates" in q.unknown and "rates" not in before.unknown:
        return False
    if any(probe == ring_probe(q.layout) or probe.startswith(_PROGRESS) for probe in q.left_out):
        return True
    return q.ring is None if before.ring is not None else q.counters is None and before.counters is not None


_HEAD: Final = ("head", "ring", "depth")
_OF_HOLDERS: Final = ("held", "unseen", "locks", "writers")
_GROUP: Final = "group_states:"
# What the probes begin with that a figure of `QueueView` is read by.
_READ_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "ready": (*_HEAD, f"{_GROUP}ready"),
    "oldest": (*_HEAD, f"{_GROUP}ready"),
    "gap": _HEAD,
    "fill": _HEAD,
    "in_progress": (*_HEAD, _PROGRESS, *_OF_HOLDERS, f"{_GROUP}in_progress"),
    "stuck": (*_HEAD, _PROGRESS, *_OF_HOLDERS, f"{_GROUP}in_progress"),
    "rates": ("ring", _PROGRESS, "counters", table_counters.PROBE, "group_steps", f"{_GROUP}in_progress"),
    "scheduled": ("scheduled", f"{_GROUP}scheduled"),
    "dead": ("in_state", f"{_GROUP}dead"),
    "blocked": (BLOCKED, f"{_GROUP}blocked"),
    "blocked_oldest": (BLOCKED, f"{_GROUP}blocked"),
    "bytes": ("sizes", "uses", table_counters.PROBE),
    "growth": ("sizes", "uses", table_counters.PROBE),
}
# Figures that are not read in each poll: seconds between readings, and the same where queues are read in turns.
_RARELY: Final[Mapping[str, tuple[float, float]]] = {
    "scheduled": (COUNTING_S, COUNTING_BRIEF_S),
    "dead": (COUNTING_S, COUNTING_BRIEF_S),
    "bytes": (STATISTICS_S, SIZES_TURN_S),
    "growth": (STATISTICS_S, SIZES_TURN_S),
}
FRESH_POLLS: Final = 3.0
_LOST_POLLS: Final = 10.0


def fresh_s(name: str, snapshot: Snapshot, layout: Layout) -> float:
    """The age in seconds up to which a figure is evidence: three times its cadence, or that of its own probes.

    That a queue is read in its turn does not count where a probe has failed: then nothing is known of it since.
    ``name``: a field of ``QueueView``, or ``rates``.
    """
    throttled = snapshot.observing.throttled if snapshot.observing is not None else ()
    own = (
        each.every_s for each in throttled if each.queue in ("", layout.asked_as) and _reads(each.probe, _READ_BY[name])
    )
    rarely_s = _RARELY[name][snapshot.every_s > 0] if name in _RARELY else 0.0
    turn_s = snapshot.every_s if failure_of(name, snapshot, layout.queue) is None else 0.0
    return max([FRESH_POLLS * max(snapshot.interval_s, turn_s, rarely_s), *own])


def failure_of(name: str, snapshot: Snapshot, queue: str) -> ProbeFailure | None:
    """Why a figure could not be read in this poll, if a probe of it has failed."""
    read_by = _READ_BY[
        name
    ]  # also where nothing has failed, so that a figure without its row is seen in the first poll
    return next((f for f in snapshot.failures if f.queue in ("", queue) and _reads(f.probe, read_by)), None)


def _reads(probe: str, read_by: tuple[str, ...]) -> bool:
    return probe.startswith(read_by)


def not_read(figure: Figure, at: float, interval_s: float) -> Figure:
    """The same with the time of its reading in words, where that is more than ten polls ago."""
    if not figure.old or figure.reason != Reason.THROTTLED or figure.age_s <= _LOST_POLLS * interval_s:
        return figure
    return replace(figure, reason=Reason.NOT_READ_SINCE.format(time=time_of_day(at - figure.age_s)), throttled=True)


def of_before(figure: Figure, seconds: float, failure: ProbeFailure | None = None) -> Figure:
    """The same, ``seconds`` older, where its probe was left out, or has failed."""
    if figure.value is None or seconds <= 0:
        return figure
    reason = Reason.THROTTLED if failure is None else failure.words
    return replace(figure, estimated=not figure.at_least, reason=reason, age_s=figure.age_s + seconds)


class OldestBound:
    """How old the oldest ready message is at least, while the probe that reads it is left out of the polls.

    A message that was ready when it was read, and has been neither deleted nor changed since, is ready still, and older
    by the time since. So where no row of the table was deleted or changed since then, the oldest is as old as it was
    read, and that time more; where fewer rows were than were seen ready, one of these is still ready, and at least as
    old as the reading. An older one that is given back in between only makes the oldest older.

    Only totals that are counted as rows change, before the commit, prove that nothing was popped: those of SQL Server.
    PostgreSQL's come up to ten seconds late, so there is no bound there. What was forgotten in between proves nothing.
    """

    def __init__(self) -> None:
        # When it was read at the latest (server clock), the age, how many were ready, and the table's counters.
        self._read: tuple[float, float, int, CounterSample] | None = None

    def see(self, q: QueueSamples, at: float, took_s: float) -> Figure | None:
        """The bound at ``at``; ``None`` where it was read in this poll, or there is none.

        ``at``: when the poll began, server clock, seconds, and ``took_s``: how long it took.
        """
        now = q.counters
        if now is None or not now.counted or now.modified_since_analyze is not None:
            self._read = None
            return None
        if q.head is not None:  # it was read after the counters, and before the end of the poll
            age_s = q.head.oldest_s
            self._read = None if age_s is None else (at + took_s, age_s, q.head.counted, now)
            return None
        if self._read is None:
            return None
        read_at, age_s, ready, then = self._read
        if forgotten(then, now, None, ({}, {})) or now.files != then.files:
            self._read = None
            return None
        changed = now.deleted - then.deleted + now.updated - then.updated
        since_s = max(0.0, at - read_at)
        if changed >= max(1, ready):
            return None
        bound_s = since_s if changed else max(0.0, age_s) + since_s
        return Figure(bound_s, at_least=True, reason=Reason.LAST_READ_AND_NOT_POPPED.format(age=duration(since_s)))


class StaleFigures:
    """The last known figures of one queue."""

    def __init__(self) -> None:
        self._figures: dict[str, tuple[float, Figure]] = {}

    def see(self, name: str, figure: Figure, at: float, failure: ProbeFailure | None) -> Figure:
        """The figure as it is to be shown at ``at`` (server clock, seconds): the last one, older, where none was read.

        Where it cannot be read any more, for want of a permission, it is not known. ``name``: a field of ``QueueView``;
        ``failure``: of its probes.
        """
        unread = figure.value is None and figure.reason == Reason.NOT_READ_IN_THIS_POLL
        if failure is not None and failure.grant and (unread or figure.age_s > 0):
            figure, unread = Figure.unknown(failure.words), False
        if not unread:
            if failure is not None and figure.age_s > 0:
                figure = replace(figure, reason=failure.words)
            self._figures[name] = (at, figure)
            return figure
        read_at, last = self._figures.get(name, (at, figure))
        if last.value is None:
            return figure if failure is None else Figure.unknown(failure.words)
        return of_before(last, at - read_at, failure)

    def forget(self) -> None:
        """There was a gap or a restart: what was read before it holds no more."""
        self._figures.clear()
