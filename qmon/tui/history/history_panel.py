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
from qmon.texts import Text
from qmon.tui.history.time_text import clock_text, moment_text, range_text, zone_name
from qmon.tui.past_reader import KnownPast
from qmon.tui.plots.axes import clock_axis
from qmon.tui.plots.cells import join_spans
from qmon.tui.plots.range_plot import SCALE_CELLS
from qmon.tui.sanitize import clean, pad, shorten
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import Line, LinePart, Span, cut_line, fit_parts, spread_parts


class HistoryPanelText(Text):
    """The texts around the plot."""

    READING = "reading {share} · esc stops"
    STOPPED = "stopped: part of the range was not read"
    DAMAGED = "damaged: {problem}"
    RECORD_AT_SERVE = "start qmon serve at {address} with --record DIR to record"
    RECORD_MORE = "record more: `qmon connect {target} --record DIR`"
    CLICK = "or click: figures at one moment"
    DRAG = "twice, or drag: zoom into a range"
    VALUES = "({least} to {most})"
    AT = "at {time}"
    NO_USUAL_RANGE = "no usual range: {reason}"
    USUAL = "usual {hour}: {low} – {high}, from {weeks} weeks"
    TOO_FEW_WEEKS_OF_HOUR = "fewer than {weeks} weeks of data for this hour"
    TOO_FEW_WEEKS = "fewer than {weeks} weeks of data for these hours"
    NO_BASELINES = "no baselines yet, run qmon pipeline baselines"
    NOT_IN_BASELINES = "baselines do not include {figure}"
    NOT_ENOUGH_HISTORY = "not enough history of {queue}"
    NO_DATA_OF_FIGURE = "no data for {figure} of {queue} in this range"
    NO_DATA_OF_QUEUE = "no data for {queue} in this range; [ and ] switch to: {queues}"
    NOTHING_RECORDED = "no data is recorded for this target yet"
    NO_DATA = "no data in this range; there is data from {since} to {until}"
    NO_DATA_HINT = "no data in this range; there is data from {since} to {until}; {hint}"


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
        return HistoryPanelText.READING.render(share=f"{share * 100:.0f} %")
    if stopped:
        return HistoryPanelText.STOPPED
    return clean(HistoryPanelText.DAMAGED.render(problem=past.problem)) if past is not None and past.problem else ""


def recording_hint(shown: ShownState) -> str:
    """Return a hint about how to record. Without a recording, the history begins at the start of qmon."""
    if shown.served:
        return HistoryPanelText.RECORD_AT_SERVE.render(address=clean(shown.served))
    return HistoryPanelText.RECORD_MORE.render(target=clean(shown.target))


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


def bands_for(past: PastRange, figure: str, known_past: KnownPast, target: str) -> list[Band | None]:
    """Return the usual band of each step; ``None`` if the band is unknown."""
    of = known_past.baselines
    return [of.band_at(target, past.queue, figure, step_middle(past, each)) for each in range(len(past.steps[figure]))]


def values_line(past: PastRange, figure: str, at: float | None, zone: tzinfo, cells: int) -> Line:
    """Return all figures at the cursor. The chosen figure is shown with its minimum and maximum.

    If there is no cursor, return which key shows a cursor.
    """
    if at is None:
        return cut_line(
            (
                (" ← →", "key"),
                (f" {HistoryPanelText.CLICK}   ", "muted"),
                ("space", "key"),
                (f" {HistoryPanelText.DRAG}", "muted"),
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
        values = HistoryPanelText.VALUES.render(
            least=shown.value_with_unit(step.least), most=shown.value_with_unit(step.most)
        )
        spans = (*spans, (f" {values}", "muted"))
    return LinePart(spans, rank)


def usual_line(
    past: PastRange,
    figure: str,
    bands: Sequence[Band | None],
    known_past: KnownPast,
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
        (f" {HistoryPanelText.AT.render(time=clock_text(at, zone))}   ", "muted"),
    )
    if not any(bands):
        reason = clean(_no_band_reason(known_past, target, past.queue, figure))
        return cut_line((*lead, (HistoryPanelText.NO_USUAL_RANGE.render(reason=reason), "muted")), cells)
    band = known_past.baselines.band_at(target, past.queue, figure, at)
    if band is None:
        words = HistoryPanelText.TOO_FEW_WEEKS_OF_HOUR.render(weeks=MIN_WEEKS)
        return cut_line((*lead, ("▒ ", "band"), (words, "muted")), cells)
    low, high = shown.value_with_unit(band.low), shown.value_with_unit(band.high)
    words = HistoryPanelText.USUAL.render(hour=band.hour, low=low, high=high, weeks=band.weeks)
    out: Line = ()
    if not band.low <= step.mean <= band.high:
        outside = Anomaly(figure, step.mean, band)
        out = ((f"{'△' if outside.is_above else '▽'} {outside.short_text}  ", "accent"),)
    return cut_line((*lead, *out, ("▒ ", "band"), (words, "muted")), cells)


def _no_band_reason(known_past: KnownPast, target: str, queue: str, figure: str) -> str:
    hours = known_past.baselines.hours
    if known_past.problem:
        return known_past.problem
    if not hours:
        return HistoryPanelText.NO_BASELINES
    if figure not in BANDED_FIGURES:
        return HistoryPanelText.NOT_IN_BASELINES.render(figure=FIGURES[figure].plot_name)
    if queue not in hours.get(target, {}):
        return HistoryPanelText.NOT_ENOUGH_HISTORY.render(queue=queue)
    return HistoryPanelText.TOO_FEW_WEEKS.render(weeks=MIN_WEEKS)


def empty_reason(past: PastRange, figure: str, begins_at: float, ends_at: float, zone: tzinfo, more: str = "") -> str:
    """Return why no data can be plotted, or an empty text. ``more``: how to record more."""
    if any(step is not None for step in past.steps[figure]):
        return ""
    if past.problem and not past.queues:
        return HistoryPanelText.DAMAGED.render(problem=past.problem)
    if any(step is not None for steps in past.steps.values() for step in steps):
        return HistoryPanelText.NO_DATA_OF_FIGURE.render(figure=FIGURES[figure].plot_name, queue=past.queue)
    if past.queues and past.queue not in past.queues:
        return HistoryPanelText.NO_DATA_OF_QUEUE.render(queue=past.queue, queues=", ".join(past.queues))
    if past.read < 1:
        return ""
    if ends_at <= begins_at:
        return HistoryPanelText.NOTHING_RECORDED
    if past.until_at > begins_at and more:
        return ScreenText.NO_FIGURES_YET
    known = {"since": moment_text(begins_at, zone), "until": moment_text(ends_at, zone, with_zone=True)}
    return (
        HistoryPanelText.NO_DATA_HINT.render(**known, hint=more) if more else HistoryPanelText.NO_DATA.render(**known)
    )
