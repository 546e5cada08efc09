"""A plot of the sessions in one wait, or in all waits, since qmon started, but at most over the last hour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from qmon.model import formatting
from qmon.model.waits.wait_rates import WaitRate
from qmon.recording.history.buckets import Bucket
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.recording.history.thinned import TIERS
from qmon.texts import Text
from qmon.tui.plots.axes import past_axis
from qmon.tui.plots.range_plot import SCALE_CELLS, range_plot_lines
from qmon.tui.sanitize import clean
from qmon.tui.spans import Line, LinePart, fit_parts


class WaitPlotText(Text):
    """The parts of the plot's name."""

    ALL_WAITS = "all waits"
    AVERAGE_OF_ALL = "average number of sessions that wait or run"
    AVERAGE = "average number of sessions in this wait"
    AT_MOST = "at most {count:,.2f}"
    COLUMN = "one column is {duration}"


# The minimum number of rows of a plot, including its name and its axis.
MIN_ROWS: Final = 8
# Seconds per column. The plot uses the first value with which all columns together cover the history.
_STEPS_S: Final = (5.0, 10.0, 20.0, 60.0)


def wait_plot_lines(
    rate: WaitRate | None, memory: InMemoryHistory | None, cells: int, rows: int, *, plain: bool
) -> list[Line]:
    """Return the plot of the wait ``rate``; ``None``: the sum of all waits. Empty if there is no room or no data yet.

    ``plain``: draw so that colours are not needed.
    """
    columns = cells - SCALE_CELLS - 2
    if memory is None or rows < MIN_ROWS or columns < 20:
        return []
    watched_s = memory.ends_at - memory.begins_at
    step_s = next((step for step in _STEPS_S if step * columns >= watched_s), _STEPS_S[-1])
    steps = wait_steps(memory, step_s, columns)
    past = sum_of_waits(steps) if rate is None else steps.get(rate.key)
    if past is None or not any(past):
        return []
    most = max(each.most for each in past if each is not None)
    name: list[LinePart] = [
        LinePart.from_text(
            f"{'':>{SCALE_CELLS}} {WaitPlotText.ALL_WAITS if rate is None else clean(rate.name)}", "strong"
        ),
        LinePart.from_text(WaitPlotText.AVERAGE_OF_ALL if rate is None else WaitPlotText.AVERAGE, "muted", 1),
        LinePart.from_text(WaitPlotText.AT_MOST.render(count=most), "text", 2),
        LinePart.from_text(WaitPlotText.COLUMN.render(duration=formatting.whole_seconds(step_s)), "muted", 3),
    ]
    body = range_plot_lines(past, (), rows - 2, lambda value: f"{value:,.1f}", plain=plain)
    axis = f"{'':>{SCALE_CELLS + 1}}{past_axis(step_s * columns, columns)}"
    return [fit_parts(name, cells, "  "), *body, ((axis, "muted"),)]


_NO_SESSIONS: Final = Bucket(0.0, 0.0, 0.0, 0.0)


def wait_steps(memory: InMemoryHistory, step_s: float, count: int) -> dict[str, list[Bucket | None]]:
    """Return the numbers of sessions in each wait, keyed by ``WaitRate.key``.

    The numbers are for the newest ``count`` steps, each of ``step_s`` seconds. If a wait is missing in a step with
    other waits, it had no sessions. If no wait was read in a step, the step is ``None``.
    """
    start_at = memory.begins_at - memory.begins_at % TIERS[0].step_s  # the start of a step of memory
    newest = (memory.ends_at - start_at) // step_s
    found = memory.wait_history(start_at + (newest - count + 1) * step_s, step_s, count)
    known = {name: bins.steps(0) for name, bins in found.items()}
    read = [any(step is not None for step in at) for at in zip(*known.values(), strict=True)]
    return {
        name: [_NO_SESSIONS if step is None and there else step for step, there in zip(each, read, strict=True)]
        for name, each in known.items()
    }


def sum_of_waits(steps: Mapping[str, Sequence[Bucket | None]]) -> list[Bucket | None]:
    """Return the sum of all waits in each step. ``steps``: the result of ``wait_steps``.

    The greatest value of a sum is not known, because the waits may have been longest at different times in the step.
    The mean is used instead.
    """
    out: list[Bucket | None] = []
    for at in zip(*steps.values(), strict=True):
        known = [step for step in at if step is not None]
        mean, last = sum(step.mean for step in known), sum(step.last for step in known)
        out.append(Bucket(mean, mean, mean, last) if known else None)
    return out
