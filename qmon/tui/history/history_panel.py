"""The texts around the history plot: queue, range, axis, the values at the cursor, and the usual band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Final

from qmon.model import formatting
from qmon.model.baseline_bands import MIN_WEEKS, Anomaly, Band
from qmon.model.queue_figures import BANDED_FIGURES, PLOTTED_FIGURES, SECONDS, QueueFigure
from qmon.recording.history.buckets import Bucket
from qmon.recording.history.range_query import PastRange
from qmon.tui.history.time_text import clock_text, moment_text, range_text, zone_name
from qmon.tui.past_reader import KnownPast
from qmon.tui.plots.axes import clock_axis
from qmon.tui.plots.cells import join_spans
from qmon.tui.plots.range_plot import SCALE_CELLS
from qmon.tui.sanitize import clean, pad, shorten
from qmon.tui.shown_state import Shown
from qmon.tui.spans import Line, LinePart, Span, cut_line, fit_parts, spread_parts

_REPLAY_MARK: Final = "▼"


# The keys are the names in recordings.
FIGURES: Final[Mapping[str, QueueFigure]] = {figure.recorded_name: figure for figure in PLOTTED_FIGURES}
_TONES: Final = {"push_rate": "push", "pop_rate": "pop", "complete_rate": "pop"}
NAMES: Final = tuple(FIGURES)


def figure_tone(figure: QueueFigure) -> str:
    """Return the tone of a figure's line."""
    return _TONES.get(figure.field, "depth")


def reading_state(past: PastRange | None, *, reading: bool, stopped: bool) -> str:
    """Return how much of a recording was read, and which damage was found."""
    if reading:
        share = past.read if past is not None and past.read < 1 else 0.0
        return f"reading {share * 100:.0f} % · esc stops"
    if stopped:
        return "stopped: part of the range was not read"
    return clean(f"damaged: {past.problem}") if past is not None and past.problem else ""


def recording_hint(shown: Shown) -> str:
    """Return a hint about how to record. Without a recording, the history begins at the start of qmon."""
    if shown.served:
        return f"start qmon serve at {clean(shown.served)} with --record DIR to record"
    return f"record more: `qmon connect {clean(shown.target)} --record DIR`"


def choice_line(queue: str, span: str, past: PastRange | None, zone: tzinfo, state: str, cells: int) -> Line:
    """Return a line with the queue and the range, and ``state`` (such as ``reading 40 %``) at the right end."""
    left = [LinePart.from_text(f" {shorten(clean(queue), 30)}", "strong"), LinePart.from_text(span, "accent")]
    if past is not None:
        left.append(LinePart.from_text(range_text(past.since_at, past.until_at, zone), "muted", 1))
    return spread_parts(left, [LinePart.from_text(f"{state} ", "accent")] if state else [], cells)


def figure_line(figure: str, cells: int) -> Line:
    """Return all figures, with the chosen one marked."""
    return fit_parts(
        [
            LinePart.from_text(f" ‹{FIGURES[n].plot_name}›", "strong")
            if n == figure
            else LinePart.from_text(f"  {FIGURES[n].plot_name} ", "muted", 1 + i)
            for i, n in enumerate(NAMES)
        ],
        cells,
        "",
    )


def axis_title(figure: str) -> Line:
    """Return the plotted figure and the unit of its scale."""
    shown = FIGURES[figure]
    return (
        (pad(f"{shown.plot_name} ", SCALE_CELLS, right=True), figure_tone(shown)),
        (f" {shown.about if shown.unit == SECONDS else shown.unit}", "muted"),
    )


def axis_line(
    past: PastRange, zone: tzinfo, replay_at: float | None, marked: tuple[float, float] | None = None
) -> Line:
    """Return the times below the plot. Each label is to the right of its position.

    ``replay_at``: the moment that a replay shows. ``marked``: the marked range.
    """
    columns = len(past.steps[NAMES[0]])
    cells: list[Span] = [(symbol, "muted") for symbol in clock_axis(past.since_at, past.step_s, columns, zone)]
    if marked is not None:
        for place in range(step_index(past, min(marked)), step_index(past, max(marked)) + 1):
            cells[place] = ("━", "accent")
    if replay_at is not None and past.since_at <= replay_at < past.until_at:
        cells[step_index(past, replay_at)] = (_REPLAY_MARK, "alarm")
    return (
        (pad(f"{zone_name(past.since_at, zone)} ", SCALE_CELLS, right=True), "muted"),
        ("└", "faint"),
        *join_spans(cells),
    )


def step_index(past: PastRange, at: float) -> int:
    """Return the index of the step that contains a moment, or the index of the nearest step."""
    return min(len(past.steps[NAMES[0]]) - 1, max(0, int((at - past.since_at) / past.step_s)))


def step_middle(past: PastRange, place: int) -> float:
    """Return the moment in the middle of a step."""
    return past.since_at + (place + 0.5) * past.step_s


def newest_step(past: PastRange, figure: str) -> int:
    """Return the last step in which the figure is known, or the last step if the figure is never known."""
    steps = past.steps[figure]
    return next((each for each in range(len(steps) - 1, -1, -1) if steps[each] is not None), len(steps) - 1)


