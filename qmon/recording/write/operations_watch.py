"""Records the operations of every qmon on a target. They are read from the target's database every few seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from qmon.engines.base import Connection
from qmon.errors import NoConnectionLeft, QmonError
from qmon.model.operation_records import Operation
from qmon.operate.context import OperatorContext
from qmon.operate.run.operation_history import read_operations
from qmon.operate.sql import Sql

READ_EVERY_S: Final = 5.0

# Seconds between checks whether polling has started.
_SOON_S: Final = 0.5

# Seconds to wait before the next attempt if the server has no connection left.
_NO_CONNECTION_S: Final = 60.0
_LIMIT: Final = 50
_RECENT_S: Final = 3600.0


class OperationsWatch:
    """Records each new or changed operation, on its own thread, until closed.

    ``record`` is called with each operation. ``is_connected``: returns whether the poller has a connection.
    The watch has a connection only while the poller has one, so that it never takes the server's last connection.
    When ``close`` is called, the poller has released its connection, so ``close`` reads once more. The first read also
    finds older operations. Of these, operations that began more than an hour before the newest operation are not
    recorded. If the database has no operations table, or the role may not read this table, no operations are recorded.
    """

    def __init__(
        self,
        context: OperatorContext,
        record: Callable[[Operation], object],
        is_connected: Callable[[], bool],
        every_s: float = READ_EVERY_S,
    ) -> None:
        self._context = context
        self._record = record
        self._is_connected = is_connected
        self._connection: Connection | None = None
        self._every_s = every_s
        self._known: dict[str, Operation] = {}
        self._since_at: float | None = None
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="qmon-operations", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Read once more to record an operation that has just ended, then stop. Waits at most two seconds."""
        self._closing.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        last = False
        while not last:
            last = self._closing.is_set()
            rest_s = self._every_s
            try:
                if last or self._is_connected():
                    self._read_operations()
                else:
                    self._disconnect()
                    rest_s = min(rest_s, _SOON_S)
            except NoConnectionLeft:
                rest_s = max(rest_s, _NO_CONNECTION_S)
            except QmonError:  # the poller reports problems of the target
                self._disconnect()
            if not last:
                self._closing.wait(rest_s)
        self._disconnect()

    def _read_operations(self) -> None:
        self._connection = self._connection or self._context.connect("record")
        rows = read_operations(Sql(self._connection, self._context.engine), limit=_LIMIT)
        self._record_changes(tuple(each.to_operation() for each in rows))

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _record_changes(self, operations: tuple[Operation, ...]) -> None:
        if self._since_at is None and operations:
            self._since_at = max(each.started_at for each in operations) - _RECENT_S
        for each in reversed(operations):
            if each.started_at >= (self._since_at or 0.0) and self._known.get(each.id) != each:
                self._record(each)
        self._known = {each.id: each for each in operations}
