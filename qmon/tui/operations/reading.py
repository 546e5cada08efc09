"""A screen that shows operations: they are read from the database while it is in front."""

from __future__ import annotations

from typing import ClassVar

from textual.message import Message

from qmon.model.operations import Operation
from qmon.tui.shared.screen import DashboardScreen


class OperationsRead(Message):
    """The operations have been read, or could not be."""

    def __init__(self, found: tuple[Operation, ...] | None, problem: str) -> None:
        super().__init__()
        self.found = found
        self.problem = problem


class OperationsReading(DashboardScreen):
    """Reads them as it appears, and again from time to time."""

    AGAIN_S: ClassVar[float] = 15.0

    def __init__(self) -> None:
        super().__init__()
        # As they were read last; `None`: not yet.
        self.operations: tuple[Operation, ...] | None = None
        self._problem = ""
        self._read_at = float("-inf")
        self._reading_operations = False

    def on_screen_resume(self) -> None:
        """Read at once."""
        super().on_screen_resume()
        self.read_operations()

    def tick(self) -> None:
        """Read again now and then."""
        self._read_again()
        super().tick()

    def _shown_changed(self) -> None:
        if self in self.app.screen_stack:
            self._read_again()
        super()._shown_changed()

    def _read_again(self) -> None:
        if self.app.clock() - self._read_at >= self.AGAIN_S:
            self.read_operations()

    def read_operations(self) -> None:
        """Read them on a thread; they are shown when they come."""
        if self.app.runner is not None and not self._reading_operations:
            self._reading_operations = True
            self.app.runner.ask(
                lambda operator: operator.operations(),
                lambda found, problem: self.post_message(OperationsRead(found, problem)),
            )

    def on_operations_read(self, message: OperationsRead) -> None:
        """Show what was read; what could not be read leaves the old, with the reason."""
        self._reading_operations = False
        self._read_at = self.app.clock()
        self._problem = message.problem
        if message.found is not None:
            changed = message.found != self.operations
            self.operations = message.found
            if self.app.memory is not None:
                self.app.memory.operated(message.found)
            if changed:
                self.operations_changed()
        self.redraw()

    def operations_changed(self) -> None:
        """There are others, or they have gone on."""
