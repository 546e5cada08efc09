"""An operator whose plans and results a test writes itself, for states that are hard to reach with a real one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from qmon.engines.base import Connection, Target
from qmon.engines.registry import engine_named
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import (
    Choice,
    Consent,
    LeftOut,
    Operation,
    OperationKind,
    OperationResult,
    OperationState,
    OwnerState,
    Plan,
    PlanRow,
    Progress,
    RedriveLimits,
    Side,
    Undo,
    UndoState,
)
from qmon.model.samples.polled_samples import PauseSample
from qmon.operate.context import OnProgress, OperatorContext, Permission, StopRequested
from qmon.operate.message import Message
from qmon.operate.operator import Operator
from qmon.operate.run.running_operation import PreparedAction
from qmon.tui.action_runner import ActionRunner
from tests.tui.scripted import NASTY, SAMPLED_AT

SQL: Final = """/* qmon action/requeue */
UPDATE "demo"."invoices_queue" AS q
SET "status" = 'ready', "owner" = NULL, "started_at" = NULL, "attempts" = q."attempts" + 1
WHERE q."id" = ANY (:ids) AND q."status" = 'in_progress' AND q."owner" = :owner AND q."started_at" <= :cutoff
RETURNING q."id\""""


def rows(count: int = 6) -> tuple[PlanRow, ...]:
    """Return the first messages of a plan, with text that an attacker may write into them."""
    payloads = ('{"to": "ada@example.org", "template": "welcome"}', NASTY, "請求書 2026-11 🎉", None, "", "[b]x[/b]")
    return tuple(
        PlanRow(
            str(88_123 + i), "in_progress", 7_512.0 / (i + 1), "app-7/61", OwnerState.DEAD, 1 + i % 3, payloads[i % 6]
        )
        for i in range(count)
    )


