"""A gate is a trigger with which qmon can pause the producers of a queue that qmon did not install."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from qmon.engines.sql.queries import Name
from qmon.errors import BadInput, StatementStopped
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import OperationKind, Plan, Progress, Side, Undo, pause_subject
from qmon.operate.actions import pause_switch
from qmon.operate.actions.pause_switch import PauseMeans
from qmon.operate.context import OnProgress, OperatorContext, StopRequested
from qmon.operate.plan import allowed_actions
from qmon.operate.plan.library_queue import library_queue_for
from qmon.operate.plan.required_rights import why_not_permitted
from qmon.operate.run.running_operation import OperationRecord, PreparedAction, RunningOperation, refused_action
from qmon.operate.sql import Sql, Values
from qmon.texts import Text


class GateText(Text):
    """Texts of plans that install or remove a gate."""

    RETURNS_FAIL = (
        "workers that return a failed message by DELETE and INSERT are also refused: the worker's transaction is"
        " rolled back, and the message does not change"
    )
    INSTALL = "Install a gate on {table}?"
    REMOVED_BY = "remove-gate removes the gate again"
    NO_GATE = "{table} has no gate"
    NOT_OWNER = "only the owner of {table} may drop a trigger on it"
    REMOVE = "Remove the gate from {table}?"
    PRODUCERS_CONTINUE = "producers that the gate pauses continue immediately"
    INSTALLED_BY = "install-gate installs the gate again"
    BUSY = "the table is busy; attempts: {attempt}"
    LOCKED = (
        "{table} was locked at every attempt: a long transaction holds the lock (see blocking); nothing was changed;"
        " try again when the transaction has ended"
    )
    UNIT = "a trigger on {table}"
    SEVERAL_QUEUES = "on SQL Server a gate covers the whole table: it would also stop the producers of other queues"
    NOT_NEEDED = "this queue needs no gate, because its push has a pause switch: pause the queue"
    BUT_DISABLED = ", but it is disabled; remove it first"
    HAS_GATE = "{table} already has a gate"
    COVERED = "the gate of {above} also covers its partition {table}"
    NO_TABLE = "the table {table} does not exist"
    NOT_A_TABLE = "{table} is not a table: a gate is a trigger on a table"
    RIGHTS_MISSING = (
        "a gate needs the right to create a trigger on {table}, and the right to write to the schema qmon; your role"
        " lacks at least one of them; ask the table's owner"
    )
    LOCKS = (
        "locks the table ({lock}) for a moment: qmon tries up to {tries} times, for 0.2 s each time, and other"
        " sessions never wait longer than 0.2 s; if the table is never free, nothing is changed"
    )
    INSERT_FAILS_SQLSERVER = (
        "during a pause, an INSERT fails with error 770001 (before 2012: 50000) and the producer's whole transaction"
        " is rolled back; the identity value of the refused row is lost"
    )
    NUMBER_LOST = "the sequence number of the refused row is lost"
    NO_NUMBER_LOST = "no sequence number is lost"
    EVERY_PARTITION = (
        "the gate covers every partition, even if a partition is created or attached later; each partition checks its"
        " own inserts"
    )
    OF_QUEUE = " of messages of this queue"
    INSERT_FAILS = (
        "during a pause, INSERT and COPY{part} fail with SQLSTATE QM001 and the producer's whole transaction is rolled"
        " back, unless its session has set qmon.pause_wait_ms; {drawn}"
    )
    INSERTED_ROW = "inserted row"
    READS_SEQUENCE = "each {what} also reads a sequence, even if the queue is not paused"
    OTHER_QUEUES = "; for rows of other queues, the gate only checks the queue column"
    INSTEAD_OF = "the table has INSTEAD OF triggers: the gate checks the rows that these triggers insert"
    OUTPUT_FAILS = (
        "INSERT … OUTPUT without INTO fails from now on (error 334), even if the queue is not paused: do not install a"
        " gate if producers use this statement"
    )
    BULK_LOADS = "bulk loads and bcp bypass the gate unless they fire triggers (FIRE_TRIGGERS)"
    INHERITED = "tables that inherit from this table have no gate: inserts into such tables are not stopped"
    JOBS_REFUSED = "scheduled jobs and jobs pushed by other jobs are also refused"
    REPLICA_ROLE = "sessions with session_replication_role = replica, such as those of a subscription, bypass the gate"
    MOVES_FAIL = "consumers that move a row into another partition by UPDATE also fail, because the move is an insert"


# Maximum number of attempts to lock the table. Each attempt lasts 200 ms, followed by a pause of 200 ms.
TRIES: Final = 25
_PAUSE_S: Final = 0.2
_CANCELLED: Final = "57014"


@dataclass(frozen=True, slots=True)
class _GateRights:
    may_create: bool
    owns: bool
    kind: str
    instead: bool
    above: str | None
    heirs: bool

    @property
    def fires_for_each_row(self) -> bool:
        """Whether the gate fires for each row, as on partitions."""
        return self.kind in ("partitioned table", "partition")


def gate_fires_for_each_row(sql: Sql, layout: Layout) -> bool:
    """Return whether the gate of a table fires for each row."""
    return bool(gate_row_values(layout)) or any(
        each.fires_for_each_row
        for each in sql.fetch(_GateRights, "action/pause/gate_rights", {"table": layout.table.parts})
    )


def gate_row_values(layout: Layout) -> dict[str, str]:
    """Return the column values that select the rows of one queue for its gate.

    The result is empty if the gate covers the whole table.
    """
    queue = library_queue_for(layout)
    if queue is None or queue.group.queue is None or queue.value is None:
        return {}
    column, value = queue.push_mark
    return {queue.group.queue.name: queue.value} | ({} if column is None or value is None else {column: value})


def prepare_install_gate(context: OperatorContext, layout: Layout) -> PreparedAction:
    """Plan to put a gate on a table. The gate does nothing until the table's producers are paused."""
    title = GateText.INSTALL.render(table=layout.table)
    if (why := allowed_actions.why_not_allowed(layout, OperationKind.INSTALL_GATE)) is not None:
        return refused_action(context, OperationKind.INSTALL_GATE, layout.queue, title, why)
    with context.open_sql("install-gate") as sql:
        gate = pause_switch.find_gate(sql, layout)
        rights = sql.fetch(_GateRights, "action/pause/gate_rights", {"table": layout.table.parts})
        switch = _new_switch_name(context, layout)
        found = rights[0] if rights else None
        steps = _install_steps(context, layout, found)
        plan = _plan(
            context,
            layout,
            OperationKind.INSTALL_GATE,
            title,
            sql=tuple(sql.statement(f"action/pause/{name}", _names(layout, switch)).text for name in steps),
            consequences=_consequences(context, layout, found),
            risks=_risks(context, layout, found),
            undo=Undo(possible=False, notes=(GateText.REMOVED_BY,)),
            refused=why_not_permitted(context, sql) or _why_no_gate(context, layout, rights, gate),
        )

    def make(sql: Sql) -> None:
        looked_at = [*gate_row_values(layout).values(), None, None]
        for name in steps:
            values: Values = {"queue": looked_at[0], "pushed": looked_at[1]}
            sql.execute(f"action/pause/{name}", _names(layout, switch), values)

    return _prepared_action(context, layout, plan, make)


