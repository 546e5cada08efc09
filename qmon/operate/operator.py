"""Entry point of all actions: keys and commands prepare each one here, see its plan, and apply it or leave it."""

from __future__ import annotations

from qmon.model.layout.layout import Layout
from qmon.model.operations import DEFAULT_PAUSE_S, Choice, Operation, Pause, RedriveLimits, Side
from qmon.operate.actions.end_session import prepare_end_session
from qmon.operate.actions.gate import prepare_install_gate, prepare_remove_gate
from qmon.operate.actions.pause import prepare_pause, prepare_resume
from qmon.operate.actions.pause_switch import pauses
from qmon.operate.actions.purge import prepare_purge
from qmon.operate.actions.redrive import prepare_redrive
from qmon.operate.actions.requeue import prepare_requeue
from qmon.operate.actions.ring_repair import prepare_repair
from qmon.operate.actions.trash import prepare_empty_trash
from qmon.operate.actions.undo import prepare_undo
from qmon.operate.context import OperatorContext
from qmon.operate.libraries.messages import (
    prepare_library_purge,
    prepare_library_redrive,
    prepare_library_requeue,
)
from qmon.operate.libraries.pause import library_paused, prepare_library_pause, prepare_library_resume
from qmon.operate.message import Message, read_message
from qmon.operate.run.operations import recorded
from qmon.operate.run.prepared import PreparedAction


class Operator:
    """Prepares actions for one target. Preparing only reads; each call has a connection of its own."""

    def __init__(self, context: OperatorContext) -> None:
        self.context = context

    def requeue(self, layout: Layout, choice: Choice) -> PreparedAction:
        """Messages in progress whose popper is dead, or that are stuck, are to be ready again. Raises ``BadInput``.

        Where a pop deletes, the sessions whose open transactions hold messages are to be ended.
        """
        if layout.part is not None:
            return prepare_library_requeue(self.context, layout, choice)
        return prepare_requeue(self.context, layout, choice)

    def redrive(
        self,
        layout: Layout,
        choice: Choice,
        limits: RedriveLimits = RedriveLimits(),  # noqa: B008 - it is frozen
    ) -> PreparedAction:
        """Dead messages are to be tried once more, at a rate, until too many fail again. Raises ``BadInput``."""
        if layout.part is not None:
            return prepare_library_redrive(self.context, layout, choice, limits)
        return prepare_redrive(self.context, layout, choice, limits)

    def purge(self, layout: Layout, choice: Choice) -> PreparedAction:
        """Messages are to go into the trash: ready and dead ones, unless others are chosen. Raises ``BadInput``.

        Those of a library are discarded as it does it, and go into the trash where an undo can put all of it back.
        """
        if layout.part is not None:
            return prepare_library_purge(self.context, layout, choice)
        return prepare_purge(self.context, layout, choice)

    def undo(self, operation: str, choice: Choice = Choice()) -> PreparedAction:  # noqa: B008 - it is frozen
        """A requeue or a purge is to be undone, whole or for the ids of the choice. Raises ``BadInput``."""
        return prepare_undo(self.context, operation, choice)

    def pause(self, layout: Layout, side: Side, *, for_s: float = DEFAULT_PAUSE_S) -> PreparedAction:
        """Pushers or poppers are to stop for ``for_s`` seconds. Raises ``BadInput`` outside 1 s to 24 h.

        The pause that a library has for its poppers has no end of its own.
        """
        if layout.part is not None and side is Side.POPPERS:
            return prepare_library_pause(self.context, layout, side)
        return prepare_pause(self.context, layout, side, for_s)

    def resume(self, layout: Layout, side: Side) -> PreparedAction:
        """Paused pushers or poppers are to go on."""
        if layout.part is not None and side is Side.POPPERS:
            return prepare_library_resume(self.context, layout, side)
        return prepare_resume(self.context, layout, side)

    def library_paused(self, layout: Layout) -> bool:
        """Whether a library's own pause stops the poppers of this queue."""
        with self.context.sql("pauses") as sql:
            return library_paused(sql, layout)

    def install_gate(self, layout: Layout) -> PreparedAction:
        """A table that qmon has not installed is to get a trigger, by which its pushers can be paused."""
        return prepare_install_gate(self.context, layout)

    def remove_gate(self, layout: Layout) -> PreparedAction:
        """The gate of a table is to be taken off it."""
        return prepare_remove_gate(self.context, layout)

    def pauses(self) -> tuple[Pause, ...]:
        """The pauses in force; none where this database records none."""
        with self.context.sql("pauses") as sql:
            return pauses(sql)

    def repair(self, layout: Layout) -> PreparedAction:
        """Holes and orphans of a ring are to be repaired; refused where the queue is no ring."""
        return prepare_repair(self.context, layout)

    def end_session(self, session: int, started_at: float | None) -> PreparedAction:
        """A session is to be ended. ``started_at``: when the one that was shown began, seconds since the epoch."""
        return prepare_end_session(self.context, session, started_at)

    def empty_trash(self, queue: str | None, older_than_s: float) -> PreparedAction:
        """What was purged more than ``older_than_s`` seconds ago is to go for good, of this queue or all."""
        return prepare_empty_trash(self.context, queue, older_than_s)

    def message(self, layout: Layout, id: str, owner: str | None = None) -> Message | None:
        """One message, whole; ``None`` where it is gone. ``owner``: who was last seen to have it."""
        return read_message(self.context, layout, id, owner)

    def operations(self, limit: int = 100) -> tuple[Operation, ...]:
        """What was done here, the last first; none where this database keeps no operations."""
        with self.context.sql("operations") as sql:
            return tuple(each.operation() for each in recorded(sql, limit=limit))
