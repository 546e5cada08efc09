"""A plan over frozen rows, ready to be applied once: what requeue, purge and undo have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.operations import OperationResult, Plan
from qmon.operate.context import OperatorContext, Permission, Stopped, Tell
from qmon.operate.plan.row_set import Mark, RowSet
from qmon.operate.run.batches import Batches, Move, RowRefused
from qmon.operate.run.once import AppliedOnce
from qmon.operate.run.operation import Record, Running, Tally
from qmon.operate.run.pacing import BatchPace
from qmon.operate.sql import Sql


@dataclass(frozen=True, slots=True)
class BatchWork:
    """What applying does: ``begin`` makes what is missing and returns what moves one batch; ``named``: see there."""

    rows: RowSet
    record: Record
    begin: Callable[[Sql, Running], Move]
    named: Callable[[Sql, Mark], str]
    pace: Callable[[], BatchPace] = field(default=BatchPace)


class PreparedRows(AppliedOnce):
    """See ``Prepared``. ``work`` is ``None`` where the plan is refused."""

    def __init__(self, context: OperatorContext, plan: Plan, work: BatchWork | None) -> None:
        super().__init__(context, plan)
        self._work = work

    def apply(self, permission: Permission, tell: Tell, stopped: Stopped) -> OperationResult:
        """See ``Prepared``."""
        self._check(permission)
        if self._work is None:
            raise BadInput(f"{self._plan.refused}; nothing was changed")
        work, plan = self._work, self._plan
        with contextlib.closing(self._context.connect(str(plan.kind))) as connection:
            sql = Sql(connection, self._context.engine)
            with self._running(connection, permission, work.record) as operation:
                sql.set_up("settle")
                move = work.begin(sql, operation)
                batches = Batches(operation, connection, plan.count, tell, stopped, work.pace())
                batches.work(work.rows, move, partial(work.named, sql))
            return operation.result()


@dataclass(frozen=True, slots=True)
class _Locked:
    key: str
    locked: bool | None


def lock(
    sql: Sql, name: str, names: Mapping[str, Name], values: Mapping[str, Value], marks: Sequence[Mark], tally: Tally
) -> tuple[list[Mark], list[Mark]]:
    """Lock what is still as the plan saw it: rows that are ours now, and rows that others hold. Counts the changed.

    Raises ``RowRefused`` where row level security lets us see a row that it keeps us from locking.
    """
    found = {row.key: row.locked for row in sql.fetch(_Locked, name, names, values)}
    if None in found.values():
        raise RowRefused("row level security keeps this role from changing it")
    tally.changed += sum(key not in found for key, _ in marks)
    return [mark for mark in marks if found.get(mark[0])], [mark for mark in marks if found.get(mark[0]) is False]
