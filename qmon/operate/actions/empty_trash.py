"""Empties the trash. This is the only action that deletes data permanently."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import partial

from qmon.engines.base import Value
from qmon.errors import BadInput
from qmon.model.formatting import duration
from qmon.model.layout.layout import ObjectName
from qmon.model.operation_records import Nothing, OperationKind, Plan, Undo
from qmon.operate.actions import undo_tables
from qmon.operate.actions.undo_tables import Store
from qmon.operate.context import OnProgress, OperatorContext, StopRequested
from qmon.operate.plan.required_rights import why_no_record, why_not_permitted
from qmon.operate.plan.selection import read_owner_facts
from qmon.operate.run.batches import Batches
from qmon.operate.run.operation_history import read_operations
from qmon.operate.run.running_operation import (
    OperationRecord,
    PreparedAction,
    RunningOperation,
    Tally,
    read_audit_access,
)
from qmon.operate.sql import Sql
from qmon.texts import Text


class EmptyTrashText(Text):
    """Texts of a plan that empties the trash."""

    NOT_AN_AGE = "{age:g} seconds is not an age"
    TITLE = "Permanently delete {count:,} rows of the trash"
    ROWS = "rows of trash"
    OF_QUEUE = ", of {queue}"
    PURGED_BEFORE = "purged more than {age} ago"
    NO_UNDO = "deleted rows cannot be restored"
    UNDO_LOST = "operation {operation} can no longer be undone"


@dataclass(frozen=True, slots=True)
class _OldRows:
    operation: str
    count: int


@dataclass(frozen=True, slots=True)
class _TrashPart:
    """The rows of one operation in one store. ``leading``: true for the queue's table, false for the second table."""

    store: Store
    operation: str
    count: int
    leading: bool


def prepare_empty_trash(context: OperatorContext, queue: str | None, older_than_s: float) -> PreparedAction:
    """Plan to delete trash older than ``older_than_s`` seconds, of one queue or of all queues. Raises ``BadInput``.

    If ``queue`` is ``None`` (all queues), the plan's ``queue`` is the target's name. On a production target the
    operator must type this name to confirm the plan.
    """
    if not (older_than_s >= 0 and math.isfinite(older_than_s)):
        raise BadInput(EmptyTrashText.NOT_AN_AGE.render(age=older_than_s))
    with context.open_sql("trash plan") as sql:
        before = read_owner_facts(sql).epoch - older_than_s
        seen = read_audit_access(sql).recorded and why_no_record(sql) is None
        parts = _read_parts(sql, queue, older_than_s) if seen else []
        count = sum(part.count for part in parts)
        age = duration(older_than_s)
        plan = Plan(
            kind=OperationKind.EMPTY_TRASH,
            target=context.target.name,
            queue=queue or context.target.name,
            title=EmptyTrashText.TITLE.render(count=count),
            count=count,
            unit=EmptyTrashText.ROWS,
            predicate=EmptyTrashText.PURGED_BEFORE.render(age=age)
            + (EmptyTrashText.OF_QUEUE.render(queue=queue) if queue else ""),
            sql=tuple(sql.statement("empty_trash", {"trash": part.store.parts}).text for part in parts[:1]),
            undo=Undo(possible=False, notes=(EmptyTrashText.NO_UNDO,)),
            risks=tuple(EmptyTrashText.UNDO_LOST.render(operation=name) for name in _operation_ids(parts)),
            consent=context.required_consent(),
            refused=why_not_permitted(
                context, sql, "DELETE", *dict.fromkeys(ObjectName(*part.store.parts) for part in parts)
            )
            or (None if count else Nothing.NO_TRASH),
        )
    record = OperationRecord("trash", {"before": before, "operations": _operation_ids(parts)})
    return PreparedAction(context, plan, _EmptyTrash(before, parts, count), record)


@dataclass(frozen=True, slots=True)
class _EmptyTrash:
    """Delete the rows of these parts if they were purged before ``before`` (seconds since the epoch)."""

    before: float
    parts: list[_TrashPart]
    count: int

    def __call__(self, sql: Sql, operation: RunningOperation, on_progress: OnProgress, stopped: StopRequested) -> None:
        batches = Batches(operation, sql.connection, self.count, on_progress, stopped)
        for part in self.parts:
            batches.repeat_batches(part.count, partial(self._delete_batch, sql, part))

    def _delete_batch(self, sql: Sql, part: _TrashPart, tally: Tally, size: int) -> int:
        values: dict[str, Value] = {"operation": part.operation, "before": self.before, "limit": size}
        tally.done = sql.execute("empty_trash", {"trash": part.store.parts}, values)
        if part.leading:
            sql.execute("emptied", {}, {"done": tally.done, "id": part.operation})
        return tally.done


def _read_parts(sql: Sql, queue: str | None, older_than_s: float) -> list[_TrashPart]:
    out: list[_TrashPart] = []
    known: dict[str, tuple[str, str]] = {}
    for store in undo_tables.read_stores(sql, "trash"):
        found = sql.fetch(_OldRows, "choose_old", {"trash": store.parts}, {"older_than": older_than_s})
        for row in found:
            if row.operation not in known:
                done = read_operations(sql, limit=1, id=row.operation)
                known[row.operation] = (done[0].queue, done[0].about) if done else ("", "")
            of, about = known[row.operation]
            if queue in (None, of):
                out.append(_TrashPart(store, row.operation, row.count, about == store.about))
    return out


def _operation_ids(parts: list[_TrashPart]) -> list[str]:
    return sorted(Counter(part.operation for part in parts))
