"""Combined figures of several queues: sums per table, and totals of a target.

The sum for a table is known only if every figure is known. The total of a target may be a lower bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from qmon.model.figure import Figure
from qmon.model.groups.group import MOST_QUEUES
from qmon.model.layout.layout import ObjectName
from qmon.model.queue_figures import COUNT, QUEUE_FIGURES, RATE, QueueFigure
from qmon.model.view import QueueView
from qmon.texts import Text


class CombinedText(Text):
    """Reasons of figures of several queues."""

    UNKNOWN_FOR = "unknown for {missing:,} of {count:,} queues"
    QUEUES_LIMITED = "qmon reads only {limit:,} queues of a table"


_AGES: Final = ("oldest", "blocked_oldest")

# Figures that can be combined: ages by their maximum, all other figures by their sum. Tables with several queues have
# no figures that a probe reads directly.
GROUP_FIGURES: Final = tuple(
    figure
    for figure in QUEUE_FIGURES
    if figure.field in _AGES or (figure.unit in (COUNT, RATE) and not figure.negative and figure.probe is None)
)


@dataclass(frozen=True, slots=True)
class GroupView:
    """Two or more queues of one table. ``figures`` is keyed by ``QueueFigure.field``."""

    name: str
    table: ObjectName
    queues: tuple[str, ...]
    figures: Mapping[str, Figure]


def group_views(queues: Iterable[QueueView]) -> tuple[GroupView, ...]:
    """Return a group for each table that holds several of these queues, in the order of the queues."""
    found: dict[tuple[str, ObjectName], list[QueueView]] = {}
    for queue in queues:
        if queue.layout.part is not None:
            found.setdefault((queue.layout.part.group, queue.layout.table), []).append(queue)
    return tuple(
        GroupView(name, table, tuple(q.name for q in own), {f.field: _table_figure(f, own) for f in GROUP_FIGURES})
        for (name, table), own in found.items()
        if len(own) > 1
    )


def total_figures(queues: Sequence[QueueView]) -> dict[str, Figure]:
    """Return the totals over queues of several tables, by ``QueueFigure.field``."""
    return {figure.field: total_figure(figure, queues) for figure in GROUP_FIGURES}


def _count_for_age(age: QueueFigure, queue: QueueView) -> Figure:
    """Return the number of messages to which this age refers: ready or blocked messages."""
    return queue.ready if age.field == "oldest" else queue.blocked


def total_figure(figure: QueueFigure, queues: Sequence[QueueView]) -> Figure:
    """Return the total of one figure over queues of several tables.

    The total is a lower bound (``≥``) if the figure of some queue is unknown.
    """
    if figure.field in _AGES:
        queues = [queue for queue in queues if _count_for_age(figure, queue).value != 0]
    each = [figure.figure_for(queue) for queue in queues]
    known = [one for one in each if one.value is not None]
    if not known:
        return next((replace(one, old=False) for one in each), Figure())
    missing = len(each) - len(known)
    found = _combine_known(figure, known)
    return (
        found
        if not missing
        else replace(found, at_least=True, reason=CombinedText.UNKNOWN_FOR.render(missing=missing, count=len(each)))
    )


def _combine_known(figure: QueueFigure, figures: Sequence[Figure]) -> Figure:
    values = [one.value for one in figures if one.value is not None]
    return Figure(
        max(values) if figure.field in _AGES else sum(values),
        estimated=any(one.estimated for one in figures),
        at_least=any(one.at_least for one in figures),
        age_s=max(one.age_s for one in figures),
        old=any(one.old for one in figures),
    )


def _table_figure(figure: QueueFigure, queues: Sequence[QueueView]) -> Figure:
    if figure.field in _AGES:
        queues = [queue for queue in queues if _count_for_age(figure, queue).value != 0] or queues[:1]
    each = [figure.figure_for(queue) for queue in queues]
    if any(one.value is None for one in each):
        return next(replace(one, old=False) for one in each if one.value is None)
    whole = _combine_known(figure, each)
    if len(queues) < MOST_QUEUES:
        return whole
    return replace(whole, at_least=True, reason=CombinedText.QUEUES_LIMITED.render(limit=MOST_QUEUES))