def bands_for(past: PastRange, figure: str, known: KnownPast, target: str) -> list[Band | None]:
    """Return the usual band of each step; ``None`` if the band is unknown."""
    of = known.baselines
    return [of.band_at(target, past.queue, figure, step_middle(past, each)) for each in range(len(past.steps[figure]))]


def values_line(past: PastRange, figure: str, at: float | None, zone: tzinfo, cells: int) -> Line:
    """Return all figures at the cursor. The chosen figure is shown with its minimum and maximum.

    If there is no cursor, return which key shows a cursor.
    """
    if at is None:
        return cut_line(
            (
                (" ← →", "key"),
                (" or click: figures at one moment   ", "muted"),
                ("space", "key"),
                (" twice, or drag: zoom into a range", "muted"),
            ),
            cells,
        )
    place = step_index(past, at)
    parts = [LinePart.from_text(f" {clock_text(step_middle(past, place), zone)}", "strong")]
    for rank, (name, shown) in enumerate(FIGURES.items(), 1):
        step = past.steps[name][place]
        if step is not None or name == figure:
            parts.append(_value_part(shown, step, 0 if name == figure else rank, chosen=name == figure))
    return fit_parts(parts, cells, "  ")


def _value_part(shown: QueueFigure, step: Bucket | None, rank: int, *, chosen: bool) -> LinePart:
    written = formatting.UNKNOWN if step is None else shown.value_with_unit(step.mean)
    spans: Line = ((f"{shown.plot_name} ", "muted"), (written, "strong" if chosen else "text"))
    if chosen and step is not None and step.least < step.most:
        spans = (*spans, (f" ({shown.value_with_unit(step.least)} to {shown.value_with_unit(step.most)})", "muted"))
    return LinePart(spans, rank)


def usual_line(
    past: PastRange,
    figure: str,
    bands: Sequence[Band | None],
    known: KnownPast,
    target: str,
    at: float | None,
    zone: tzinfo,
    cells: int,
) -> Line:
    """Compare the value at the cursor (or the newest value) with the usual band, or return why there is no band.

    ``at``: the position of the cursor.
    """
    shown, steps = FIGURES[figure], past.steps[figure]
    place = step_index(past, at) if at is not None else -1
    if place < 0 or steps[place] is None:
        place = newest_step(past, figure)
    step = steps[place]
    if step is None:
        return ((" ", "text"),)
    at = step_middle(past, place)
    lead = (
        (f" {shown.plot_name} ", "muted"),
        (shown.value_with_unit(step.mean), "strong"),
        (f" at {clock_text(at, zone)}   ", "muted"),
    )
    if not any(bands):
        return cut_line(
            (*lead, (f"no usual range: {clean(_no_band_reason(known, target, past.queue, figure))}", "muted")), cells
        )
    band = known.baselines.band_at(target, past.queue, figure, at)
    if band is None:
        return cut_line(
            (*lead, ("▒ ", "band"), (f"fewer than {MIN_WEEKS} weeks of data for this hour", "muted")), cells
        )
    low, high = shown.value_with_unit(band.low), shown.value_with_unit(band.high)
    words = f"usual {band.hour}: {low} – {high}, from {band.weeks} weeks"
    out: Line = ()
    if not band.low <= step.mean <= band.high:
        outside = Anomaly(figure, step.mean, band)
        out = ((f"{'△' if outside.is_above else '▽'} {outside.short_text}  ", "accent"),)
    return cut_line((*lead, *out, ("▒ ", "band"), (words, "muted")), cells)


def _no_band_reason(known: KnownPast, target: str, queue: str, figure: str) -> str:
    hours = known.baselines.hours
    if known.problem:
        place, _, why = known.problem.partition(": ")
        return f"{place.rpartition('/')[2]}: {why}"
    if not hours:
        return "no baselines yet, run qmon pipeline baselines"
    if figure not in BANDED_FIGURES:
        return f"baselines do not include {FIGURES[figure].plot_name}"
    if queue not in hours.get(target, {}):
        return f"not enough history of {queue}"
    return f"fewer than {MIN_WEEKS} weeks of data for these hours"


def empty_reason(past: PastRange, figure: str, begins_at: float, ends_at: float, zone: tzinfo, more: str = "") -> str:
    """Return why no data can be plotted, or an empty text. ``more``: how to record more."""
    if any(step is not None for step in past.steps[figure]):
        return ""
    if past.problem and not past.queues:
        return f"damaged: {past.problem}"
    if any(step is not None for steps in past.steps.values() for step in steps):
        return f"no data for {FIGURES[figure].plot_name} of {past.queue} in this range"
    if past.queues and past.queue not in past.queues:
        return f"no data for {past.queue} in this range; [ and ] switch to: {', '.join(past.queues)}"
    if past.read < 1:
        return ""
    if ends_at <= begins_at:
        return "no data is recorded for this target yet"
    if past.until_at > begins_at and more:
        return "waiting for the first figures"
    return (
        f"no data in this range; there is data from {moment_text(begins_at, zone)} to"
        f" {moment_text(ends_at, zone, named=True)}{more and f'; {more}'}"
    )
