"""A queue that is gone: its last figures, as old as they are, and why it cannot be seen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

from qmon.model.layout.layout import Layout
from qmon.model.snapshot import Snapshot
from qmon.model.view import Figure, Forecast, QueueView, Trend, Verdict


def gone_queues(snapshot: Snapshot) -> frozenset[str]:
    """The queues of a poll that could not be seen in it at all."""
    return frozenset(failure.queue for failure in snapshot.failures if failure.gone and failure.queue)


def unseen(layout: Layout, reason: str) -> QueueView:
    """A queue of which nothing was ever seen."""
    names = (field.name for field in fields(QueueView) if field.type == "Figure")
    figures: dict[str, Any] = {name: Figure.unknown(reason) for name in names}
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
        ledger=None, shed=(), use=None,
    )  # fmt: skip


def _figures(view: QueueView) -> Iterator[tuple[str, Figure]]:
    for field in fields(view):
        value = getattr(view, field.name)
        if isinstance(value, Figure):
            yield field.name, value
