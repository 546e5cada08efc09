"""Marks figures outside their usual band: a symbol next to the figure, and a text if there is room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from qmon.model.baseline_bands import Anomaly, Baselines, find_anomalies
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.view import QueueView
from qmon.tui.sanitize import shorten_words
from qmon.tui.widgets.grid_table import Cell, GridColumn

ABOVE: Final = "△"
BELOW: Final = "▽"
COLUMN: Final = GridColumn(
    "usual",
    "USUAL",
    rank=10,
    width=20,
    shorten=shorten_words,
    sortable=False,
    from_width=120,
    about="compared with the same hour of the week: △ above the usual range, ▽ below it",
)

# The figures outside their band, keyed by queue name. The figure that is farthest outside comes first.
UnusualByQueue = Mapping[str, tuple[Anomaly, ...]]


def find_unusual(baselines: Baselines, target: str, queues: Sequence[QueueView]) -> UnusualByQueue:
    """Return the unusual figures of these queues; empty if the target has no baselines."""
    if target not in baselines.hours:
        return {}
    each = ((queue.name, find_anomalies(baselines, target, queue.name, queue.history)) for queue in queues)
    return {name: found for name, found in each if found}


def anomaly_symbol(anomaly: Anomaly) -> str:
    """Return ``△`` (above the band) or ``▽`` (below)."""
    return ABOVE if anomaly.is_above else BELOW


def figure_mark(figure: str, anomalies: Sequence[Anomaly]) -> str:
    """Return the symbol of a figure that is outside its band, else an empty text. ``figure``: its field."""
    each = next((each for each in anomalies if _figure_field(each) == figure), None)
    return "" if each is None else anomaly_symbol(each)


def anomaly_text(anomalies: Sequence[Anomaly], *, full: bool = True) -> str:
    """Return the figure farthest outside its band: ``△ ready 3.1× the usual Tue 14:00``.

    Without ``full``, return ``△ ready 3.1×``. Empty if no figure is outside its band.
    """
    if not anomalies:
        return ""
    first = anomalies[0]
    name = next(
        (each.screen_name for each in QUEUE_FIGURES if each.field == _figure_field(first)), _figure_field(first)
    )
    return f"{anomaly_symbol(first)} {name} {first.text if full else first.short_text}"


def anomaly_cell(anomalies: Sequence[Anomaly]) -> Cell:
    """Return the short ``anomaly_text`` as a cell of the column."""
    return (anomaly_text(anomalies, full=False), "accent")


def _figure_field(anomaly: Anomaly) -> str:
    """Return the name of the figure's field in ``QueueView``."""
    return anomaly.figure.removesuffix("_s")
