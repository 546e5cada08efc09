"""The figures of a queue. This table decides where each figure is shown, recorded, exported and compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from qmon.model import formatting
from qmon.model.figure import Figure
from qmon.model.probe import Probe
from qmon.model.view import QueueView

COUNT: Final = "messages"
RATE: Final = "messages per second"
SECONDS: Final = "seconds"
SHARE: Final = "a share from 0 to 1"
SESSIONS: Final = "sessions"
BYTES: Final = "bytes"
GROWTH: Final = "bytes per second"

_FORMATTERS: Final[Mapping[str, Callable[[float], str]]] = {
    RATE: formatting.rate,
    SECONDS: formatting.duration,
    SHARE: formatting.percent,
    BYTES: formatting.size,
    GROWTH: lambda growth: f"{'-' if growth < 0 else ''}{formatting.size(abs(growth))}",
}


@dataclass(frozen=True, slots=True)
class QueueFigure:
    """One figure of a queue.

    Attributes:
        field: field of ``QueueView``, or name in ``QueueView.direct``.
        screen_name: the figure's name on screens.
        about: the figure's meaning.
        of_rows: true if the figure is read from the rows of the table. Such a figure is a lower bound if row-level
            security hides rows from our role.
        main: true if screens show why the figure is unknown, and alert rules may set limits on it. Main figures are
            recorded.
        negative: true if the figure may be below 0.
        alias: the figure's name in alert rules and graphs, if it is not ``field``.
        heading: heading of the figure's column, if it does not follow from ``screen_name``; ``None`` if it has no
            column.
        metric: the figure's metric without the prefix ``qmon_queue_``. Counts of rows have a metric by default.
        moved: for a rate, the field of ``MovedMessages`` with the messages behind the rate. This field is recorded
            instead of the rate, and has a counter as its metric.
        plot: position among the plots of the history screen, from 1; 0 if the figure is not plotted.
        band_reach: least distance from the middle of the figure's usual band to its ends, in the figure's unit; 0 if
            baselines do not include the figure.
        kinds: the kinds of states whose messages it counts. It is unknown if messages in unknown states may be of
            these kinds.
        probe: the probe that reads the figure directly: it returns one row with one column, ``value``. The probe has
            the name of the figure, and an index.
    """

    field: str
    screen_name: str
    unit: str
    about: str
    of_rows: bool = False
    main: bool = True
    negative: bool = False
    alias: str = ""
    heading: str | None = ""
    metric: str = ""
    moved: str = ""
    plot: int = 0
    band_reach: float = 0.0
    kinds: tuple[str, ...] = ()
    probe: Probe | None = None

    @property
    def name(self) -> str:
        """The figure's name in the status report."""
        return f"{self.field}_seconds" if self.unit == SECONDS else self.field

    @property
    def label(self) -> str:
        """The figure's name for people, in alert rules and in graphs."""
        return self.alias or self.field

    @property
    def recorded_name(self) -> str:
        """The figure's name in recordings, histories and baselines."""
        return f"{self.field}_s" if self.unit == SECONDS else self.field

    @property
    def column_title(self) -> str:
        """Heading of the figure's column; empty if it has no column."""
        if self.heading is None:
            return ""
        return self.heading or f"{self.screen_name.removesuffix(' rate').upper()}{self.unit_suffix}"

    @property
    def plot_name(self) -> str:
        """The figure's name in plots."""
        return self.alias or self.screen_name.removesuffix(" rate")

    @property
    def metric_name(self) -> str:
        """The figure's metric without its prefix; empty if it has no metric."""
        return self.metric or (f"{self.field}_messages" if self.of_rows and self.unit == COUNT else "")

    @property
    def is_whole(self) -> bool:
        """True if the figure's values are whole numbers."""
        return self.unit in (COUNT, SESSIONS, BYTES)

    @property
    def lake_columns(self) -> tuple[str, str]:
        """The columns of the lake's hours: the figure's sum over time, and the seconds to divide the sum by."""
        return (self.moved, "flow_s") if self.moved else (f"{self.field}_s", f"{self.field}_known_s")

    def figure_for(self, queue: QueueView) -> Figure:
        """Return this figure of a queue."""
        return queue.figure(self.field)

    def moved_for(self, queue: QueueView) -> float | None:
        """Return the messages behind a rate since the queue was last read; ``None`` if unknown."""
        moved: float | None = getattr(queue.moved, self.moved, None)
        return moved

    def value_text(self, value: float) -> str:
        """Return a value as text. A rate is without ``/s``."""
        return _FORMATTERS.get(self.unit, formatting.count)(value)

    def value_with_unit(self, value: float) -> str:
        """Return a value as text, with ``/s`` for rates and growth."""
        return f"{self.value_text(value)}{self.unit_suffix}"

    @property
    def unit_suffix(self) -> str:
        """The text after a value: ``/s`` for rates and growth."""
        return "/s" if self.unit in (RATE, GROWTH) else ""


