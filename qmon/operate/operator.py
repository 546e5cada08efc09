"""The one door to acting: keys and commands prepare every action here, see its plan, and apply it or leave it."""

from __future__ import annotations

import contextlib

from qmon.model.layout import Layout
from qmon.model.operations import DEFAULT_PAUSE_S, Choice, Kind, Operation, Pause, Side
from qmon.operate.acting import Desk, Prepared
from qmon.operate.blocker import prepare_end_blocker
from qmon.operate.gate import prepare_install_gate, prepare_remove_gate
from qmon.operate.holders import prepare_requeue_sessions
from qmon.operate.operations import recorded
from qmon.operate.pause import prepare_pause, prepare_resume
from qmon.operate.purge import prepare_purge
from qmon.operate.refusal import refusal
from qmon.operate.repair import prepare_repair
from qmon.operate.requeue import prepare_requeue
from qmon.operate.sql import Sql
from qmon.operate.switches import pauses
from qmon.operate.trash import prepare_empty_trash
from qmon.operate.undo import prepare_undo


class Operator:
    """Prepares actions for one target. Preparing only reads; each call has a connection of its own."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def requeue(self, layout: Layout, choice: Choice) -> Prepared:
        """Messages in progress whose popper is dead, or that are stuck, are to be ready again. Raises ``BadInput``.

        Where a pop deletes, the sessions whose open transactions hold messages are to be ended.
        """
        if (refused := refusal(self.desk, layout, Kind.REQUEUE)) is not None:
            return refused
        if layout.deletes_on_pop:
            return prepare_requeue_sessions(self.desk, layout, choice)
        return prepare_requeue(self.desk, layout, choice)

    def purge(self, layout: Layout, choice: Choice) -> Prepared:
        """Messages are to go into the trash: ready and dead ones, unless others are chosen. Raises ``BadInput``."""
        return refusal(self.desk, layout, Kind.PURGE) or prepare_purge(self.desk, layout, choice)

    def undo(self, operation: str, choice: Choice = Choice()) -> Prepared:  # noqa: B008 - it is frozen
        """A requeue or a purge is to be undone, whole or for the ids of the choice. Raises ``BadInput``."""
        return prepare_undo(self.desk, operation, choice)

    def pause(self, layout: Layout, side: Side, *, for_s: float = DEFAULT_PAUSE_S) -> Prepared:
        """Pushers or poppers are to stop for so many seconds. Raises ``BadInput`` outside 1 s to 24 h."""
        return prepare_pause(self.desk, layout, side, for_s)

    def resume(self, layout: Layout, side: Side) -> Prepared:
        """Paused pushers or poppers are to go on."""
        return prepare_resume(self.desk, layout, side)

    def install_gate(self, layout: Layout) -> Prepared:
        """A table that qmon has not installed is to get a trigger, by which its pushers can be paused."""
        return refusal(self.desk, layout, Kind.INSTALL_GATE) or prepare_install_gate(self.desk, layout)

    def remove_gate(self, layout: Layout) -> Prepared:
        """The gate of a table is to be taken off it."""
        return prepare_remove_gate(self.desk, layout)

    def pauses(self) -> tuple[Pause, ...]:
        """The pauses in force; none where this database records none."""
        with contextlib.closing(self.desk.connect("pauses")) as connection:
            return pauses(Sql(connection, self.desk.engine))

    def repair(self, layout: Layout) -> Prepared:
        """Holes and orphans of a ring are to be repaired; refused where the queue is no ring."""
        return refusal(self.desk, layout, Kind.REPAIR) or prepare_repair(self.desk, layout)

    def end_blocker(self, session: int, started_at: float | None) -> Prepared:
        """A session is to be ended. ``started_at``: when the one that was shown began, seconds since the epoch."""
        return prepare_end_blocker(self.desk, session, started_at)

    def empty_trash(self, queue: str | None, older_than_s: float) -> Prepared:
        """What was purged more than so many seconds ago is to go for good. ``queue``: of this one, else of all."""
        return prepare_empty_trash(self.desk, queue, older_than_s)

    def operations(self, limit: int = 100) -> tuple[Operation, ...]:
        """What was done here, the last first; none where this database keeps no operations."""
        with contextlib.closing(self.desk.connect("operations")) as connection:
            return tuple(each.operation() for each in recorded(connection, self.desk.engine, limit=limit))
