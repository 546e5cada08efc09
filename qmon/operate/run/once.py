"""A plan that is applied once: what the prepared actions have in common."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from qmon.engines.base import Connection
from qmon.errors import BadInput
from qmon.model.operations import Plan
from qmon.operate.context import OperatorContext, Permission
from qmon.operate.run.operation import Record, Running, check, running


class AppliedOnce:
    """See ``Prepared``. Once its operation has begun, it is not applied again: the server has moved on."""

    def __init__(self, context: OperatorContext, plan: Plan) -> None:
        self._context, self._plan = context, plan
        self._applied = False

    @property
    def plan(self) -> Plan:
        """What will be done."""
        return self._plan

    def _check(self, permission: Permission) -> None:
        """Raise ``ReadOnly`` or ``BadInput`` unless the plan may be applied now, with this permission."""
        if self._applied:
            raise BadInput("this plan was applied already; plan again; nothing was changed")
        check(self._context, self._plan, permission)

    @contextlib.contextmanager
    def _running(self, connection: Connection, permission: Permission, record: Record) -> Iterator[Running]:
        """The operation; see ``running``."""
        with running(self._context, connection, self._plan, permission, record) as work:
            self._applied = True
            yield work
