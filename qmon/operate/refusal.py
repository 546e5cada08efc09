"""A plan for what a queue does not allow at all: it says why, and cannot be applied."""

from __future__ import annotations

from qmon.errors import BadInput
from qmon.model.layout import Layout
from qmon.model.operations import Kind, Plan, Result
from qmon.operate.acting import Desk, Permission, Prepared, Stopped, Tell
from qmon.operate.allowed import why_not
from qmon.operate.once import Once


class Refusal(Once):
    """See ``Prepared``."""

    def apply(self, permission: Permission, tell: Tell, stopped: Stopped) -> Result:
        """Raises ``ReadOnly`` or ``BadInput``, with nothing changed."""
        self._check(permission)
        raise BadInput(f"{self._plan.refused}; nothing was changed")


def refusal(desk: Desk, layout: Layout, kind: Kind) -> Prepared | None:
    """The refused plan, where the queue does not allow this; no server is asked."""
    why = why_not(layout, kind)
    if why is None:
        return None
    title = f"{kind.value.replace('-', ' ').capitalize()}: {layout.queue}"
    refused = desk.read_only or why
    return Refusal(desk, Plan(kind, desk.target.name, layout.queue, title, 0, "messages", "", (), refused=refused))
