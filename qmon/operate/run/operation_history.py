"""Reads the operation history of a database, and which operations can be undone."""

from __future__ import annotations

import json
from dataclasses import dataclass

from qmon.model.operation_records import Operation, OperationKind, OperationState, UndoState
from qmon.operate.run.running_operation import read_audit_access
from qmon.operate.sql import Sql


@dataclass(frozen=True, slots=True)
class OperationRow:
    """A row of ``qmon.operations``."""

    id: str
    kind: str
    queue: str
    about: str
    by: str
    login: str
    reason: str
    predicate: str
    frozen: str
    planned: int
    done: int
    skipped: int
    changed: int
    refused: int
    started_at: float
    ended_at: float | None
    state: str
    notes: str
    undo_of: str | None
    undoable: bool
    undone: int
    emptied: int

    @property
    def undo_state(self) -> UndoState:
        """Whether the operation can be undone; see ``Operation``."""
        if not self.undoable or self.done == 0:
            return UndoState.NO
        if self.undone >= self.done:
            return UndoState.UNDONE
        if self.undone + self.emptied >= self.done:
            return UndoState.GONE
        return UndoState.PARTLY_UNDONE if self.undone else UndoState.POSSIBLE

    def to_operation(self) -> Operation:
        """Convert the row to the record that the screens show."""
        details = {"about": self.about, "login": self.login, "predicate": self.predicate}
        for number, note in enumerate(json.loads(self.notes), 1):
            details[f"note {number}"] = str(note)
        return Operation(
            id=self.id,
            kind=OperationKind(self.kind),
            queue=self.queue,
            state=OperationState(self.state),
            by=self.by,
            reason=self.reason,
            planned=self.planned,
            done=self.done,
            skipped=self.skipped,
            changed=self.changed,
            refused=self.refused,
            started_at=self.started_at,
            ended_at=self.ended_at,
            undo_state=self.undo_state,
            undo_of=self.undo_of,
            details={name: value for name, value in details.items() if value},
        )


def read_operations(sql: Sql, *, limit: int, id: str | None = None) -> list[OperationRow]:
    """Read the latest operations, newest first. The result is empty if this database records no operations.

    Raises ``PermissionMissing``.
    """
    if not read_audit_access(sql).recorded:
        return []
    return sql.fetch(OperationRow, "control/operations", {}, {"id": id, "limit": limit})
