"""Return the last figures, with their age, while their probe fails or is left out because of the cost budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from qmon.model.figure import Figure, Verdict
from qmon.model.forecast import Forecast, Trend
from qmon.model.formatting import duration, time_of_day
from qmon.model.layout.layout import Layout
from qmon.model.probe_constants import ring_probe
from qmon.model.probe_table import PROBES, is_probe_of, probe_family, probes_for
from qmon.model.queue_figures import DIRECT_FIGURES, QUEUE_FIGURES
from qmon.model.rates.counter_resets import may_be_reset
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import CounterSample, PauseSample
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.model.view import QueueView

_NAMES: Final = tuple(figure.field for figure in QUEUE_FIGURES)


def gone_queues(snapshot: Snapshot) -> frozenset[str]:
    """Return the queues that are gone in this poll, so that nothing about them can be read."""
    return frozenset(failure.queue for failure in snapshot.failures if failure.gone and failure.queue)


def unread_view(layout: Layout, reason: str) -> QueueView:
    """Return the view of a queue that was never read."""
    figures = view_fields_for({}, dict.fromkeys(_NAMES, Figure.unknown(reason)))
    return QueueView(layout, verdict=Verdict("", ""), forecast=Forecast(Trend.UNKNOWN), **figures)


def outdated_view(view: QueueView, age_s: float, reason: str) -> QueueView:
    """Return a view that is ``age_s`` seconds old, with every figure marked as old. Unknown figures stay unknown."""
    old = {
        name: Figure.unknown(reason)
        if figure.value is None
        else replace(figure, age_s=figure.age_s + age_s, old=True, reason=reason)
        for name, figure in _figures(view)
    }
    return replace(
        view,
        **view_fields_for(view.direct, old),
        forecast=Forecast(Trend.UNKNOWN),
        messages=None,
        page=None,
        moved=None,
        span_s=None,
        window_s=None,
        ledger=None,
        throttled=(),
        use=None,
        read_at=None,
    )


def view_of_skipped_queue(view: QueueView, read_at: float, pauses: tuple[PauseSample, ...]) -> QueueView:
    """Return the view for polls that skip the queue. ``pauses``: the pauses in force now."""
    older = {
        name: Figure(  # a hundred queues may need this in each poll, and ``replace`` takes five times as long
            f.value, not f.at_least, f.at_least, f.reason, f.age_s, f.every_s, f.old, f.partial
        )
        for name, f in _figures(view)
        if f.value is not None
    }
    fields = view_fields_for(view.direct, older)
    if pauses:
        fields["forecast"] = view.forecast.without_consumer_advice
    return replace(view, **fields, messages=None, page=None, moved=None, span_s=None, pauses=pauses, read_at=read_at)


def _figures(view: QueueView) -> Iterator[tuple[str, Figure]]:
    return ((name, view.figure(name)) for name in _NAMES)


def view_fields_for(direct: Mapping[str, Figure], changed: dict[str, Figure]) -> dict[str, Any]:
    """Return the fields of a view with changed figures. ``direct``: the figures without a field so far."""
    found = {figure.field: changed.pop(figure.field) for figure in DIRECT_FIGURES if figure.field in changed}
    return {**changed, "direct": {**direct, **found}}


_PROGRESS: Final = "progress"


def is_locked_rows_probe(probe: str) -> bool:
    """Return whether a probe only reads held rows. Such probes are left out of most polls because of their cost."""
    return probe_family(probe) == "unseen"


def is_flow_unread(samples: QueueSamples, before: QueueSamples) -> bool:
    """Return whether the moves since the poll ``before`` are unknown because their probe was left out or failed.

    Returns false if these moves can never become known, for example if the table now contains several queues.
    """
    if "rates" in samples.unknown and "rates" not in before.unknown:
        return False
    if any(probe == ring_probe(samples.layout) or probe_family(probe) == _PROGRESS for probe in samples.left_out):
        return True
    return samples.ring is None if before.ring is not None else samples.counters is None and before.counters is not None


_READ_FIGURES: Final = (*_NAMES, "rates", "in_unknown_states")

# The probes, or families of probes, that read each figure of `QueueView`.
_READ_BY: Final = {name: probes for name in _READ_FIGURES if (probes := probes_for(name))}

# Figures that are not read in each poll: seconds between readings, normally and when queues are read in turns.
_RARELY: Final = {
    name: (max(PROBES[probe].every_s for probe in probes), max(PROBES[probe].in_turns_s for probe in probes))
    for name, probes in _READ_BY.items()
}
FRESH_POLLS: Final = 3.0
_LOST_POLLS: Final = 10.0


def max_fresh_age_s(name: str, snapshot: Snapshot, layout: Layout) -> float:
    """Return the maximum age (seconds) of a figure that may support a verdict.

    It is three times the interval of the figure, or the interval to which its probes are throttled, whichever is
    longer.

    If a probe has failed, the longer interval of queues that are read in turns is not used. ``name``: a field of
    ``QueueView``, or ``rates``.
    """
    throttled = snapshot.observing.throttled if snapshot.observing is not None else ()
    own = (
        each.every_s
        for each in throttled
        if each.queue in ("", layout.name_in_probe_keys) and is_probe_of(each.probe, _READ_BY[name])
    )
    rarely_s = _RARELY[name][snapshot.every_s > 0]
    turn_s = snapshot.every_s if failure_for(name, snapshot, layout.queue) is None else 0.0
    return max([FRESH_POLLS * max(snapshot.interval_s, turn_s, rarely_s), *own])


def failure_for(name: str, snapshot: Snapshot, queue: str) -> ProbeFailure | None:
    """Return the failed probe that would have read a figure in this poll, or ``None``."""
    # Look up the probes even without failures, so that a figure missing from `_READ_BY` raises in the first poll.
    read_by = _READ_BY[name]
    if not snapshot.failures:
        return None
    return next((f for f in snapshot.failures if f.queue in ("", queue) and is_probe_of(f.probe, read_by)), None)


def explain_long_throttling(figure: Figure, at: float, interval_s: float) -> Figure:
    """Add the time of reading to the reason if the figure was read more than ten polls ago."""
    if not figure.old or figure.reason != Reason.THROTTLED or figure.age_s <= _LOST_POLLS * interval_s:
        return figure
    return replace(figure, reason=Reason.NOT_READ_SINCE.render(time=time_of_day(at - figure.age_s)), throttled=True)


def older_figure(figure: Figure, seconds: float, failure: ProbeFailure | None = None) -> Figure:
    """Return the figure ``seconds`` older, with the reason that its probe was left out or failed."""
    if figure.value is None or seconds <= 0:
        return figure
    reason = Reason.THROTTLED if failure is None else failure.text
    return replace(figure, estimated=not figure.at_least, reason=reason, age_s=figure.age_s + seconds)


class OldestAgeLowerBound:
    """A lower bound on the age of the oldest ready message while the probe that reads it is left out.

    A ready message that was neither deleted nor changed is still ready. If no row of the table was deleted or changed
    since the reading, the age of the oldest message is the age that was read plus the time since the reading. If fewer
    rows were deleted or changed than were ready, at least one of these messages is still ready. Its age is at least the
    time since the reading. If an older message is given back in the meantime, the bound still holds.

    The bound needs totals that count each change immediately, before the commit, like the totals of SQL Server.
    PostgreSQL's totals are up to ten seconds late, so there is no bound. After a reset of the totals, there is no bound
    either.
    """

    def __init__(self) -> None:
        # The latest possible time of the reading (server clock), the age, the number of ready messages, and the
        # counters.
        self._read: tuple[float, float, int, CounterSample] | None = None

    def record_poll(self, samples: QueueSamples, at: float, took_s: float) -> Figure | None:
        """Return the bound at ``at``; ``None`` if the age was read in this poll or there is no bound.

        ``at``: the start of the poll, server clock, seconds. ``took_s``: the duration of the poll, seconds.
        """
        now = samples.counters
        if now is None or not now.counted or now.modified_since_analyze is not None:
            self._read = None
            return None
        if samples.head is not None:  # the head was read after the counters and before the end of the poll
            age_s = samples.head.oldest_s
            self._read = None if age_s is None else (at + took_s, age_s, samples.head.counted, now)
            return None
        if self._read is None:
            return None
        read_at, age_s, ready, then = self._read
        if may_be_reset(then, now, None, ({}, {})) or now.files != then.files:
            self._read = None
            return None
        changed = now.deleted - then.deleted + now.updated - then.updated
        since_s = max(0.0, at - read_at)
        if changed >= max(1, ready):
            return None
        bound_s = since_s if changed else max(0.0, age_s) + since_s
        return Figure(bound_s, at_least=True, reason=Reason.LAST_READ_AND_NOT_POPPED.render(age=duration(since_s)))


class StaleFigures:
    """The last known figures of one queue."""

    def __init__(self) -> None:
        self._figures: dict[str, tuple[float, Figure]] = {}

    def record_figure(self, name: str, figure: Figure, at: float, failure: ProbeFailure | None) -> Figure:
        """Return the figure to show at ``at`` (server clock, seconds): the current one, or the last one with its age.

        If a permission is missing, the figure is unknown. ``name``: a field of ``QueueView``. ``failure``: the failure
        of the probes that read the figure.
        """
        unread = figure.value is None and figure.reason == Reason.NOT_READ_IN_THIS_POLL
        if failure is not None and failure.grant and (unread or figure.age_s > 0):
            figure, unread = Figure.unknown(failure.text), False
        if not unread:
            if failure is not None and figure.age_s > 0:
                figure = replace(figure, reason=failure.text)
            self._figures[name] = (at, figure)
            return figure
        read_at, last = self._figures.get(name, (at, figure))
        if last.value is None:
            return figure if failure is None else Figure.unknown(failure.text)
        return older_figure(last, at - read_at, failure)

    def start_over(self) -> None:
        """Forget all figures after a gap or a restart."""
        self._figures.clear()
