"""The one door to acting: keys and commands prepare every action here, see its plan, and apply it or leave it."""

from __future__ import annotations

import contextlib

from qmon.model.layout import Layout
from qmon.model.operations import Choice, Operation
from qmon.operate.acting import Desk, Prepared
from qmon.operate.operations import recorded
from qmon.operate.requeue import prepare_requeue


class Operator:
    """Prepares actions for one target. Preparing only reads; each call has a connection of its own."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def requeue(self, layout: Layout, choice: Choice) -> Prepared:
        """Messages in progress whose popper is dead, or that are stuck, are to be ready again. Raises ``BadInput``."""
        return prepare_requeue(self.desk, layout, choice)

    def operations(self, limit: int = 100) -> tuple[Operation, ...]:
        """What was done here, the last first; none where this database keeps no operations."""
        with contextlib.closing(self.desk.connect("operations")) as connection:
            return tuple(each.operation() for each in recorded(connection, self.desk.engine, limit=limit))
