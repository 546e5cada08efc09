"""Figures outside their usual band: a symbol next to the figure, and a text if there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from qmon.model.baselines import Anomaly, Baselines, unusual
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.view import QueueView
from qmon.tui.widgets.columns import Cell, GridColumn

ABOVE: Final = "△"
BELOW: Final = "▽"
FULL_WORDS_FROM: Final = 150
COLUMN: Final = GridColumn(
    "usual",
    "USUAL",
    rank=8,
    least=10,
    most=44,
    sortable=False,
    from_width=120,
    about="against the same hour of the week: △ more than usual, ▽ less",
)

# The figures outside their band by queue name, the farthest out first.
Found = Mapping[str, tuple[Anomaly, ...]]


def find(known: Baselines, target: str, queues: Sequence[QueueView]) -> Found:
    """Return the unusual figures of these queues; empty if the target has no baselines."""
    if target not in known.hours:
        return {}
    each = ((queue.name, unusual(known, target, queue.name, queue.history)) for queue in queues)
    return {name: found for name, found in each if found}


def symbol(each: Anomaly) -> str:
    """Return ``△`` (above the band) or ``▽`` (below)."""
    return ABOVE if each.above else BELOW


def marked(cell: Cell, figure: str, found: Sequence[Anomaly]) -> Cell:
    """Return a figure's cell, with the symbol in front if the figure is outside its band."""
    each = next((each for each in found if _name(each) == figure), None)
    return cell if each is None else (f"{symbol(each)}{cell[0]}", "accent")


def words(found: Sequence[Anomaly], *, full: bool = True) -> str:
    """Return the farthest figure: ``△ ready 3.1× the usual Tue 14:00``, or without ``full`` ``△ ready 3.1×``.

    Empty if everything is as usual.
    """
    if not found:
        return ""
    first = found[0]
    name = next((each.words for each in QUEUE_FIGURES if each.field == _name(first)), _name(first))
    return f"{symbol(first)} {name} {first.words if full else first.brief}"


def cell(found: Sequence[Anomaly], *, full: bool) -> Cell:
    """Return ``anomaly_text`` as a cell of the column."""
    return (words(found, full=full), "accent")


def _name(each: Anomaly) -> str:
    """Return the name of the figure's field in ``QueueView``."""
    return each.figure.removesuffix("_s")
