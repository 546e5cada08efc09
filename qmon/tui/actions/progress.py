"""What the dialog says while an operation runs, and when it has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from qmon.model.figure import Figure
from qmon.model.operations import OperationResult, OperationState, Progress
from qmon.model.view import QueueView
from qmon.tui import text
from qmon.tui.actions.plan import LABEL, entry
from qmon.tui.spans import Line, Span

_FIGURES: Final = (
    ("ready", "ready"), ("in progress", "in_progress"), ("stuck", "stuck"), ("dead", "dead"),
)  # fmt: skip
_RATES: Final = (("push", "push_rate"), ("pop", "pop_rate"))

ENDS: Final[dict[OperationState, tuple[str, str]]] = {
    OperationState.RUNNING: ("still running", "accent"),
    OperationState.DONE: ("done", "strong"),
    OperationState.CANCELLED: ("stopped", "accent"),
    OperationState.INTERRUPTED: ("interrupted", "alarm"),
    OperationState.FAILED: ("failed", "alarm"),
}


def bar(share: float, cells: int) -> Line:
    """A progress bar with the percentage behind it."""
    room = max(4, cells - 8)
    halves = round(max(0.0, min(1.0, share)) * room * 2)
    full, half = divmod(halves, 2)
    rest = room - full - half
    return (
        (" ", "text"), ("━" * full + "╸" * half, "accent"), ("─" * rest, "faint"), (f" {share * 100:4.0f} %", "text"),
    )  # fmt: skip


def progress_lines(progress: Progress, cells: int, *, stopping: bool) -> list[Line]:
    """How far it is."""
    share = progress.done / progress.total if progress.total else 0.0
    moving: list[Span] = [*_counts(progress, total=progress.total)]
    if progress.rate is not None:
        moving += [("   ", "text"), (text.rate(progress.rate), "text"), ("/s", "muted")]
    if progress.left_s is not None:
        moving += [("   about ", "muted"), (text.age(progress.left_s), "text"), (" left", "muted")]
    lines: list[Line] = [bar(share, cells), (), tuple(moving)]
    lines += [(), *entry("", progress.note, cells, "muted")] if progress.note else []
    if stopping:
        lines += [(), ((" stops after the batch under way; esc again ends that too, and undoes it", "accent"),)]
    return lines


def _counts(of_these: Progress | OperationResult, *, total: int | None = None) -> tuple[Span, ...]:
    of = f" of {total:,}" if total is not None else ""
    out: list[Span] = [(" done ", "muted"), (f"{of_these.done:,}", "strong"), (of, "muted")]
    left = {"skipped": of_these.skipped, "changed": of_these.changed}
    if of_these.refused:
        left["refused"] = of_these.refused
    for name, count in left.items():
        out += [(f"   {name} ", "muted"), (f"{count:,}", "accent" if count else "muted")]
    return tuple(out)


def result_lines(
    result: OperationResult, took_s: float, before: QueueView | None, after: QueueView | None, cells: int
) -> list[Line]:
    """How it ended, and the queue's figures from before and from a poll that began after the end."""
    word, tone = ENDS[result.state]
    head: list[Span] = [(f" {word}", tone), (f" after {text.long_age(took_s)}", "muted")]
    lines: list[Line] = [tuple(head), _counts(result)]
    if result.skipped:
        lines += entry("skipped", "locked by others, left alone", cells, "muted")
    if result.changed:
        lines += entry("changed", "no longer what the plan saw, left alone", cells, "muted")
    if result.refused:
        lines += entry("refused", "the server would not have it, left alone", cells, "muted")
    for index, told in enumerate(result.notes):
        lines += entry("note" if index == 0 else "", told, cells)
    if result.operation:
        lines += entry("audit", f"operation {result.operation}; u undoes what can be undone, 6 lists all", cells)
    lines += [(), *figures(before, after, cells)]
    return lines


def figures(before: QueueView | None, after: QueueView | None, cells: int) -> list[Line]:
    """``ready 1,235 (31 before)``; until the poll has come, that it is waited for."""
    if before is None:
        return []
    if after is None:
        return entry("verify", "waiting for the next poll", cells, "muted")
    parts = [_change(name, before, after, field, text.count) for name, field in _FIGURES]
    parts += [_change(f"{name}/s", before, after, field, text.rate) for name, field in _RATES]
    lines: list[str] = []
    for part in filter(None, parts):
        if lines and len(lines[-1]) + len(part) + 3 <= cells - LABEL - 2:
            lines[-1] += f" · {part}"
        else:
            lines.append(part)
    return [line for i, told in enumerate(lines) for line in entry("verify" if i == 0 else "", told, cells)]


def _change(name: str, before: QueueView, after: QueueView, field: str, write: Callable[[float], str]) -> str:
    then: Figure = getattr(before, field)
    now: Figure = getattr(after, field)
    if now.value is None:
        return ""
    return f"{name} {text.figure(now, write)} ({text.figure(then, write)} before)"