# All figures of a queue, in the order of the status report.
QUEUE_FIGURES: Final = (
    QueueFigure(
        "ready",
        "ready",
        COUNT,
        "messages that can be popped now; also called depth",
        of_rows=True,
        alias="depth",
        plot=1,
        band_reach=10.0,
        kinds=("ready",),
    ),
    QueueFigure(
        "in_progress",
        "in progress",
        COUNT,
        "messages popped and not finished yet",
        of_rows=True,
        heading="IN PROG",
        plot=7,
        band_reach=10.0,
        kinds=("in_progress",),
    ),
    QueueFigure(
        "stuck",
        "stuck",
        COUNT,
        "messages in progress for longer than the timeout",
        of_rows=True,
        plot=8,
        kinds=("in_progress",),
    ),
    QueueFigure(
        "scheduled",
        "scheduled",
        COUNT,
        "messages that are due later",
        of_rows=True,
        heading="SCHED",
        plot=9,
        kinds=("scheduled",),
    ),
    QueueFigure(
        "blocked",
        "blocked",
        COUNT,
        "messages that wait for a lock, a message or a person",
        of_rows=True,
        plot=11,
        kinds=("blocked",),
    ),
    QueueFigure(
        "dead", "dead", COUNT, "messages given up after too many attempts", of_rows=True, plot=10, kinds=("dead",)
    ),
    QueueFigure(
        "oldest",
        "oldest",
        SECONDS,
        "age of the oldest message that is ready",
        of_rows=True,
        metric="oldest_age_seconds",
        plot=6,
        band_reach=5.0,
        kinds=("ready",),
    ),
    QueueFigure(
        "blocked_oldest",
        "oldest blocked",
        SECONDS,
        "age of the oldest message that is blocked",
        of_rows=True,
        main=False,
        heading=None,
        metric="oldest_blocked_age_seconds",
        kinds=("blocked",),
    ),
    QueueFigure(
        "push_rate",
        "push rate",
        RATE,
        "messages pushed and committed, per second",
        moved="pushed",
        plot=3,
        band_reach=1.0,
    ),
    QueueFigure("pop_rate", "pop rate", RATE, "messages popped, per second", moved="popped", plot=4, band_reach=1.0),
    QueueFigure(
        "complete_rate",
        "complete rate",
        RATE,
        "messages finished, per second",
        moved="completed",
        plot=5,
        band_reach=1.0,
        kinds=("in_progress",),
    ),
    QueueFigure(
        "gap",
        "gap",
        COUNT,
        "last number issued minus the number of the oldest ready message; ring: push minus pop position, negative if "
        "consumers wait",
        negative=True,
        plot=2,
        kinds=("ready",),
    ),
    QueueFigure(
        "fill", "ring fill", SHARE, "share of a ring's slots that hold a message", heading="FILL", metric="fill_ratio"
    ),
    QueueFigure(
        "producers", "producers", SESSIONS, "producers that are connected", main=False, metric="producer_sessions"
    ),
    QueueFigure(
        "done",
        "done",
        COUNT,
        "finished or cancelled messages still in the table",
        of_rows=True,
        main=False,
        kinds=("done",),
    ),
    QueueFigure(
        "bytes",
        "bytes",
        BYTES,
        "size of the queue's tables and indexes",
        main=False,
        heading="SIZE",
        metric="size_bytes",
    ),
    QueueFigure("growth", "growth", GROWTH, "growth of tables and indexes per second", main=False, heading=None),
    QueueFigure(
        "consumers", "consumers", SESSIONS, "consumers that are connected", main=False, metric="consumer_sessions"
    ),
    QueueFigure(
        "consumers_waiting",
        "consumers waiting",
        SESSIONS,
        "consumers that are idle, sleep or wait for a lock",
        main=False,
        heading="WAITING",
    ),
)

FIGURES_BY_FIELD: Final[Mapping[str, QueueFigure]] = {figure.field: figure for figure in QUEUE_FIGURES}
MAIN_FIGURES: Final = tuple(figure for figure in QUEUE_FIGURES if figure.main)

# The figures that no code names: they are in `QueueView.direct`, and lists show them.
_FIELDS: Final = frozenset(field.name for field in fields(QueueView))
DIRECT_FIGURES: Final = tuple(figure for figure in QUEUE_FIGURES if figure.field not in _FIELDS)

# The figures that recordings store as values. Rates are stored as the messages behind them.
RECORDED_FIGURES: Final = tuple(figure for figure in MAIN_FIGURES if not figure.moved and figure not in DIRECT_FIGURES)

# The figures whose messages are counted between two polls.
MOVING_FIGURES: Final = tuple(figure for figure in QUEUE_FIGURES if figure.moved)

# The figures that the history keeps for each queue and poll, in the order of its screen.
PLOTTED_FIGURES: Final = tuple(sorted((figure for figure in QUEUE_FIGURES if figure.plot), key=lambda each: each.plot))

# The figures with baselines, by their names in recordings.
BANDED_FIGURES: Final[Mapping[str, QueueFigure]] = {
    figure.recorded_name: figure for figure in QUEUE_FIGURES if figure.band_reach
}
