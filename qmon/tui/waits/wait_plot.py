"""A plot of the sessions in one wait, or in all waits, since qmon started, but at most over the last hour."""

from __future__ import annotations

from typing import Final

from qmon.model import formatting
from qmon.model.texts import Text
from qmon.model.waits.wait_rates import WaitRate
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.tui.plots.axes import past_axis
from qmon.tui.plots.range_plot import SCALE_CELLS, range_plot_lines
from qmon.tui.sanitize import clean
from qmon.tui.spans import Line, LinePart, fit_parts
from qmon.tui.waits.wait_history import sum_of_waits, wait_steps


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
