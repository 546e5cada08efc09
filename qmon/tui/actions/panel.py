"""What the dialog of an action says at each of its steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from qmon.model.operations import OperationResult, Plan, Progress
from qmon.model.view import QueueView
from qmon.tui import text
from qmon.tui.actions.plan import VERBS, entry, plan_lines
from qmon.tui.actions.progress import progress_lines, result_lines
from qmon.tui.actions.request import ActionRequest
from qmon.tui.shared.sanitize import clean, shorten
from qmon.tui.spans import Line, LinePart, spread
from qmon.tui.status import Shown


@dataclass(frozen=True, slots=True)
class DialogText:
    """What there is to tell. ``took_s``: seconds planned or applied so far."""

    ask: ActionRequest
    plan: Plan | None
    problem: str
    took_s: float
    progress: Progress | None
    stopping: bool
    result: OperationResult | None
    before: QueueView | None
    after: QueueView | None


CLOSES: Final[Mapping[str, str]] = {
    "-planning": "Cancel", "-refused": "Close", "-confirm": "Cancel", "-applying": "Stop", "-ended": "Close",
}  # fmt: skip
"""What the button says that does no harm."""

HINTS: Final[Mapping[str, str]] = {
    "-planning": "esc cancels",
    "-refused": "esc closes",
    "-confirm": "tab moves · esc cancels",
    "-applying": "esc stops",
    "-ended": "esc closes",
}


def title(said: DialogText, step: str, shown: Shown, cells: int) -> Line:
    """What is done, and where."""
    told = clean(said.plan.title) if said.plan is not None else f"{VERBS[said.ask.kind]}: {clean(said.ask.queue)}"
    right = [LinePart.of(shorten(clean(shown.target), 24), "muted", 1)]
    if shown.prod:
        right.append(LinePart.of(" PROD ", "badge"))
    return spread([LinePart.of(f" {told}", "strong")], [*right, LinePart.of("")], cells - 1)


def problem(told: str, cells: int) -> list[Line]:
    """Why it is not done yet."""
    return entry("", f"▲ {told}", cells, "alarm", most=2) if told else []


def _planning(said: DialogText, cells: int) -> list[Line]:
    waited = f" for {text.ticking(said.took_s)}" if said.took_s >= 1 else ""
    return [(), ((f" counting{waited}; nothing is changed", "muted"),), ()]


def _refused(said: DialogText, cells: int) -> list[Line]:
    lines: list[Line] = [(), *entry("not done", said.problem, cells, "accent", most=8)]
    if said.plan is not None:
        lines += [(), *plan_lines(said.plan, cells)]
    else:
        lines.append(())
    return lines


def _confirm(said: DialogText, cells: int) -> list[Line]:
    return [(), *plan_lines(said.plan, cells)] if said.plan is not None else []


def _applying(said: DialogText, cells: int) -> list[Line]:
    planned = said.plan.count if said.plan is not None else 0
    progress = said.progress or Progress(planned, 0, 0, 0, None, None)
    return [(), *progress_lines(progress, cells, stopping=said.stopping), ()]


def _ended(said: DialogText, cells: int) -> list[Line]:
    if said.result is not None:
        return [(), *result_lines(said.result, said.took_s, said.before, said.after, cells)]
    done = said.progress.done if said.progress is not None else 0
    lines: list[Line] = [(), *entry("broken", said.problem, cells, "alarm", most=6)]
    if done:
        lines += entry(
            "", f"{done:,} were done by then and stay done; 6 shows it, and the same again finishes it", cells
        )
    return [*lines, ()]


WRITERS: Final[Mapping[str, Callable[[DialogText, int], list[Line]]]] = {
    "-planning": _planning,
    "-refused": _refused,
    "-confirm": _confirm,
    "-applying": _applying,
    "-ended": _ended,
}
"""By step."""
