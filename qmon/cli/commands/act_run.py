"""From a prepared plan to its end: shown, confirmed, applied with a progress bar, and told."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

import typer

from qmon.cli.commands.act import Given
from qmon.cli.commands.act_text import as_object, plan_text, result_text
from qmon.cli.output import clean, json_object, note, say
from qmon.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path

    from qmon.model.layout.layout import Layout
    from qmon.model.operations import Kind, OperationResult, Plan, Progress
    from qmon.operate.context import Permission
    from qmon.operate.open import Connections
    from qmon.operate.operator import Operator
    from qmon.operate.run.prepared import PreparedAction

T = TypeVar("T")

PARTLY: Final = 3
_PIPED_EVERY_S: Final = 5.0


def on_queue(
    target: str,
    config: Path | None,
    queue: str | None,
    kind: Kind,
    prepare: Callable[[Operator, Layout], PreparedAction],
    given: Given,
) -> None:
    """Carry out an action on one queue of a target; without a name on the only one there is."""
    from qmon.cli.session import acting

    with acting(target, config, kind.value) as at:
        layout = at.queue(queue)
        carry_out(lambda: prepare(at.operator, layout), at.connections, given)


def carry_out(prepare: Callable[[], PreparedAction], connections: Connections, given: Given) -> None:
    """Plan, show, confirm, apply and tell. Ends the command where the exit code is not 0.

    Raises ``BadInput`` with nothing changed where the plan is refused or not confirmed, and what a server says.
    """
    from qmon.model.operations import Consent

    prepared = attended(prepare, connections.cancel)
    plan = prepared.plan
    _show(plan, given)
    if plan.refused is not None:
        _tell(plan, None, 0.0, given)
        raise BadInput(f"{plan.queue}: refused: {plan.refused}; nothing was changed")
    if given.dry_run:
        _tell(plan, None, 0.0, given)
        return
    permission = _permission(plan, given, typed=plan.consent is Consent.TYPED)
    began = time.monotonic()
    result = _apply(prepared, permission, connections)
    _tell(plan, result, time.monotonic() - began, given)
    code = exit_code(result)
    if code:
        raise typer.Exit(code)


def exit_code(result: OperationResult) -> int:
    """0: all was done; 3: a part was not; 1: it failed."""
    from qmon.model.operations import OperationState

    if result.state in (OperationState.FAILED, OperationState.INTERRUPTED) and not result.done:
        return 1
    return 0 if result.state is OperationState.DONE and not result.skipped + result.changed + result.refused else PARTLY


def attended(call: Callable[[], T], interrupted: Callable[[], None]) -> T:
    """Run ``call`` on a thread, so that Ctrl-C is heard while the server is silent.

    Every Ctrl-C calls ``interrupted``; what ``call`` raises is raised, and ``KeyboardInterrupt`` where one came and it
    raised.
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
    heard = False
    while not over.is_set():
        try:
            over.wait(0.1)
        except KeyboardInterrupt:
            heard = True
            interrupted()
    if raised and heard:
        raise KeyboardInterrupt from raised[0]
    if raised:
        raise raised[0]
    return got[0]


def _show(plan: Plan, given: Given) -> None:
    """The plan: on standard output, or beside the JSON for whoever is asked."""
    if not given.json:
        for line in plan_text(plan):
            say(line)
    elif not given.yes and not given.dry_run:
        for line in plan_text(plan):
            note(line)


def _tell(plan: Plan, result: OperationResult | None, took_s: float, given: Given) -> None:
    if given.json:
        json_object(as_object(plan, result))
    elif result is not None:
        for line in result_text(result, took_s):
            say(line)
    elif plan.refused is None:
        say("a dry run: nothing was changed")


def _permission(plan: Plan, given: Given, *, typed: bool) -> Permission:
    """What the operator gives, asked for where it was not given."""
    from qmon.operate.context import Permission

    if not given.yes and not sys.stdin.isatty():
        more = " with --confirm and --reason" if typed else " with --reason" if plan.needs_reason else ""
        raise BadInput(f"stdin is not a terminal: add --yes{more}; nothing was changed")
    name, reason = given.confirm, given.reason
    if typed and given.yes and (name is None or not reason.strip()):
        raise BadInput(
            f"this asks for more than --yes: --confirm with the queue's name ({plan.queue}) and a --reason; "
            "nothing was changed"
        )
    if typed and not given.yes:
        name = typer.prompt(f"type the queue's name ({clean(plan.queue)})", default="", show_default=False, err=True)
    if not given.yes and not reason and plan.needs_reason:
        reason = typer.prompt("reason", default="", show_default=False, err=True)
    if name is not None and name not in (plan.queue, clean(plan.queue)):
        raise BadInput(f"the queue's name was not given as it is: {plan.queue}; nothing was changed")
    if not typed and not given.yes and not typer.confirm(f"{clean(plan.title).rstrip('?')}?", default=False, err=True):
        raise BadInput("it was not confirmed; nothing was changed")
    return Permission(reason, plan.queue if name is not None else "")


def _apply(prepared: PreparedAction, permission: Permission, connections: Connections) -> OperationResult:
    stop = threading.Event()
    told: list[Progress] = []

    def interrupted() -> None:
        if stop.is_set():
            connections.cancel()
        else:
            note("stopping after the batch under way; Ctrl-C again ends that too, and undoes it")
        stop.set()

    with _meter(prepared.plan) as show:

        def tell(progress: Progress) -> None:
            told[:] = [progress]
            show(progress)

        try:
            return attended(lambda: prepared.apply(permission, tell, stop.is_set), interrupted)
        except BaseException:
            if told and told[0].done:
                note(f"broken off: {told[0].done:,} were done and stay done; the same command again finishes it")
            raise


@contextmanager
def _meter(plan: Plan) -> Iterator[Callable[[Progress], None]]:
    """Progress on standard error: a bar on a terminal, a line now and then elsewhere."""
    if not sys.stderr.isatty():
        yield _Lines(plan)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn
    from rich.text import Text

    class Told(TextColumn):
        """What ``Progress`` says, as text and never as markup."""

        def render(self, task: object) -> Text:
            return Text(str(getattr(task, "fields", {}).get("told", "")))

    with Progress(BarColumn(30), Told(""), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=plan.count, told="")
        yield lambda now: bar.update(task, completed=now.done, told=_words(now))


class _Lines:
    """A line every few seconds."""

    def __init__(self, plan: Plan) -> None:
        self._last = time.monotonic()

    def __call__(self, now: Progress) -> None:
        if time.monotonic() - self._last >= _PIPED_EVERY_S:
            self._last = time.monotonic()
            note(_words(now))


def _words(now: Progress) -> str:
    parts = [f"{now.done:,} of {now.total:,}"]
    if now.skipped or now.changed:
        parts.append(f"skipped {now.skipped:,}, changed {now.changed:,}")
    if now.refused:
        parts.append(f"refused {now.refused:,}")
    if now.rate is not None:
        parts.append(f"{now.rate:,.0f}/s")
    if now.left_s is not None:
        parts.append(f"{now.left_s:,.0f} s left")
    return "   ".join([*parts, clean(now.note)] if now.note else parts)
