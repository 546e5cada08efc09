"""The statements of the workload for one queue, and the check that the workload may drive the queue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from qmon.engines.base import Bound, Connection, Engine, Statement, Value
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout
from qmon.texts import Text


class WorkloadStatementText(Text):
    """Why a load may not use a queue."""

    NOT_INSTALLED = (
        "{queue} was not installed by qmon, and a load would write to this queue; install a separate queue with: qmon"
        " design install"
    )


# The routine of a design that each statement calls.
_ROUTINES = {
    "push": "push",
    "push_batch": "push_batch",
    "pop": "pop",
    "pop_batch": "pop_batch",
    "pop_subscriber": "pop",
    "take": "pop",
    "take_batch": "pop_batch",
    "complete": "complete",
    "complete_batch": "complete_batch",
    "fail": "fail",
    "requeue": "requeue",
    "archive": "archive",
    "repair": "repair",
}
_FOLDER: Final = "action/workload/"

# Columns that contain a count.
_COUNT_COLUMNS: Final = frozenset({"pushed", "holes", "orphans"})

# Table types of SQL Server, each with the routine that has a parameter of this type. In the name of the type, the first
# word replaces the second.
_TABLE_TYPES: Final = {"messages": "push_batch", "ids": "complete_batch"}

# The statements that lock the next messages, for designs whose next messages are not the oldest messages.
_HOLD_STATEMENTS = {"lifo": "hold_newest", "due": "hold_due", "any": "hold_any"}


def check_drivable(layout: Layout) -> Layout:
    """Return the layout if the workload may drive it. Raises ``BadInput`` for a table that qmon did not install."""
    if layout.routine_for("push") is None or layout.routine_for("pop") is None:
        raise BadInput(WorkloadStatementText.NOT_INSTALLED.render(queue=layout.queue))
    return layout


def table_type_for(layout: Layout, slot: str) -> tuple[str, ...] | None:
    """Return the SQL Server table type for a slot of a statement; ``None`` if the slot is not a table type."""
    taker = layout.routine_for(_TABLE_TYPES.get(slot, ""))
    return None if taker is None else (taker.schema, taker.name.removesuffix(_TABLE_TYPES[slot]) + slot)


class WorkloadStatements:
    """The statements of one queue on one connection. Each statement is rendered once."""

    def __init__(self, engine: Engine, layout: Layout, version: tuple[int, int]) -> None:
        self.layout = check_drivable(layout)
        self._engine = engine
        self._version = version
        self._known: dict[str, Statement] = {}

    def has_routine(self, name: str) -> bool:
        """Return whether the design has the routine that this statement calls."""
        return self.layout.routine_for(_ROUTINES[name]) is not None

    def bind(self, name: str, values: Mapping[str, Value] | None = None) -> Bound:
        """Return the statement with its values."""
        statement = self._known.get(name)
        if statement is None:
            statement = self._known[name] = self._render(name)
        return Bound(statement, values or {})

    def fetch_value(self, connection: Connection, name: str, values: Mapping[str, Value] | None = None) -> object:
        """Run a statement that returns a single value, and return the value."""
        return connection.fetch(self.bind(name, values)).rows[0][0]

    def push_message(self, connection: Connection, payload: str) -> object:
        """Push a message. Return its id, or ``None`` if a ring is full."""
        return self.fetch_value(connection, "push", {"payload": self._payload_value(payload)})

    def push_batch(self, connection: Connection, payloads: Sequence[str]) -> int:
        """Push messages. Return their number."""
        return self._fetch_count(
            connection, self._push_batch_statement(), {"payloads": self._engine.texts_value(payloads)}
        )

    def complete_batch(self, connection: Connection, popped: Sequence[tuple[str, int]]) -> int:
        """Complete messages, and return how many were still in progress.

        ``popped``: the ids and attempts that pop returned.
        """
        ids = self._engine.texts_value(id for id, _ in popped)
        attempts = self._engine.texts_value(str(attempt) for _, attempt in popped)
        return int(str(self.fetch_value(connection, "complete_batch", {"ids": ids, "attempts": attempts})))

    def repair_ring(self, connection: Connection, age_s: float) -> int:
        """Repair a ring's holes and orphans that are older than ``age_s`` seconds.

        Return the number of filled holes and requeued orphans.
        """
        return self._fetch_count(connection, "repair", {"age": age_s})

    def _fetch_count(self, connection: Connection, name: str, values: Mapping[str, Value]) -> int:
        """Run a routine that returns either a row of counts or one row per message, and return the count."""
        found = connection.fetch(self.bind(name, values))
        if _COUNT_COLUMNS.issuperset(found.columns):
            return sum(int(str(number)) for number in found.rows[0])
        return len(found.rows)

    def _payload_value(self, payload: str) -> Value:
        return self._engine.bytes_value(payload) if self.layout.traits.binary else payload

    def _push_batch_statement(self) -> str:
        """Return the name of the statement that pushes a batch. Some engines have a separate statement for bytes."""
        own = "push_batch_bytes"
        binary = self.layout.traits.binary and queries.has_query(self._engine.name, f"{_FOLDER}{own}", self._version)
        return own if binary else "push_batch"

    def count_ready(self, connection: Connection) -> int:
        """Count the ready messages (in a ring: the occupied slots) one by one."""
        return max(self.count_ready_by_subscriber(connection))

    def count_ready_by_subscriber(self, connection: Connection) -> tuple[int, ...]:
        """Count the ready messages for each subscriber of a ring. Return one number if there are no subscribers."""
        name, values = self._depth_statement()
        return tuple(int(str(row[0])) for row in connection.fetch(self.bind(name, values)).rows)

    def _depth_statement(self) -> tuple[str, dict[str, Value]]:
        if (ring := self.layout.ring) is not None:
            if ring.subscribers:
                return "depth_subscribers", {"subscribers": len(ring.subscribers)}
            return "depth_ring", {}
        return "depth", {"ready": self._ready_value()}

    def hold_statement(self, rows: int) -> Bound:
        """Return the statement that locks the next messages (in a heap: any messages) until the transaction ends."""
        if self.layout.ring is not None:
            return self.bind("hold_ring", {"rows": rows})
        if (name := _HOLD_STATEMENTS.get(self.layout.traits.order)) is not None:
            return self.bind(name, {"rows": rows})
        return self.bind("hold", {"rows": rows, "ready": self._ready_value()})

    def _ready_value(self) -> Value:
        # Without a state column, no statement uses this value.
        return "" if self.layout.state is None else str(self.layout.state.ready)

    def _render(self, name: str) -> Statement:
        query = queries.load_query(self._engine.name, f"{_FOLDER}{name}", self._version)
        return queries.render(query, {slot: self._name_for(slot) for slot in query.names}, self._engine)

    def _name_for(self, slot: str) -> Name:
        layout, ring = self.layout, self.layout.ring
        if (routine := layout.routine_for(slot)) is not None:
            return routine.parts
        if (taken := table_type_for(layout, slot)) is not None:
            return taken
        if slot == "table":
            return layout.table.parts
        if slot == "state":
            return None if layout.state is None else layout.state.column
        if slot == "id":
            return layout.id
        if slot == "due_at":
            return layout.due_at
        if ring is not None:
            of_ring: dict[str, Name] = {
                "slot": ring.slot,
                "message_id": ring.message_id,
                "unread": ring.unread,
                "pop_seq": ring.pop_sequence.parts,
                "size": ring.size,
            }
            return of_ring.get(slot)
        return None
