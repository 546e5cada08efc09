"""The texts of the action dialog at each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from qmon.model import formatting
from qmon.model.figure import Figure
from qmon.model.operation_records import OperationResult, OperationState, Plan, Progress
from qmon.model.view import QueueView
from qmon.texts import Text
from qmon.tui.actions.plan_text import VERBS, can_undo, left_out_lines, plan_lines
from qmon.tui.actions.request import ActionRequest
from qmon.tui.sanitize import clean, shorten
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import LABEL_CELLS, Line, LinePart, Span, entry_lines, spread_parts

_FIGURES: Final = (
    ("ready", "ready"),
    ("in progress", "in_progress"),
    ("stuck", "stuck"),
    ("dead", "dead"),
)
_RATES: Final = (("push", "push_rate"), ("pop", "pop_rate"))

RESULT_WORDS: Final[dict[OperationState, tuple[str, str]]] = {
    OperationState.RUNNING: ("still running", "accent"),
    OperationState.DONE: ("done", "strong"),
    OperationState.CANCELLED: ("stopped", "accent"),
    OperationState.INTERRUPTED: ("interrupted", "alarm"),
    OperationState.FAILED: ("failed", "alarm"),
    OperationState.UNKNOWN: ("unknown", "alarm"),
}


class StepText(Text):
    """The texts of the steps."""

    COUNTING = "counting{waited}; nothing is changed yet"
    FOR_TIME = " for {duration}"
    PARTLY_DONE = "{done:,} are done and are not rolled back; repeat the action to finish the rest; {key}"
    STOPPING = "stopping after this batch; press esc again to cancel this batch too and close"
    SKIPPED = "locked by other sessions; not changed"
    CHANGED = "changed after planning; not changed by qmon"
    REFUSED = "refused by the server; not changed"
    OPERATION = "operation {operation}{undo}; {key}"
    CAN_UNDO = "; u undoes the operation"
    WAITING_FOR_POLL = "waiting for the next poll"
    FIGURE = "{figure} {now} (was {before})"
    FIGURE_NOT_READ = "{figure} not read again yet (was {before})"


class KeyHint(Text):
    """The hints about the keys of the dialog."""

    CANCEL = "esc cancels"
    CLOSE = "esc closes"
    CONFIRM = "← then enter · s SQL · esc cancels"
    STOP = "b continues in the background · esc stops"
    # While a choice or a field of the confirmation has the focus, it takes keys that the buttons do not take.
    CHOICE = "← → choose · tab next · s SQL · esc cancels"
    FIELD = "tab next · esc cancels"


@dataclass(frozen=True, slots=True)
class DialogText:
    """The data that the dialog shows.

    Attributes:
        took_s: seconds spent planning or applying so far.
        since_end_s: seconds from the end of the operation to the poll that read ``after``.
        planned_s: seconds since planning finished.
        before: the queue before the operation. after: the queue in the first poll after the operation.
    """

    request: ActionRequest
    plan: Plan | None
    problem: str
    took_s: float
    progress: Progress | None
    stopping: bool
    result: OperationResult | None
    before: QueueView | None
    after: QueueView | None
    sql: bool = False
    since_end_s: float = 0.0
    planned_s: float = 0.0


def title_line(content: DialogText, step: str, shown: ShownState, cells: int) -> Line:
    """Return the action and the target."""
    words = (
        clean(content.plan.title)
        if content.plan is not None
        else f"{VERBS[content.request.kind]}: {clean(content.request.queue)}"
    )
    right = [LinePart.from_text(shorten(clean(shown.target), 24), "muted", 1)]
    if shown.prod:
        right.append(LinePart.from_text(" PROD ", "badge"))
    return spread_parts([LinePart.from_text(f" {words}", "strong")], [*right, LinePart.from_text("")], cells - 1)


def problem_lines(problem: str, cells: int) -> list[Line]:
    """Return why the plan was not applied."""
    return entry_lines("", f"▲ {problem}", cells, "alarm", most=2) if problem else []


def _planning_lines(content: DialogText, cells: int) -> list[Line]:
    waited = StepText.FOR_TIME.render(duration=formatting.whole_seconds(content.took_s)) if content.took_s >= 1 else ""
    return [(), ((f" {StepText.COUNTING.render(waited=waited)}", "muted"),), ()]


def _refused_lines(content: DialogText, cells: int) -> list[Line]:
    left_out = left_out_lines(content.plan, cells) if content.plan is not None else []
    return [(), *entry_lines("not done", content.problem, cells, "accent", most=8), *left_out, ()]


def _confirm_lines(content: DialogText, cells: int) -> list[Line]:
    return (
        [(), *plan_lines(content.plan, cells, sql=content.sql, planned_s=content.planned_s)]
        if content.plan is not None
        else []
    )


def _applying_lines(content: DialogText, cells: int) -> list[Line]:
    planned = content.plan.count if content.plan is not None else 0
    progress = content.progress or Progress(planned, 0, 0, 0, None, None)
    return [(), *progress_lines(progress, cells, stopping=content.stopping), ()]


def _ended_lines(content: DialogText, cells: int) -> list[Line]:
    if content.result is not None:
        undo = can_undo(content.plan, content.result)
        lines = result_lines(
            content.result,
            content.took_s,
            content.before,
            content.after,
            cells,
            undo=undo,
            since_end_s=content.since_end_s,
        )
        return [(), *lines]
    done = content.progress.done if content.progress is not None else 0
    lines = [(), *entry_lines("broken", content.problem, cells, "alarm", most=6)]
    if done:
        lines += entry_lines("", StepText.PARTLY_DONE.render(done=done, key=ScreenText.KEY_6), cells)
    return [*lines, ()]


class DialogStepText(NamedTuple):
    """The text of a step, the label of its safe button, and the hint about keys."""

    write: Callable[[DialogText, int], list[Line]]
    closes: str
    hint: str


STEPS: Final[Mapping[str, DialogStepText]] = {
    "-planning": DialogStepText(_planning_lines, "Cancel", KeyHint.CANCEL),
    "-refused": DialogStepText(_refused_lines, "Close", KeyHint.CLOSE),
    "-confirm": DialogStepText(_confirm_lines, "Cancel", KeyHint.CONFIRM),
    "-applying": DialogStepText(_applying_lines, "Stop", KeyHint.STOP),
    "-ended": DialogStepText(_ended_lines, "Close", KeyHint.CLOSE),
}


def progress_bar(share: float, cells: int) -> Line:
    """Return a progress bar with its percentage."""
    room = max(4, cells - 8)
    halves = round(max(0.0, min(1.0, share)) * room * 2)
    full, half = divmod(halves, 2)
    rest = room - full - half
    return (
        (" ", "text"),
        ("━" * full + "╸" * half, "accent"),
        ("─" * rest, "faint"),
        (f" {share * 100:4.0f} %", "text"),
    )


def progress_lines(progress: Progress, cells: int, *, stopping: bool) -> list[Line]:
    """Return the progress of the operation."""
    share = progress.done / progress.total if progress.total else 0.0
    moving: list[Span] = [*_count_spans(progress, total=progress.total)]
    if progress.rate is not None:
        moving += [("   ", "text"), (formatting.rate(progress.rate), "text"), ("/s", "muted")]
    if progress.left_s is not None:
        moving += [("   about ", "muted"), (formatting.duration(progress.left_s), "text"), (" left", "muted")]
    lines: list[Line] = [progress_bar(share, cells), (), tuple(moving)]
    lines += [(), *entry_lines("", progress.note, cells, "muted")] if progress.note else []
    if stopping:
        lines += [(), ((f" {StepText.STOPPING}", "accent"),)]
    return lines


def _count_spans(of_these: Progress | OperationResult, *, total: int | None = None) -> tuple[Span, ...]:
    of = f" of {total:,}" if total is not None else ""
    out: list[Span] = [(" done ", "muted"), (f"{of_these.done:,}", "strong"), (of, "muted")]
    left = {"skipped": of_these.skipped, "changed": of_these.changed}
    if of_these.refused:
        left["refused"] = of_these.refused
    for name, count in left.items():
        out += [(f"   {name} ", "muted"), (f"{count:,}", "accent" if count else "muted")]
    return tuple(out)


def result_lines(
    result: OperationResult,
    took_s: float,
    before: QueueView | None,
    after: QueueView | None,
    cells: int,
    *,
    undo: bool,
    since_end_s: float = 0.0,
) -> list[Line]:
    """Return how the operation ended, and the figures of the queue before and after the operation.

    ``after``: from a poll that started ``since_end_s`` seconds after the end of the operation.
    """
    word, tone = RESULT_WORDS[result.state]
    head: list[Span] = [(f" {word}", tone), (f" after {formatting.duration(took_s)}", "muted")]
    lines: list[Line] = [tuple(head), _count_spans(result)]
    if result.skipped:
        lines += entry_lines("skipped", StepText.SKIPPED, cells, "muted")
    if result.changed:
        lines += entry_lines("changed", StepText.CHANGED, cells, "muted")
    if result.refused:
        lines += entry_lines("refused", StepText.REFUSED, cells, "muted")
    for index, words in enumerate(result.notes):
        lines += entry_lines("note" if index == 0 else "", words, cells)
    if result.operation:
        audited = StepText.OPERATION.render(
            operation=result.operation, undo=StepText.CAN_UNDO if undo else "", key=ScreenText.KEY_6
        )
        lines += entry_lines("audit", audited, cells)
    lines += [(), *_verify_lines(before, after, since_end_s, cells)]
    return lines


def _verify_lines(before: QueueView | None, after: QueueView | None, since_end_s: float, cells: int) -> list[Line]:
    """Return lines such as ``ready 1,235 (was 31)``, or a note that qmon waits for the next poll.

    A rate is shown only if its window begins after the end of the operation, because an earlier window includes the
    operation itself.
    """
    if before is None:
        return []
    if after is None:
        return entry_lines("verify", StepText.WAITING_FOR_POLL, cells, "muted")
    parts = [_change_text(name, before, after, field, formatting.count, since_end_s) for name, field in _FIGURES]
    if after.window_s is not None and after.window_s < since_end_s:
        parts += [
            _change_text(f"{name}/s", before, after, field, formatting.rate, since_end_s) for name, field in _RATES
        ]
    lines: list[str] = []
    for part in filter(None, parts):
        if lines and len(lines[-1]) + len(part) + 3 <= cells - LABEL_CELLS - 2:
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return [line for i, words in enumerate(lines) for line in entry_lines("verify" if i == 0 else "", words, cells)]


def _change_text(
    name: str, before: QueueView, after: QueueView, field: str, write: Callable[[float], str], since_end_s: float
) -> str:
    then: Figure = getattr(before, field)
    now: Figure = getattr(after, field)
    if now.value is None:
        return ""
    if now.age_s >= since_end_s:
        return StepText.FIGURE_NOT_READ.render(figure=name, before=then.text(write))
    return StepText.FIGURE.render(figure=name, now=now.text(write), before=then.text(write))
