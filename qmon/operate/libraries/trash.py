"""The trash of a library's queue: a copy of each row that its discard deletes, where an undo can put all of it back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from qmon.engines.sql.queries import Name
from qmon.operate.actions import undo_tables
from qmon.operate.plan.library_queue import LibraryQueue
from qmon.operate.run.operation import Running
from qmon.operate.sql import Sql, Values
from qmon.operate.table import Structure, read_structure


@dataclass(frozen=True, slots=True)
class Trash:
    """Keeps copies of rows, in the transaction that deletes them."""

    queue: LibraryQueue
    structure: Structure

    def begin(self, sql: Sql, operation: Running) -> Callable[[Values], None]:
        """Make it where it is missing; returns what keeps the rows of one batch."""
        group, columns = self.queue.group, self.structure.kept
        store = undo_tables.ensure(sql, "trash", self.structure, columns)
        rows = self.queue.names.rows(group.states)
        own: dict[str, Name] = {"table": rows["table"], "queue": rows["queue"], "key": group.id}
        names = own | {"trash": store.parts, "columns": columns}

        def keep(values: Values) -> None:
            sql.execute("library/keep", names, {**values, "operation": operation.id})

        return keep

    def frozen(self) -> dict[str, object]:
        """What the undo finds and shows the rows by."""
        group, there = self.queue.group, self.structure.kept
        shown = {"attempts": group.attempts, "payload": group.payload}
        columns: dict[str, object] = {
            name: column.name if column is not None and column.lookup is None and column.name in there else None
            for name, column in shown.items()
        }
        none = {"state": None, "since": None, "owner": None}
        return {"columns": {"called": [group.id]} | columns | none, "data_table": None, "data_id": None}


def find_trash(sql: Sql, queue: LibraryQueue, statement: str) -> Trash | str:
    """The trash, or why there can be none: other tables change with the messages, which no undo would set right."""
    structure = read_structure(sql, queue.group.table)
    written = (str(table) for table in queue.writes(sql, statement))
    if others := {*written, *structure.named("cascade")} - {str(structure.table)}:
        return f"there is no undo: rows of {', '.join(sorted(others))} change with them"
    return Trash(queue, structure)
