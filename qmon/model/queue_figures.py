"""The figures of a queue, a row each: what they are called, their units, and where they may be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.model.figure import Figure
from qmon.model.view import QueueView

COUNT: Final = "messages"
RATE: Final = "messages per second"
SECONDS: Final = "seconds"
SHARE: Final = "a share from 0 to 1"
SESSIONS: Final = "sessions"
BYTES: Final = "bytes"
GROWTH: Final = "bytes per second"


@dataclass(frozen=True, slots=True)
class QueueFigure:
    """One figure of a queue.

    ``field``: of ``QueueView``; ``words``: as screens call it; ``report_name`` and ``alias``: in the status report, and
    as alert rules and graphs call it, where that is not the field's name. ``of_rows``: it comes from the rows of the
    table, so a role that row level security shows a part of them sees at least so much. ``main``: screens list why it
    is not known, and alert rules may set limits on it. ``negative``: it may be below 0.
    """

    field: str
    words: str
    unit: str
    of_rows: bool = False
    main: bool = True
    negative: bool = False
    report_name: str = ""
    alias: str = ""

    @property
    def name(self) -> str:
        """Its name in the status report."""
        return self.report_name or self.field

    @property
    def label(self) -> str:
        """What people and graphs call it."""
        return self.alias or self.field

    @property
    def whole(self) -> bool:
        """Whether it is counted in whole numbers."""
        return self.unit in (COUNT, SESSIONS, BYTES)

    def of(self, queue: QueueView) -> Figure:
        """Its value of a queue."""
        figure: Figure = getattr(queue, self.field)
        return figure


QUEUE_FIGURES: Final = (
    QueueFigure("ready", "ready", COUNT, of_rows=True, alias="depth"),
    QueueFigure("in_progress", "in progress", COUNT, of_rows=True),
    QueueFigure("stuck", "stuck", COUNT, of_rows=True),
    QueueFigure("scheduled", "scheduled", COUNT, of_rows=True),
    QueueFigure("dead", "dead", COUNT, of_rows=True),
    QueueFigure("oldest", "oldest", SECONDS, of_rows=True, report_name="oldest_seconds"),
    QueueFigure("push_rate", "push rate", RATE),
    QueueFigure("pop_rate", "pop rate", RATE),
    QueueFigure("complete_rate", "complete rate", RATE),
    QueueFigure("gap", "gap", COUNT, negative=True),
    QueueFigure("fill", "ring fill", SHARE),
    QueueFigure("pushers", "pushers", SESSIONS, main=False),
    QueueFigure("done", "done", COUNT, of_rows=True, main=False),
    QueueFigure("bytes", "bytes", BYTES, main=False),
    QueueFigure("growth", "growth", GROWTH, main=False),
    QueueFigure("poppers", "poppers", SESSIONS, main=False),
    QueueFigure("poppers_waiting", "poppers waiting", SESSIONS, main=False),
)
"""All figures of ``QueueView``, in the order of the status report."""
MAIN: Final = tuple(figure for figure in QUEUE_FIGURES if figure.main)
