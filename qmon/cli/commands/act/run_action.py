"""Runs a prepared plan: shows the plan, asks for confirmation, applies the plan, and prints progress and result."""

from __future__ import annotations

import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Final, TypeVar

import typer

from qmon.cli.guard import INTERRUPTED, PARTLY
from qmon.cli.options import ActionOptions
from qmon.cli.output import Meter, clean_text, print_note, print_output
from qmon.cli.output import print_report as write
from qmon.errors import BadInput
from qmon.model.formatting import duration
from qmon.operate.plan import plan_description
from qmon.texts import Text

if TYPE_CHECKING:
    from pathlib import Path

    from qmon.model.layout.layout import Layout
    from qmon.model.operation_records import OperationKind, OperationResult, Plan, PlanRow, Progress
    from qmon.operate.context import Permission
    from qmon.operate.operator import Operator
    from qmon.operate.operator_context import Connections
    from qmon.operate.run.running_operation import PreparedAction


class RunText(Text):
    """Why an action does not run, and how it ends."""

    WHICH_TARGET = "{problem}; which target? qmon {command} TARGET {target}"
    REFUSED = "{target}: {queue}: refused: {reason}{left_out}; nothing was changed"
    DRY_RUN = "dry run: nothing was changed"
    WITH_CONFIRM = " with --confirm and --reason"
    WITH_REASON = " with --reason"
    NO_TERMINAL = "stdin is not a terminal: add --yes{options}; nothing was changed"
    YES_NOT_ENOUGH = "--yes is not enough for this plan: also give --confirm {queue} and --reason; nothing was changed"
    TYPE_NAME = "type the queue's name ({queue})"
    WRONG_NAME = "the name does not match: the queue is {queue}; nothing was changed"
    NOT_CONFIRMED = "not confirmed; nothing was changed"
    STOPPING = "stopping after the current batch; press Ctrl-C again to cancel that batch and exit"
    INTERRUPTED = "interrupted after {done:,}, which stay done; run the command again to finish"
    BATCHES = "batches of {size:,}"
    ONE_STEP = "one step"
    ATTEMPTS = "attempts {count}"
    ERROR = "error: {error}"
    RESULT = "{queue}: {action} {state} in {duration}: {counts}{operation}"
    COUNTS = "done {done:,}, skipped {skipped:,}, changed {changed:,}"
    REFUSED_COUNT = ", refused {count:,}"
    OPERATION = "; operation {operation}"


T = TypeVar("T")

_PIPED_EVERY_S: Final = 5.0
_BAR_CELLS: Final = 30
_LABEL_CELLS: Final = 10

# After the second Ctrl-C, qmon waits at most this many seconds for the cancelled statement to end, and then at most the
# same time for the audit entry.
_ORDERLY_S: Final = 1.0
_LINE_CELLS: Final = 110
# Commands whose name differs from the name of their operation.
_COMMANDS: Final = {"redrive": "requeue"}


def act_on_queue(
    target: str,
    config: Path | None,
    queue: str | None,
    kind: OperationKind,
    prepare: Callable[[Operator, Layout], PreparedAction],
    confirmation: ActionOptions,
) -> None:
    """Run an action on one queue of a target. Without a name, the target must have exactly one queue."""
    from qmon.cli.target_session import connect_for_action, resolve_target

    try:
        chosen = resolve_target(target, config)
    except BadInput as problem:
        if queue is None and target.isidentifier():  # probably the name of a queue
            command = _COMMANDS.get(kind.value, kind.value)
            raise BadInput(RunText.WHICH_TARGET.render(problem=problem, command=command, target=target)) from None
        raise
    with connect_for_action(chosen, kind.value) as at:
        layout = at.queue_layout(queue)
        run_action(lambda: prepare(at.create_operator(), layout), at.connections, confirmation)


def run_action(prepare: Callable[[], PreparedAction], connections: Connections, confirmation: ActionOptions) -> None:
    """Plan, show, confirm, apply and report. Raises ``typer.Exit`` if the exit code is not 0.

    Raises ``BadInput``, with nothing changed, if the plan is refused or not confirmed. Also raises server errors.
    """
    from qmon.model.operation_records import Consent, OperationState

    prepared = run_attended(prepare, connections)
    plan = prepared.plan
    if plan.has_nothing_to_do or plan.refused is None:
        _print_plan(plan, confirmation)
    if plan.has_nothing_to_do:
        _print_result(plan, None, 0.0, confirmation)
        return
    if plan.refused is not None:
        _print_result(plan, None, 0.0, confirmation)
        left = f" (left out: {_left_out_text(plan)})" if plan.left_out else ""
        raise BadInput(RunText.REFUSED.render(target=plan.target, queue=plan.queue, reason=plan.refused, left_out=left))
    if confirmation.dry_run:
        _print_result(plan, None, 0.0, confirmation)
        return
    permission = _ask_permission(plan, confirmation, typed=plan.consent is Consent.TYPED)
    began = time.monotonic()
    result, interrupted = _apply_plan(prepared, permission, connections)
    _print_result(plan, result, time.monotonic() - began, confirmation)
    code = INTERRUPTED if interrupted and result.state is OperationState.UNKNOWN else exit_code(result)
    if code:
        raise typer.Exit(code)


