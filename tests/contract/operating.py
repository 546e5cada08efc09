"""Helpers for tests of actions: a desk on a test's database, stuck messages, applying a plan, and its audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from qmon.engines.base import Connection, Session
from qmon.model.layout.layout import Layout, OwnerColumn
from qmon.model.operation_records import OperationResult, OwnerState, Progress
from qmon.operate.context import OperatorContext, Permission
from qmon.operate.run.running_operation import PreparedAction
from tests.facts import connected
from tests.queues import ENGINE, target_of
from tests.schemas import valid

YES = Permission("a test")
ANY_OWNER = frozenset({OwnerState.DEAD, OwnerState.ALIVE, OwnerState.UNKNOWN})
HELD = OwnerColumn("owner", "session", held_while_working=True)


def desk_at(
    url: str, folder: Path, *, prod: bool = False, read_only: str | None = None, who: str = "anna@app-7"
) -> OperatorContext:
    """Return an operator context for a test, with its own audit file."""
    target = replace(target_of(url), prod=prod)

    def connect(purpose: str) -> Connection:
        return ENGINE.connect(target, Session(purpose, statement_timeout_s=60, lock_timeout_s=5))

    return OperatorContext(
        connect, ENGINE, target, who, read_only=read_only, audit=folder / "audit" / "operations.jsonl"
    )


def applied(
    prepared: PreparedAction,
    permission: Permission = YES,
    tell: Callable[[Progress], None] = lambda now: None,
    stopped: Callable[[], bool] = lambda: False,
) -> OperationResult:
    """Apply with a reason, without stopping. Check that progress never exceeds the plan."""

    def told(now: Progress) -> None:
        assert now.done + now.skipped + now.changed <= now.total
        tell(now)

    return prepared.apply(permission, told, stopped)


def lines(context: OperatorContext) -> list[dict[str, object]]:
    """Return the entries of the local audit."""
    assert context.audit is not None
    return [valid(line, "audit") for line in context.audit.read_text().splitlines()] if context.audit.exists() else []


def stuck(url: str, layout: Layout, count: int, *, minutes: int = 10, owner: str = "1/1", table: str = "") -> None:
    """Create messages in progress for this long, owned by a session that has ended."""
    assert layout.state is not None
    text = "message" if layout.design == "status" else "text_data"
    with connected(url) as raw:
        push = f"SELECT push('x' || i) FROM generate_series(1, {count}) AS i"
        push = push.replace("push(", f'"{layout.routine_for("push").name}"(' if layout.routine_for("push") else "push(")  # type: ignore[union-attr]
        raw.execute(push if text == "text_data" else push.replace("'x' || i", "convert_to('x' || i, 'UTF8')"))
        raw.execute(
            f'UPDATE "{layout.table.name}" SET {layout.state.column} = {layout.state.in_progress}, attempts = 1,'
            f" started_at = now() - interval '{minutes} min', owner = '{owner}'"
        )
