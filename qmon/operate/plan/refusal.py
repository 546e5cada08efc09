"""A plan for what a queue does not allow at all: it says why, and cannot be applied."""

from __future__ import annotations

from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.model.operations import Kind, OperationResult, Plan
from qmon.operate.context import OperatorContext, Permission, PreparedAction, Stopped, Tell
from qmon.operate.plan.allowed import why_not
from qmon.operate.run.once import AppliedOnce


class Refusal(AppliedOnce):
    """See ``PreparedAction``."""

    def apply(self, permission: Permission, tell: Tell, stopped: Stopped) -> OperationResult:
        """Raises ``ReadOnly`` or ``BadInput``, with nothing changed."""
        self._check(permission)
        raise BadInput(f"{self._plan.refused}; nothing was changed")


def refusal(context: OperatorContext, layout: Layout, kind: Kind) -> PreparedAction | None:
    """The refused plan, where the queue does not allow this; no server is asked."""
    why = why_not(layout, kind)
    if why is None:
        return None
    title = f"{kind.value.replace('-', ' ').capitalize()}: {layout.queue}"
    refused = context.read_only or why
    return Refusal(
        context, Plan(kind, context.target.name, layout.queue, title, 0, "messages", "", (), refused=refused)
    )
