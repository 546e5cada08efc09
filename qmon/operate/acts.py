"""What can be asked of an operator: the contract between those who act and those who let them."""

from __future__ import annotations

from typing import Protocol

from qmon.model.layout import Layout
from qmon.model.operations import Choice, Operation, Pause, Side
from qmon.operate.acting import Prepared


class Acts(Protocol):
    """What ``qmon.operate.operator.Operator`` offers to commands and screens."""

    def requeue(self, layout: Layout, choice: Choice) -> Prepared:
        """Plan a requeue."""
        ...

    def purge(self, layout: Layout, choice: Choice) -> Prepared:
        """Plan a purge."""
        ...

    def undo(self, operation: str, choice: Choice = ...) -> Prepared:
        """Plan an undo."""
        ...

    def pause(self, layout: Layout, side: Side, *, for_s: float = ...) -> Prepared:
        """Plan a pause."""
        ...

    def resume(self, layout: Layout, side: Side) -> Prepared:
        """Plan the end of a pause."""
        ...

    def install_gate(self, layout: Layout) -> Prepared:
        """Plan the trigger by which a table that qmon did not install can be paused."""
        ...

    def remove_gate(self, layout: Layout) -> Prepared:
        """Plan to take that trigger away."""
        ...

    def repair(self, layout: Layout) -> Prepared:
        """Plan the repair of a ring."""
        ...

    def end_blocker(self, session: int, started_at: float | None) -> Prepared:
        """Plan the end of a session."""
        ...

    def empty_trash(self, queue: str | None, older_than_s: float) -> Prepared:
        """Plan to forget purged rows that are older than so many seconds."""
        ...

    def operations(self, limit: int = ...) -> tuple[Operation, ...]:
        """What was done, the newest first."""
        ...

    def pauses(self) -> tuple[Pause, ...]:
        """The pauses in force."""
        ...
