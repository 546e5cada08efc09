"""Applies a prepared plan once. All actions use this module."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qmon.errors import BadInput
from qmon.model.operation_records import OperationKind, OperationResult, Plan
from qmon.operate.context import OnProgress, OperatorContext, Permission, StopRequested
from qmon.operate.run.running_operation import OperationRecord, RunningOperation, check_permission, run_operation
from qmon.operate.sql import Sql
from qmon.texts import Text


class ApplyText(Text):
    """Why a plan cannot be applied."""

    APPLIED = "this plan was already applied; plan again; nothing was changed"
    NOTHING_TO_DO = "there is nothing to do"
    UNCHANGED = "{reason}; nothing was changed"


# Runs an operation after its start is recorded and before its end is recorded.
Work = Callable[[Sql, RunningOperation, OnProgress, StopRequested], None]


class PreparedAction:
    """A plan made from the state of the server. An operator can apply the plan once, or discard it.

    ``work``: the function that runs the operation; ``None`` if the plan is refused. ``record``: the part of the record
    that is not in the plan. ``ensure``: creates missing tables before the operation starts. If qmon is read-only, every
    plan is refused.
    """

    def __init__(
        self,
        context: OperatorContext,
        plan: Plan,
        work: Work | None = None,
        record: OperationRecord | None = None,
        ensure: Callable[[Sql], None] | None = None,
    ) -> None:
        self.plan = plan if context.read_only is None else replace(plan, refused=context.read_only)
        self._context, self._work, self._record, self._ensure = context, work, record, ensure
        self._applied = False

    def apply(self, permission: Permission, on_progress: OnProgress, stopped: StopRequested) -> OperationResult:
        """Run the plan in batches until it is done or ``stopped()`` is true. Writes the audit before and after.

        Raises ``BadInput``, with nothing changed, if the permission does not suffice or the plan cannot be applied.
        Also raises ``ReadOnly``, ``AuditFailed``, ``ConnectionLost`` and other server errors. After an error, committed
        batches remain, and the operation counts as interrupted. A new plan covers the remaining messages. If the
        connection is lost during a commit, the result has the state unknown and names the batch. A plan cannot be
        applied twice, because the first application changes the database.
        """
        if self._applied:
            raise BadInput(ApplyText.APPLIED)
        check_permission(self._context, self.plan, permission)
        if self._work is None:
            raise BadInput(ApplyText.UNCHANGED.render(reason=self.plan.refused or ApplyText.NOTHING_TO_DO))
        with self._context.open_sql(str(self.plan.kind)) as sql:
            if self._ensure is not None:
                self._ensure(sql)
            with run_operation(self._context, sql, self.plan, permission, self._record) as operation:
                self._applied = True
                self._work(sql, operation, on_progress, stopped)
            return operation.result()


def refused_action(context: OperatorContext, kind: OperationKind, queue: str, title: str, why: str) -> PreparedAction:
    """Return a refused plan, which only contains the reason."""
    return PreparedAction(context, Plan(kind, context.target.name, queue, title, refused=why))
