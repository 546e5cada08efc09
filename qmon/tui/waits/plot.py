"""Sessions in one wait over time, as far back as qmon has been watching, at most an hour."""

from __future__ import annotations

from typing import Final

from qmon.model import text
from qmon.model.waits.waiting import WaitRate
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.tui.plots.axes import past_axis
from qmon.tui.plots.ranges import LEFT, plot
from qmon.tui.sanitize import clean
from qmon.tui.spans import Line, LinePart, fit
from qmon.tui.waits.past import steps

# Rows that a plot takes at least, with its name and its axis.
LEAST_ROWS: Final = 8
# Seconds that one column stands for: the first that reaches back to when watching began.
_STEPS_S: Final = (5.0, 10.0, 20.0, 60.0)


def lines(rate: WaitRate | None, memory: InMemoryHistory | None, cells: int, rows: int, *, plain: bool) -> list[Line]:
    """The plot of the wait under the cursor; none where there is no room, or nothing to show yet.

    ``plain``: shapes alone tell what is what.
    """
    columns = cells - LEFT - 2
    if rate is None or memory is None or rows < LEAST_ROWS or columns < 20:
        return []
    watched_s = memory.ends_at - memory.begins_at
    step_s = next((step for step in _STEPS_S if step * columns >= watched_s), _STEPS_S[-1])
    past = steps(memory, step_s, columns).get(rate.key)
    if past is None or not any(past):
        return []
    most = max(each.most for each in past if each is not None)
    name: list[LinePart] = [
        LinePart.of(f"{'':>{LEFT}} {clean(rate.name)}", "strong"),
        LinePart.of("sessions in it on average", "muted", 1),
        LinePart.of(f"at most {most:,.2f}", "text", 2),
        LinePart.of(f"one column is {text.whole_seconds(step_s)}", "muted", 3),
    ]
    body = plot(past, (), rows - 2, lambda value: f"{value:,.1f}", plain=plain)
    axis = f"{'':>{LEFT + 1}}{past_axis(step_s * columns, columns)}"
    return [fit(name, cells, "  "), *body, ((axis, "muted"),)]