def prepare_remove_gate(context: OperatorContext, layout: Layout) -> PreparedAction:
    """Plan to remove the gate from a table. Producers that the gate pauses continue."""
    with context.open_sql("remove-gate") as sql:
        gate = pause_switch.find_gate(sql, layout)
        rights = sql.fetch(_GateRights, "action/pause/gate_rights", {"table": layout.table.parts})
        why = why_not_permitted(context, sql)
        if gate is None:
            why = why or GateText.NO_GATE.render(table=layout.table)
        elif not rights or not rights[0].owns:
            why = why or GateText.NOT_OWNER.render(table=layout.table)
        means = gate or PauseMeans("gate", _new_switch_name(context, layout), Side.PRODUCERS)
        steps = ("gate_drop",) if context.engine.name == "sqlserver" else ("gate_drop", "gate_drop_switch")
        plan = _plan(
            context,
            layout,
            OperationKind.REMOVE_GATE,
            GateText.REMOVE.render(table=layout.table),
            sql=tuple(sql.statement(f"action/pause/{name}", _names(layout, means.object)).text for name in steps),
            consequences=(
                GateText.PRODUCERS_CONTINUE,
                _lock_text("ACCESS EXCLUSIVE" if context.engine.name == "postgres" else "Sch-M"),
            ),
            undo=Undo(possible=False, notes=(GateText.INSTALLED_BY,)),
            refused=why,
        )

    def drop(sql: Sql) -> None:
        for name in steps:
            sql.execute(f"action/pause/{name}", _names(layout, means.object))
        by = {"about": pause_subject(layout), "side": str(means.side), "by": context.who}
        sql.execute("action/pause/lift", {}, by)

    return _prepared_action(context, layout, plan, drop)


@dataclass(frozen=True, slots=True)
class _ChangeUnderLock:
    """Change a table under a lock. Each attempt to lock the table has a short timeout.

    ``stopped()`` ends the attempts.
    """

    table: ObjectName
    change: Callable[[Sql], None]

    def __call__(self, sql: Sql, operation: RunningOperation, on_progress: OnProgress, stopped: StopRequested) -> None:
        nothing = threading.Event()
        for attempt in range(1, TRIES + 1):
            try:
                with operation.batch() as tally:
                    sql.execute("action/pause/briefly", {})
                    self.change(sql)
                    tally.done = 1
                return
            except StatementStopped as problem:
                if problem.sqlstate == _CANCELLED:
                    raise
            if stopped():
                operation.mark_cancelled()
                return
            on_progress(Progress(1, note=GateText.BUSY.render(attempt=attempt)))
            nothing.wait(_PAUSE_S)
        raise BadInput(GateText.LOCKED.render(table=self.table))


def _prepared_action(
    context: OperatorContext, layout: Layout, plan: Plan, change: Callable[[Sql], None]
) -> PreparedAction:
    work, record = _ChangeUnderLock(layout.table, change), OperationRecord(str(layout.table))
    return PreparedAction(context, plan, work, record, ensure=pause_switch.ensure_pause_tables)


