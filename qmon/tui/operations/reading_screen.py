"""The base of screens that show operations: it reads them from the database while the screen is open."""

from __future__ import annotations

from typing import ClassVar

from textual.message import Message

from qmon.model.operation_records import Operation
from qmon.tui.shared.dashboard_screen import DashboardScreen


class OperationsRead(Message):
    """The operations were read, or reading failed with ``problem``."""

    def __init__(self, found: tuple[Operation, ...] | None, problem: str) -> None:
        super().__init__()
        self.found = found
        self.problem = problem


class OperationsReading(DashboardScreen):
    """Reads the operations when the screen opens, and again every ``REREAD_S`` seconds."""

    REREAD_S: ClassVar[float] = 15.0

    def __init__(self) -> None:
        super().__init__()
        # The operations read last; `None` before the first read.
        self.operations: tuple[Operation, ...] | None = None
        self._problem = ""
        self._read_at = float("-inf")
        self._reading_operations = False

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self.read_operations()

    def tick(self) -> None:
        self._read_if_old()
        super().tick()

    def _shown_changed(self) -> None:
        if self in self.app.screen_stack:
            self._read_if_old()
        super()._shown_changed()

    def _read_if_old(self) -> None:
        if self.app.clock() - self._read_at >= self.REREAD_S:
            self.read_operations()

    def read_operations(self) -> None:
        """Read the operations on a thread and show them when they arrive."""
        if self.app.runner is not None and not self._reading_operations:
            self._reading_operations = True
            self.app.runner.ask_operator(
                lambda operator: operator.read_operations(),
                lambda found, problem: self.post_message(OperationsRead(found, problem)),
            )

    def on_operations_read(self, message: OperationsRead) -> None:
        """Show the operations. If reading failed, keep the old ones and show the reason."""
        self._reading_operations = False
        self._read_at = self.app.clock()
        self._problem = message.problem
        if message.found is not None:
            changed = message.found != self.operations
            self.operations = message.found
            if self.app.memory is not None:
                self.app.memory.record_operations(message.found)
            if changed:
                self.operations_changed()
        self.redraw()

    def operations_changed(self) -> None:
        """React to new or changed operations. Override it."""
