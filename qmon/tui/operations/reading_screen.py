"""The base class of screens that show operations. It reads operations from the database while a screen is open."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

from textual.message import Message

from qmon.model.operation_records import Operation
from qmon.tui.shared.dashboard_screen import DashboardScreen
from qmon.tui.watched_target import DashboardTarget


class OperationsRead(Message):
    """The operations of a target were read, or reading failed with ``problem``."""

    def __init__(self, target: DashboardTarget, operations: tuple[Operation, ...] | None, problem: str) -> None:
        super().__init__()
        self.target = target
        self.operations = operations
        self.problem = problem


class OperationsReading(DashboardScreen):
    """Reads the operations when the screen opens, and again every ``REREAD_S`` seconds.

    Attributes:
        problems: why operations could not be read, keyed by target; empty if all were read.
    """

    REREAD_S: ClassVar[float] = 15.0

    def __init__(self) -> None:
        super().__init__()
        self.problems: dict[str, str] = {}
        # The operations that were read last, keyed by target.
        self._found: dict[str, tuple[Operation, ...]] = {}
        self._read_at = float("-inf")
        # The targets that are being read.
        self._reading: set[str] = set()

    @property
    def targets(self) -> Sequence[DashboardTarget]:
        """The targets whose operations are read. By default, this is the current target."""
        return (self.app.current.target,)

    @property
    def operations(self) -> tuple[Operation, ...] | None:
        """The operations of the first target; ``None`` before the first read."""
        return self._found.get(self.targets[0].name)

    def prepare_to_show(self) -> None:
        super().prepare_to_show()
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
        """Read the operations of each target on a thread, and show the operations when they arrive."""
        for target in self.targets:
            if target.runner is not None and target.name not in self._reading:
                self._reading.add(target.name)
                target.runner.ask_operator(
                    lambda operator: operator.read_operations(), partial(self._post_operations, target)
                )

    def _post_operations(self, target: DashboardTarget, operations: tuple[Operation, ...] | None, problem: str) -> None:
        self.post_message(OperationsRead(target, operations, problem))

    def on_operations_read(self, message: OperationsRead) -> None:
        """Show the operations. If reading failed, keep the old operations and show the reason."""
        target = message.target
        self._reading.discard(target.name)
        self._read_at = self.app.clock()
        self.problems[target.name] = message.problem
        if message.operations is not None:
            changed = message.operations != self._found.get(target.name)
            self._found[target.name] = message.operations
            if target.memory is not None:
                target.memory.record_operations(message.operations)
            if changed:
                self.operations_changed()
        self.redraw()

    def operations_changed(self) -> None:
        """React to new or changed operations. Override it."""
