"""The one door to acting: keys and commands prepare every action here, see its plan, and apply it or leave it."""

from __future__ import annotations

import contextlib

from qmon.model.operations import Operation
from qmon.operate.acting import Desk
from qmon.operate.operations import recorded


class Operator:
    """Prepares actions for one target. Preparing only reads; each call has a connection of its own."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def operations(self, limit: int = 100) -> tuple[Operation, ...]:
        """What was done here, the last first; none where this database keeps no operations."""
        with contextlib.closing(self.desk.connect("operations")) as connection:
            return tuple(each.operation() for each in recorded(connection, self.desk.engine, limit=limit))