def exit_code(result: OperationResult) -> int:
    """Return 0 if everything was done, 3 if only a part was done, or 1 after a failure or an unknown outcome."""
    from qmon.model.operation_records import OperationState

    if result.state is OperationState.UNKNOWN:
        return 1
    if result.state in (OperationState.FAILED, OperationState.INTERRUPTED) and not result.done:
        return 1
    return 0 if result.state is OperationState.DONE and not result.skipped + result.changed + result.refused else PARTLY


def run_attended(call: Callable[[], T], connections: Connections, stop: Callable[[], None] | None = None) -> T:
    """Run ``call`` on a thread, so that Ctrl-C works while the server does not answer.

    The first Ctrl-C calls ``stop``, or cancels the running statements if ``stop`` is ``None``. The second Ctrl-C always
    cancels the running statements, and abandons the connections if the statements do not end within a second. Raises
    the errors of ``call``. If Ctrl-C was pressed and ``call`` raised an error or has not ended, raises
    ``KeyboardInterrupt``.
    """
    got: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            got.append(call())
        except BaseException as problem:
            raised.append(problem)
        finally:
            over.set()

    over = threading.Event()
    threading.Thread(target=run, name="qmon-act", daemon=True).start()
    presses, leave_at = 0, float("inf")
    while not over.is_set() and time.monotonic() < leave_at:
        try:
            over.wait(0.1)
        except KeyboardInterrupt:
            presses += 1
            if presses == 1 and stop is not None:
                stop()
            else:
                connections.cancel()
            if presses > 1:
                leave_at = time.monotonic() + (_ORDERLY_S if presses == 2 else 0.0)
    if not over.is_set():
        connections.abandon()
        over.wait(_ORDERLY_S)
    if got:
        return got[0]
    if presses:
        raise KeyboardInterrupt from (raised[0] if raised else None)
    raise raised[0]


def _print_plan(plan: Plan, confirmation: ActionOptions) -> None:
    """Print the plan on standard output.

    With JSON or CSV, print the plan on standard error, but only if confirmation is needed.
    """
    if confirmation.output == "table":
        for line in plan_text(plan, sql=confirmation.sql):
            print_output(line)
    elif not confirmation.yes and not confirmation.dry_run:
        for line in plan_text(plan, sql=confirmation.sql):
            print_note(line)


def _print_result(plan: Plan, result: OperationResult | None, took_s: float, confirmation: ActionOptions) -> None:
    if confirmation.output != "table":
        from qmon.cli.reports.target_reports import ActionReport

        write(confirmation.output, {"schema": 1, "plan": plan, "result": result}, ActionReport)
    elif result is not None:
        for line in result_text(result, took_s):
            print_output(line)
    elif plan.refused is None:
        print_output(RunText.DRY_RUN)


def _ask_permission(plan: Plan, confirmation: ActionOptions, *, typed: bool) -> Permission:
    """Return the permission for the plan. Prompt for confirmations that are missing from the options."""
    from qmon.operate.context import Permission

    if not confirmation.yes and not sys.stdin.isatty():
        more = RunText.WITH_CONFIRM if typed else RunText.WITH_REASON if plan.needs_reason else ""
        raise BadInput(RunText.NO_TERMINAL.render(options=more))
    name, reason = confirmation.confirm, confirmation.reason
    if typed and confirmation.yes and (name is None or not reason.strip()):
        raise BadInput(RunText.YES_NOT_ENOUGH.render(queue=plan.queue))
    if typed and not confirmation.yes:
        name = typer.prompt(
            RunText.TYPE_NAME.render(queue=clean_text(plan.queue)), default="", show_default=False, err=True
        )
    if not confirmation.yes and not reason and plan.needs_reason:
        reason = typer.prompt("reason", default="", show_default=False, err=True)
    if name is not None and name not in (plan.queue, clean_text(plan.queue)):
        raise BadInput(RunText.WRONG_NAME.render(queue=plan.queue))
    if (
        not typed
        and not confirmation.yes
        and not typer.confirm(f"{clean_text(plan.title).rstrip('?')}?", default=False, err=True)
    ):
        raise BadInput(RunText.NOT_CONFIRMED)
    return Permission(reason, plan.queue if name is not None else "")


