"""The figures of a queue: their names, their units and their uses."""

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

    Attributes:
        field: field of ``QueueView``.
        words: the figure's name on screens.
        about: the figure's meaning.
        of_rows: true if the figure is read from the rows of the table. Such a figure is a lower bound if row-level
            security hides rows from our role.
        main: true if screens show why the figure is unknown, and alert rules may set limits on it.
        negative: true if the figure may be below 0.
        report_name: the figure's name in the status report, if it is not ``field``.
        alias: the figure's name in alert rules and graphs, if it is not ``field``.
    """

    field: str
    words: str
    unit: str
    about: str
    of_rows: bool = False
    main: bool = True
    negative: bool = False
    report_name: str = ""
    alias: str = ""

    @property
    def name(self) -> str:
        """The figure's name in the status report."""
        return self.report_name or self.field

    @property
    def label(self) -> str:
        """The figure's name for people, in alert rules and in graphs."""
        return self.alias or self.field

    @property
    def is_whole(self) -> bool:
        """True if the figure's values are whole numbers."""
        return self.unit in (COUNT, SESSIONS, BYTES)

    def figure_for(self, queue: QueueView) -> Figure:
        """Return this figure of a queue."""
        figure: Figure = getattr(queue, self.field)
        return figure


# All figures of `QueueView`, in the order of the status report.
QUEUE_FIGURES: Final = (
    QueueFigure(
        "ready",
        "ready",
        COUNT,
        "messages that can be popped now; also called depth",
        of_rows=True,
        alias="depth",
    ),
    QueueFigure("in_progress", "in progress", COUNT, "messages popped and not finished yet", of_rows=True),
    QueueFigure("stuck", "stuck", COUNT, "messages in progress for longer than the timeout", of_rows=True),
    QueueFigure("scheduled", "scheduled", COUNT, "messages that are due later", of_rows=True),
    QueueFigure(
        "blocked",
        "blocked",
        COUNT,
        "messages that wait for a lock, a message or a person",
        of_rows=True,
    ),
    QueueFigure("dead", "dead", COUNT, "messages given up after too many attempts", of_rows=True),
    QueueFigure(
        "oldest",
        "oldest",
        SECONDS,
        "age of the oldest message that is ready",
        of_rows=True,
        report_name="oldest_seconds",
    ),
    QueueFigure(
        "blocked_oldest",
        "oldest blocked",
        SECONDS,
        "age of the oldest message that is blocked",
        of_rows=True,
        main=False,
        report_name="blocked_oldest_seconds",
    ),
    QueueFigure("push_rate", "push rate", RATE, "messages pushed and committed, per second"),
    QueueFigure("pop_rate", "pop rate", RATE, "messages popped, per second"),
    QueueFigure("complete_rate", "complete rate", RATE, "messages finished, per second"),
    QueueFigure(
        "gap",
        "gap",
        COUNT,
        "last number issued minus the number of the oldest ready message; ring: push minus pop position, negative if "
        "consumers wait",
        negative=True,
    ),
    QueueFigure("fill", "ring fill", SHARE, "share of a ring's slots that hold a message"),
    QueueFigure("producers", "producers", SESSIONS, "producers that are connected", main=False),
    QueueFigure("done", "done", COUNT, "finished or cancelled messages still in the table", of_rows=True, main=False),
    QueueFigure("bytes", "bytes", BYTES, "size of the queue's tables and indexes", main=False),
    QueueFigure("growth", "growth", GROWTH, "growth of tables and indexes per second", main=False),
    QueueFigure("consumers", "consumers", SESSIONS, "consumers that are connected", main=False),
    QueueFigure(
        "consumers_waiting",
        "consumers waiting",
        SESSIONS,
        "consumers that are idle, sleep or wait for a lock",
        main=False,
    ),
)

# Meaning of each figure by field.
FIGURE_MEANINGS: Final = {figure.field: figure.about for figure in QUEUE_FIGURES}
MAIN_FIGURES: Final = tuple(figure for figure in QUEUE_FIGURES if figure.main)