def _install_steps(context: OperatorContext, layout: Layout, rights: _GateRights | None) -> tuple[str, ...]:
    if context.engine.name == "sqlserver":
        return ("gate_trigger", "gate_switch")
    if gate_row_values(layout):
        return ("gate_switch", "gate_grant", "gate_queue", "gate_trigger_queue")
    rows = rights is not None and rights.fires_for_each_row
    return ("gate_switch", "gate_grant", "gate_trigger_rows" if rows else "gate_trigger")


def _new_switch_name(context: OperatorContext, layout: Layout) -> ObjectName:
    """Return an unused name for the gate's sequence (PostgreSQL) or trigger (SQL Server)."""
    if context.engine.name == "sqlserver":
        return pause_switch.gate_name(layout.table)
    return ObjectName("qmon", f"gate_{uuid.uuid4().hex}")


def _names(layout: Layout, switch: ObjectName) -> dict[str, Name]:
    columns: list[str | None] = [*gate_row_values(layout), None, None]
    names: dict[str, Name] = {"table": layout.table.parts, "switch": switch.parts, "gate": switch.parts}
    return names | {"trigger": pause_switch.gate_trigger(layout), "queue": columns[0], "pushed": columns[1]}


def _plan(
    context: OperatorContext,
    layout: Layout,
    kind: OperationKind,
    title: str,
    *,
    sql: tuple[str, ...],
    consequences: tuple[str, ...],
    undo: Undo,
    refused: str | None,
    risks: tuple[str, ...] = (),
) -> Plan:
    return Plan(
        kind,
        context.target.name,
        layout.queue,
        title,
        count=1,
        unit="trigger",
        predicate=GateText.UNIT.render(table=layout.table),
        sql=sql,
        seconds=0.2,
        undo=undo,
        consequences=consequences,
        risks=risks,
        consent=context.required_consent(),
        refused=refused,
    )


def _why_no_gate(
    context: OperatorContext, layout: Layout, rights: list[_GateRights], gate: PauseMeans | None
) -> str | None:
    if context.engine.name == "sqlserver" and gate_row_values(layout):
        return GateText.SEVERAL_QUEUES
    if layout.switch is not None:
        return GateText.NOT_NEEDED
    if gate is not None:
        return GateText.HAS_GATE.render(table=layout.table) + ("" if gate.enabled else GateText.BUT_DISABLED)
    if rights and rights[0].above is not None:
        return GateText.COVERED.render(above=rights[0].above, table=layout.table)
    if not rights:
        return GateText.NO_TABLE.render(table=layout.table)
    if rights[0].kind == "other":
        return GateText.NOT_A_TABLE.render(table=layout.table)
    if not rights[0].may_create:
        return GateText.RIGHTS_MISSING.render(table=layout.table)
    return None


def _lock_text(lock: str) -> str:
    return GateText.LOCKS.render(lock=lock, tries=TRIES)


def _consequences(context: OperatorContext, layout: Layout, rights: _GateRights | None) -> tuple[str, ...]:
    if context.engine.name == "sqlserver":
        return (
            GateText.INSERT_FAILS_SQLSERVER,
            _lock_text("Sch-M"),
        )
    part = bool(gate_row_values(layout))
    rows = part or (rights is not None and rights.fires_for_each_row)
    drawn = GateText.NUMBER_LOST if rows else GateText.NO_NUMBER_LOST
    every = (GateText.EVERY_PARTITION,)
    return (
        GateText.INSERT_FAILS.render(part=GateText.OF_QUEUE if part else "", drawn=drawn),
        *(every if rights is not None and rights.kind == "partitioned table" else ()),
        GateText.READS_SEQUENCE.render(what=GateText.INSERTED_ROW if rows else "INSERT")
        + (GateText.OTHER_QUEUES if part else ""),
        _lock_text("SHARE ROW EXCLUSIVE"),
    )


def _risks(context: OperatorContext, layout: Layout, rights: _GateRights | None) -> tuple[str, ...]:
    if context.engine.name == "sqlserver":
        instead = (GateText.INSTEAD_OF,)
        return (
            GateText.RETURNS_FAIL,
            GateText.OUTPUT_FAILS,
            GateText.BULK_LOADS,
            *(instead if rights and rights.instead else ()),
        )
    heirs = (GateText.INHERITED,)
    return (
        *gate_limits(layout, rows=rights is not None and rights.fires_for_each_row),
        *(heirs if rights and rights.heirs else ()),
    )


def gate_limits(layout: Layout, *, rows: bool) -> tuple[str, ...]:
    """Describe which other statements a gate on PostgreSQL also stops, and which statements bypass the gate."""
    if gate_row_values(layout):
        return (
            GateText.JOBS_REFUSED,
            GateText.REPLICA_ROLE,
        )
    moved = (GateText.MOVES_FAIL,)
    return (
        GateText.RETURNS_FAIL,
        *(moved if rows else ()),
        GateText.REPLICA_ROLE,
    )