def _apply_plan(
    prepared: PreparedAction, permission: Permission, connections: Connections
) -> tuple[OperationResult, bool]:
    """Apply the plan. Return the result, and true if Ctrl-C was pressed."""
    stop, meter, began = threading.Event(), Meter(_PIPED_EVERY_S), time.monotonic()
    newest: list[Progress] = []

    def stop_run() -> None:
        meter.clear_line()
        print_note(RunText.STOPPING)
        stop.set()

    def report(progress: Progress) -> None:
        newest[:] = [progress]
        meter.show_progress(
            f"{_progress_bar(progress) if meter.is_on_terminal else ''}{_progress_text(progress)}",
            time.monotonic() - began,
        )

    try:
        result = run_attended(lambda: prepared.apply(permission, report, stop.is_set), connections, stop_run)
        return result, stop.is_set()
    except BaseException:
        meter.clear_line()
        if newest and newest[0].done:
            print_note(RunText.INTERRUPTED.render(done=newest[0].done))
        raise
    finally:
        meter.clear_line()


def _progress_bar(now: Progress) -> str:
    filled = round(_BAR_CELLS * min(1.0, now.done / now.total)) if now.total else 0
    return f"{'━' * filled}{'┄' * (_BAR_CELLS - filled)}   "


def _progress_text(now: Progress) -> str:
    parts = [f"{now.done:,} of {now.total:,}"]
    if now.skipped or now.changed:
        parts.append(f"skipped {now.skipped:,}, changed {now.changed:,}")
    if now.refused:
        parts.append(f"refused {now.refused:,}")
    if now.rate is not None:
        parts.append(f"{now.rate:,.0f}/s")
    if now.left_s is not None:
        parts.append(f"{duration(now.left_s)} left")
    return "   ".join([*parts, clean_text(now.note)] if now.note else parts)


def plan_text(plan: Plan, *, sql: bool = False) -> Iterator[str]:
    """Yield the lines of a plan that is not refused. ``sql``: add the statements of the plan."""
    if plan.has_nothing_to_do:
        left = f" ({_left_out_text(plan)})" if plan.left_out else ""
        yield clean_text(f"{plan.queue}: {plan.refused}{left}")
        return
    yield clean_text(plan.title)
    yield from _entry_lines("target", plan.target)
    yield from _entry_lines("which", plan.predicate)
    yield from _entry_lines("count", plan_description.count_text(plan))
    yield from _entry_lines("left out", _left_out_text(plan) or "nothing")
    yield from _entry_lines("effort", _effort_text(plan))
    yield from _entry_lines("undo", plan_description.undo_text(plan.undo, local_moment))
    for name, lines in (("risk", plan.risks), ("note", plan.consequences)):
        for index, line in enumerate(lines):
            yield from _entry_lines(name if not index else "", line)
    for index, row in enumerate(plan.first):
        yield from _entry_lines("first" if not index else "", _plan_row_text(row))
    if plan.count > len(plan.first) > 0:
        yield from _entry_lines("", f"… and {plan.count - len(plan.first):,} more")
    for index, statement in enumerate(plan.sql if sql else ()):
        for number, line in enumerate(statement.strip().splitlines()):
            yield f"  {'sql' if not index and not number else '':<{_LABEL_CELLS}}{clean_text(line)}"


def _left_out_text(plan: Plan) -> str:
    return ", ".join(each.text for each in plan.left_out)


def _entry_lines(name: str, content: str) -> Iterator[str]:
    lines = textwrap.wrap(clean_text(content), _LINE_CELLS - _LABEL_CELLS) or ([] if not name else ["–"])
    for index, line in enumerate(lines):
        yield f"  {name if not index else '':<{_LABEL_CELLS}}{line}"


def _effort_text(plan: Plan) -> str:
    batches = RunText.BATCHES.render(size=plan.batch) if plan.batch is not None and plan.batch < plan.count else ""
    time = "" if plan.seconds is None else plan_description.duration_text(plan.seconds)
    return ", ".join(part for part in (batches, time) if part) or RunText.ONE_STEP.render()


def local_moment(at: float) -> str:
    """Return a moment in this machine's time zone."""
    return datetime.fromtimestamp(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _plan_row_text(row: PlanRow) -> str:
    age = "" if row.age_s is None else duration(row.age_s)
    owner = " ".join(p for p in (row.owner or "", "" if row.owner_state == "none" else str(row.owner_state)) if p)
    tries = "" if row.attempts is None else RunText.ATTEMPTS.render(count=row.attempts)
    error = "" if row.error is None else RunText.ERROR.render(error=row.error)
    return "  ".join(
        part for part in (row.id, row.state.replace("_", " "), age, owner, tries, row.payload or "", error) if part
    )


def result_text(result: OperationResult, took_s: float) -> Iterator[str]:
    """Yield the lines of a result. The first line summarizes the result."""
    counts = RunText.COUNTS.render(done=result.done, skipped=result.skipped, changed=result.changed)
    if result.refused:
        counts += RunText.REFUSED_COUNT.render(count=result.refused)
    audited = RunText.OPERATION.render(operation=result.operation) if result.operation else ""
    yield clean_text(
        RunText.RESULT.render(
            queue=result.queue,
            action=result.kind,
            state=result.state,
            duration=duration(took_s),
            counts=counts,
            operation=audited,
        )
    )
    for each in result.notes:
        yield clean_text(f"  {each}")
