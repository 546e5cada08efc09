"""Figures that stay on the screen while their probe is left out to stay within the budget, each with its age."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any, Final

from qmon.model.figure import Figure, Verdict
from qmon.model.layout.layout import Layout
from qmon.model.operations import Pause
from qmon.model.rates.forecast import Forecast, Trend
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.view import QueueView
from qmon.monitor.probes.queue import ring_probe

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
        name: Figure.unknown(reason) if figure.value is None
        else replace(figure, age_s=figure.age_s + age_s, old=True, reason=reason)
        for name, figure in _figures(view)
    }  # fmt: skip
    return replace(
        view, **old, forecast=Forecast(Trend.UNKNOWN), messages=None, flow=None, span_s=None, window_s=None,
        ledger=None, throttled=(), use=None,
    )  # fmt: skip


def later(view: QueueView, seconds: float, pauses: tuple[Pause, ...]) -> QueueView:
    """The same, so many seconds later: it was not this queue's turn. ``pauses``: those in force now."""
    older: dict[str, Any] = {
        name: Figure(  # of hundreds of queues in each poll: ``replace`` takes five times as long
            f.value, not f.at_least, f.at_least, f.reason, f.age_s + seconds, f.every_s, f.old, f.partial
        )
        for name, f in _figures(view)
        if f.value is not None
    }
    return replace(view, **older, messages=None, flow=None, span_s=None, pauses=pauses, unread=True)


def _figures(view: QueueView) -> Iterator[tuple[str, Figure]]:
    return ((name, getattr(view, name)) for name in _NAMES)


_PROGRESS: Final = "progress"
_OF_LOCKS: Final = frozenset({"in_progress", "stuck"})


def of_locks(probe: str) -> bool:
    """Whether a probe reads only which rows are held, and is left out of most polls for what it costs."""
    return probe.startswith("unseen")


def flow_left_out(q: QueueSamples) -> bool:
    """Whether what moved since the last poll is unknown, since its probe was left out."""
    return any(probe == ring_probe(q.layout) or probe.startswith(_PROGRESS) for probe in q.left_out)


def of_before(figure: Figure, seconds: float) -> Figure:
    """The same, so many seconds later, where its probe was left out."""
    if figure.value is None or seconds <= 0:
        return figure
    reason = "read less often, to stay within the budget"
    return replace(figure, estimated=not figure.at_least, reason=reason, age_s=figure.age_s + seconds)


class StaleFigures:
    """The last known figures of one queue."""

    def __init__(self) -> None:
        self._figures: dict[str, tuple[float, Figure]] = {}

    def see(self, name: str, figure: Figure, q: QueueSamples, at: float) -> Figure:
        """The figure as it is to be shown at ``at`` (server clock, seconds): the last one, older, where none was read.

        ``name``: a field of ``QueueView``.
        """
        if figure.value is not None or not any(name in _OF_LOCKS or not of_locks(probe) for probe in q.left_out):
            self._figures[name] = (at, figure)
            return figure
        read_at, last = self._figures.get(name, (at, figure))
        if last.value is None:
            return figure
        return of_before(last, at - read_at)

    def forget(self) -> None:
        """There was a gap or a restart: what was read before it holds no more."""
        self._figures.clear()
