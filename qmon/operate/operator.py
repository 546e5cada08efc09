"""Prepares all actions. Keys and commands prepare an action here, show its plan, and apply or discard the plan."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.layout.layout import Layout
from qmon.model.operation_records import DEFAULT_PAUSE_S, Choice, Operation, RedriveLimits, Side
from qmon.model.samples.polled_samples import PauseSample
from qmon.operate.actions.empty_trash import prepare_empty_trash
from qmon.operate.actions.end_session import prepare_end_session
from qmon.operate.actions.end_sessions import SessionSample, read_session
from qmon.operate.actions.gate import prepare_install_gate, prepare_remove_gate
from qmon.operate.actions.pause import prepare_pause, prepare_resume
from qmon.operate.actions.pause_switch import read_pauses
from qmon.operate.actions.purge import prepare_purge
from qmon.operate.actions.redrive import prepare_redrive
from qmon.operate.actions.requeue import prepare_requeue
from qmon.operate.actions.ring_repair import prepare_repair
from qmon.operate.actions.undo import prepare_undo
from qmon.operate.context import OperatorContext
from qmon.operate.libraries.library_actions import (
    prepare_library_purge,
    prepare_library_redrive,
    prepare_library_requeue,
)
from qmon.operate.libraries.library_pause import (
    is_queue_paused_by_library,
    prepare_library_pause,
    prepare_library_resume,
)
from qmon.operate.message import Message, read_message
from qmon.operate.run.operation_history import read_operations
from qmon.operate.run.running_operation import PreparedAction


class Operator:
    """Prepare actions for one target. Preparing only reads. Each call opens its own connection."""

    def __init__(self, context: OperatorContext) -> None:
        self.context = context

    def requeue(self, layout: Layout, choice: Choice) -> PreparedAction:
        """Plan to make messages ready again if they are stuck in progress or their consumer is dead.

        If a pop of this queue deletes the message, the plan instead ends the sessions whose open transactions hold
        messages. Raises ``BadInput``.
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
        """Plan to retry dead messages at a limited rate, until too many of them fail again. Raises ``BadInput``."""
        if layout.part is not None:
            return prepare_library_redrive(self.context, layout, choice, limits)
        return prepare_redrive(self.context, layout, choice, limits)

    def purge(self, layout: Layout, choice: Choice) -> PreparedAction:
        """Plan to move messages into the trash: the chosen messages or, without a choice, the dead messages.

        Raises ``BadInput``. Messages of a library are deleted with the library's own statements. Such messages go into
        the trash only if an undo can restore them completely.
        """
        if layout.part is not None:
            return prepare_library_purge(self.context, layout, choice)
        return prepare_purge(self.context, layout, choice)

    def undo(self, operation: str, choice: Choice = Choice()) -> PreparedAction:  # noqa: B008 - it is frozen
        """Plan to undo a requeue or a purge, for all messages or for the chosen ids. Raises ``BadInput``."""
        return prepare_undo(self.context, operation, choice)

    def pause(self, layout: Layout, side: Side, *, for_s: float = DEFAULT_PAUSE_S) -> PreparedAction:
        """Plan to pause producers or consumers for ``for_s`` seconds.

        Raises ``BadInput`` unless ``for_s`` is from 1 s to 24 h. If the library itself pauses its consumers, ``for_s``
        has no effect, and the pause does not end by itself.
        """
        if layout.part is not None and side is Side.CONSUMERS:
            return prepare_library_pause(self.context, layout, side)
        return prepare_pause(self.context, layout, side, for_s)

    def resume(self, layout: Layout, side: Side) -> PreparedAction:
        """Plan to resume paused producers or consumers."""
        if layout.part is not None and side is Side.CONSUMERS:
            return prepare_library_resume(self.context, layout, side)
        return prepare_resume(self.context, layout, side)

    def is_paused_by_library(self, layout: Layout) -> bool:
        """Return whether the library's own pause stops the consumers of this queue."""
        with self.context.open_sql("pauses") as sql:
            return is_queue_paused_by_library(sql, layout)

    def install_gate(self, layout: Layout) -> PreparedAction:
        """Plan to put a trigger on a table that qmon did not install. The trigger lets qmon pause the producers."""
        return prepare_install_gate(self.context, layout)

    def remove_gate(self, layout: Layout) -> PreparedAction:
        """Plan to remove the gate from a table."""
        return prepare_remove_gate(self.context, layout)

    def read_pauses(self) -> tuple[PauseSample, ...]:
        """Return the active pauses. The result is empty if this database does not record pauses."""
        with self.context.open_sql("pauses") as sql:
            return read_pauses(sql)

    def repair(self, layout: Layout) -> PreparedAction:
        """Plan to fill the holes of a ring and requeue its orphans. The plan is refused if the queue is not a ring."""
        return prepare_repair(self.context, layout)

    def end_session(self, session: int, started_at: float | None) -> PreparedAction:
        """Plan to end a session. ``started_at``: start of the shown session, in seconds since the epoch."""
        return prepare_end_session(self.context, session, started_at)

    def empty_trash(self, queue: str | None, older_than_s: float) -> PreparedAction:
        """Plan to permanently delete messages that were purged more than ``older_than_s`` seconds ago.

        ``queue``: ``None`` means all queues.
        """
        return prepare_empty_trash(self.context, queue, older_than_s)

    def read_message(self, layout: Layout, id: str, owner: str | None = None) -> Message | None:
        """Read one message completely. Return ``None`` if it no longer exists. ``owner``: the last known owner."""
        return read_message(self.context, layout, id, owner)

    def read_session(self, session: int) -> SessionSample | None:
        """Return the activity of a session, or ``None`` if it is gone or not visible. Secrets are replaced."""
        with self.context.open_sql("session") as sql:
            found = read_session(sql, session)
        return None if found is None else replace(found, statement=self.context.redact(found.statement))

    def read_operations(self, limit: int = 100) -> tuple[Operation, ...]:
        """Return the latest operations, newest first. The result is empty if this database records no operations."""
        with self.context.open_sql("operations") as sql:
            return tuple(each.to_operation() for each in read_operations(sql, limit=limit))
