"""What can be asked of an operator: the contract between those who act and those who let them."""

from __future__ import annotations

from typing import Protocol

from qmon.model.layout.layout import Layout
from qmon.model.operations import Choice, Operation, Pause, Side
from qmon.operate.context import PreparedAction


class Acts(Protocol):
    """What ``qmon.operate.operator.Operator`` offers to commands and screens."""

    def requeue(self, layout: Layout, choice: Choice) -> PreparedAction:
        """Plan a requeue."""
        ...

    def purge(self, layout: Layout, choice: Choice) -> PreparedAction:
        """Plan a purge."""
        ...

    def undo(self, operation: str, choice: Choice = ...) -> PreparedAction:
        """Plan an undo."""
        ...

    def pause(self, layout: Layout, side: Side, *, for_s: float = ...) -> PreparedAction:
        """Plan a pause."""
        ...

    def resume(self, layout: Layout, side: Side) -> PreparedAction:
        """Plan the end of a pause."""
        ...

    def install_gate(self, layout: Layout) -> PreparedAction:
        """Plan the trigger by which a table that qmon did not install can be paused."""
        ...

    def remove_gate(self, layout: Layout) -> PreparedAction:
        """Plan to take that trigger away."""
        ...

    def repair(self, layout: Layout) -> PreparedAction:
        """Plan the repair of a ring."""
        ...

    def end_blocker(self, session: int, started_at: float | None) -> PreparedAction:
        """Plan the end of a session."""
        ...

    def empty_trash(self, queue: str | None, older_than_s: float) -> PreparedAction:
        """Plan to forget purged rows that are older than so many seconds."""
        ...

    def operations(self, limit: int = ...) -> tuple[Operation, ...]:
        """What was done, the newest first."""
        ...

    def pauses(self) -> tuple[Pause, ...]:
        """The pauses in force."""
        ...