def plan(kind: OperationKind = OperationKind.REQUEUE, queue: str = "invoices", **changes: object) -> Plan:
    """Return a plan for 1,204 messages."""
    made = Plan(
        kind=kind,
        target="orders-prod",
        queue=queue,
        title=f"{kind.value.capitalize()} 1,204 messages of {queue}",
        count=1_204,
        unit="messages",
        predicate="in progress for more than 5 m 00 s before 14:32:07, owner dead, ids up to 90,212",
        sql=(SQL,),
        first=rows(),
        left_out=(LeftOut("owner alive", 3), LeftOut("locked", 12)),
        batch=500,
        seconds=2.4,
        undo=Undo(True, ("an undo only restores messages that have not been popped again",)),
        consequences=("the messages go to the front: consumers take them next",),
        risks=("a consumer that still works on one of them delivers it twice",),
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # the names are checked by replace


def operation(number: int, kind: OperationKind = OperationKind.REQUEUE, **changes: object) -> Operation:
    """Return one line of the history."""
    made = Operation(
        id=f"261121-0714{number:02d}-k7qd",
        kind=kind,
        queue="invoices",
        state=OperationState.DONE,
        by="anna@app-7",
        reason="mailer-3 was killed by the kernel",
        planned=1_204,
        done=1_201,
        skipped=2,
        changed=1,
        started_at=SAMPLED_AT - 600.0 * number,
        ended_at=SAMPLED_AT - 600.0 * number + 4.7,
        undo_state=UndoState.POSSIBLE,
    )
    return replace(made, **changes)  # type: ignore[arg-type]  # the names are checked by replace


HISTORY: Final = (
    operation(1),
    operation(
        2, OperationKind.PURGE, queue="mails", done=40_112, planned=40_112, skipped=0, changed=0, reason="ticket 4711"
    ),
    operation(
        3,
        OperationKind.PAUSE,
        queue="orders",
        done=1,
        planned=1,
        skipped=0,
        changed=0,
        undo_state=UndoState.NO,
        reason=NASTY,
    ),
    operation(4, state=OperationState.INTERRUPTED, ended_at=None, done=500, undo_state=UndoState.PARTLY_UNDONE),
    operation(5, OperationKind.UNDO, undo_state=UndoState.NO, undo_of="261121-071400-k7qd", by="bob@laptop"),
    operation(6, OperationKind.PURGE, queue="webhooks", undo_state=UndoState.GONE, state=OperationState.CANCELLED),
)


@dataclass
class Script:
    """The operator's answers and actions, and the requests it received."""

    asked: list[tuple[object, ...]] = field(default_factory=list)
    permissions: list[Permission] = field(default_factory=list)
    make: Callable[[OperationKind, str, Choice], Plan] = lambda kind, queue, choice: plan(kind, queue)
    paused: tuple[PauseSample, ...] = ()
    history: tuple[Operation, ...] = HISTORY
    # Set: plans come at once.
    planning: threading.Event = field(default_factory=threading.Event)
    # Set: an operation continues to its end after its first batch.
    goes: threading.Event = field(default_factory=threading.Event)
    fault: Exception | None = None
    breaks: Exception | None = None
    refuses: str = ""
    # The result of reading a message; `None`: it is gone.
    message: Message | None = None

    def __post_init__(self) -> None:
        """Plans come at once unless a test says otherwise."""
        self.planning.set()


@dataclass
class ScriptedPrepared(PreparedAction):
    """Return a plan that is applied in two batches."""

    script: Script
    plan: Plan

    def apply(self, permission: Permission, tell: OnProgress, stopped: StopRequested) -> OperationResult:
        """Report the first batch, wait to be released or stopped, and end."""
        self.script.permissions.append(permission)
        if self.script.refuses:
            raise BadInput(self.script.refuses)
        total = self.plan.count
        tell(Progress(total, total // 2, 2, 1, 256.0, 2.3, "batches of 500; consumers wait 0.2 ms longer"))
        while not self.script.goes.wait(0.01):
            if stopped():
                return OperationResult(
                    "op-1", self.plan.kind, self.plan.queue, OperationState.CANCELLED, total // 2, 2, 1
                )
        if self.script.breaks is not None:
            raise self.script.breaks
        return OperationResult(
            "op-1", self.plan.kind, self.plan.queue, OperationState.DONE, total - 3, 2, 1, ("all of it is verified",)
        )


@dataclass
class ScriptedOperator(Operator):
    """The operator's interface to the screens."""

    script: Script

    def _prepared(self, kind: OperationKind, queue: str, choice: Choice, *more: object) -> PreparedAction:
        self.script.asked.append((kind, queue, choice, *more))
        self.script.planning.wait(20)
        if self.script.fault is not None:
            raise self.script.fault
        return ScriptedPrepared(self.script, self.script.make(kind, queue, choice))

    def requeue(self, layout: Layout, choice: Choice) -> PreparedAction:
        return self._prepared(OperationKind.REQUEUE, layout.queue, choice)

    def redrive(
        self,
        layout: Layout,
        choice: Choice,
        limits: RedriveLimits = RedriveLimits(),  # noqa: B008  # as the real one
    ) -> PreparedAction:
        return self._prepared(OperationKind.REDRIVE, layout.queue, choice, limits)

    def purge(self, layout: Layout, choice: Choice) -> PreparedAction:
        return self._prepared(OperationKind.PURGE, layout.queue, choice)

    def undo(self, operation: str, choice: Choice = Choice()) -> PreparedAction:  # noqa: B008  # as the real one
        return self._prepared(OperationKind.UNDO, "invoices", choice, operation)

    def pause(self, layout: Layout, side: Side, *, for_s: float = 900.0) -> PreparedAction:
        return self._prepared(OperationKind.PAUSE, layout.queue, Choice(), side, for_s)

    def resume(self, layout: Layout, side: Side) -> PreparedAction:
        return self._prepared(OperationKind.RESUME, layout.queue, Choice(), side)

    def repair(self, layout: Layout) -> PreparedAction:
        return self._prepared(OperationKind.REPAIR, layout.queue, Choice())

    def end_session(self, session: int, started_at: float | None) -> PreparedAction:
        return self._prepared(OperationKind.END_SESSION, f"session {session}", Choice(), session, started_at)

    def install_gate(self, layout: Layout) -> PreparedAction:
        return self._prepared(OperationKind.INSTALL_GATE, layout.queue, Choice())

    def remove_gate(self, layout: Layout) -> PreparedAction:
        return self._prepared(OperationKind.REMOVE_GATE, layout.queue, Choice())

    def empty_trash(self, queue: str | None, older_than_s: float) -> PreparedAction:
        return self._prepared(OperationKind.EMPTY_TRASH, queue or "", Choice(), older_than_s)

    def read_operations(self, limit: int = 100) -> tuple[Operation, ...]:
        """The history."""
        return self.script.history[:limit]

    def read_message(self, layout: Layout, id: str, owner: str | None = None) -> Message | None:
        """Remember the request, and answer with the script's message."""
        self.script.asked.append(("message", layout.queue, id, owner))
        if self.script.fault is not None:
            raise self.script.fault
        return self.script.message

    def read_pauses(self) -> tuple[PauseSample, ...]:
        """The pauses."""
        return self.script.paused


class ScriptedOffice(ActionRunner):
    """An office whose operator follows a script; nothing is ever connected."""

    def __init__(self, script: Script | None = None, *, read_only: str | None = None) -> None:
        self.script = script or Script()
        context = OperatorContext(
            _nowhere, engine_named("postgres"), Target("orders-prod", "postgres", {}), "anna@app-7", read_only
        )
        super().__init__(context, lambda _: ScriptedOperator(self.script))


def typed_plan(kind: OperationKind, queue: str, choice: Choice) -> Plan:
    """Return a plan on a target marked prod."""
    return plan(kind, queue, consent=Consent.TYPED)


def _nowhere(purpose: str) -> Connection:
    raise AssertionError(f"nothing connects here, not even for {purpose}")
