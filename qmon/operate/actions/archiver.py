"""Archives done messages: moves them out of the queue's table, in batches that hardly slow producers and consumers."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from qmon.engines.base import Bound, Connection, Engine, Session
from qmon.engines.sql import queries
from qmon.errors import BadInput, ConnectionFailed, ConnectionLost, PermissionMissing, QueryFailed, StatementStopped
from qmon.model.layout.layout import Layout
from qmon.operate.install import object_names
from qmon.operate.install.design_layouts import SHAPES
from qmon.operate.plan.required_rights import queue_tables, why_not_keepable
from qmon.operate.run.batches import RowRefused
from qmon.operate.run.pacing import IDLE_S, BatchPace
from qmon.operate.run.verification import TriggerWatch
from qmon.operate.sql import Sql
from qmon.operate.table_structure import TableStructure, read_structure
from qmon.texts import Text


class ArchiveText(Text):
    """Texts about an archive."""

    NO_ARCHIVE_IN_DESIGN = "queue {queue!r} has no archive: its design is {design}; designs with an archive: {others}"
    CANNOT_ARCHIVE = "cannot archive {queue!r}: {why}; nothing was changed"
    NOT_ALLOWED_UNCHANGED = "not allowed to archive {queue!r}: {problem}; nothing was changed"
    RIGHTS_MISSING = "not allowed to archive {queue!r}; this helps: {grants}; nothing was changed"
    ROLLED_BACK = "not archived: {problem}; the batch was rolled back"
    NOT_ALLOWED = "not allowed to archive {queue!r}: {problem}"
    NO_ARCHIVE = "queue {queue!r} has no archive"


# The connection for archiving has a short lock timeout, so that a batch fails quickly if another session holds a lock.
ARCHIVE_SESSION: Final = Session("archive", statement_timeout_s=15.0, lock_timeout_s=0.2, writes=True)

_RECENT_S: Final = 10.0

# SQLSTATEs of a deadlock and of a serialization failure. Nothing was moved, and a retry may succeed.
_RETRYABLE_STATES: Final = frozenset({"40001", "40P01"})

Ended = Literal["running", "empty", "stopped", "failed"]


@dataclass(frozen=True, slots=True)
class ArchiveProgress:
    """The progress of archiving.

    Attributes:
        elapsed_s: seconds since the start.
        moved: messages archived so far.
        rate: messages archived per second, over the last ten seconds.
        batch: maximum number of messages in the next batch.
        pause_s: seconds of rest before the next batch.
        held_up: why the last batch moved nothing; empty if the batch succeeded.
    """

    elapsed_s: float
    moved: int
    rate: float
    batch: int
    pause_s: float
    held_up: str


@dataclass(frozen=True, slots=True)
class ArchiveResult:
    """The result of archiving.

    Attributes:
        moved: messages that were certainly archived.
        batches: batches that moved messages.
        held_up: batches that moved nothing because of a lock or a timeout.
        unsure: batches during which the connection broke. Each such batch committed completely or not at all. The
            other attributes do not count these batches.
        seconds: duration in seconds.
        ended: ``empty`` if only messages locked by other sessions remained, ``stopped`` on request, or ``failed``.
    """

    moved: int
    batches: int
    held_up: int
    unsure: int
    seconds: float
    ended: Ended


def designs_with_archive(engine: Engine, version: tuple[int, int]) -> tuple[str, ...]:
    """Return the names of the designs that have an archive on this engine."""
    return tuple(
        design
        for design in SHAPES
        if "archive" in object_names.object_slots(queries.design_files(engine.name, design, version))
    )


def check_can_archive(connection: Connection, engine: Engine, layout: Layout) -> None:
    """Raise ``BadInput`` if this queue cannot be archived, or if our role may not archive the queue.

    Only reads the catalog.
    """
    if layout.routine_for("archive") is None:
        others = ", ".join(designs_with_archive(engine, connection.version))
        raise BadInput(ArchiveText.NO_ARCHIVE_IN_DESIGN.render(queue=layout.queue, design=layout.design, others=others))
    names: dict[str, queries.Name] = {
        "table": layout.table.parts,
        "data": None if layout.data_table is None else layout.data_table.parts,
        "archive_log": object_names.table_name(layout.table.schema, layout.table.name, "archive_log").parts,
        "archive": _archive_routine(layout),
    }
    sql = Sql(connection, engine)
    for table in queue_tables(layout):
        columns = [each.column_name for each in read_structure(sql, table).columns]
        if (why := why_not_keepable(sql, table, (), columns)) is not None:
            raise BadInput(ArchiveText.CANNOT_ARCHIVE.render(queue=layout.queue, why=why))
    try:
        statement = sql.statement("action/archive_rights", names)
        missing = [str(row[0]) for row in connection.fetch(Bound(statement)).rows]
    except PermissionMissing as problem:
        raise BadInput(ArchiveText.NOT_ALLOWED_UNCHANGED.render(queue=layout.queue, problem=problem)) from problem
    if missing:
        raise BadInput(ArchiveText.RIGHTS_MISSING.render(queue=layout.queue, grants="; ".join(missing)))


class Archiver:
    """Archive one queue in batches. Each batch has its own transaction.

    If the process is killed at any point, every message is either in the queue or in the archive, never in both.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        engine: Engine,
        layout: Layout,
        pace: BatchPace,
        stop: threading.Event,
    ) -> None:
        """``connect`` opens a connection with ``ARCHIVE_SESSION``.

        Setting ``stop`` ends archiving after the current batch.
        """
        self._connect = connect
        self._engine = engine
        self._layout = layout
        self._pace = pace
        self._stop = stop
        self._started = time.monotonic()
        self._recent: deque[tuple[float, int]] = deque()
        self._moved = self._batches = self._held_up = self._unsure = 0
        self._ended: Ended = "running"
        self._tables: tuple[TableStructure, ...] | None = None

    def result(self) -> ArchiveResult:
        """Return the result so far."""
        seconds = time.monotonic() - self._started
        return ArchiveResult(self._moved, self._batches, self._held_up, self._unsure, seconds, self._ended)

    def run(
        self, on_progress: Callable[[ArchiveProgress], None] = lambda now: None, *, until_empty: bool
    ) -> ArchiveResult:
        """Archive until ``stop`` is set.

        With ``until_empty``, also stop when a batch finds only messages locked by other sessions. Without
        ``until_empty``, reconnect with increasing pauses if the connection breaks. ``on_progress``: called after each
        batch. Locks, timeouts and deadlocks are retried. Raises other errors of the server, and ``BadInput`` for a
        missing permission. After an error, ``result`` still returns the counts.
        """
        self._started = time.monotonic()
        connection: Connection | None = None
        self._ended = "failed"
        try:
            while not self._stop.is_set():
                asked = self._pace.size
                try:
                    connection = connection or self._connect()
                    moved, pause_s, problem = self._run_batch(connection)
                except ConnectionFailed as lost:  # includes broken connections
                    if until_empty or not lost.retryable:
                        raise
                    if connection is not None:
                        connection.close()
                    connection, moved, pause_s, problem = None, 0, self._pace.record_given_up(), str(lost)
                if until_empty and moved == 0 and not problem:
                    self._ended = "empty"
                    break
                on_progress(self._progress(pause_s, problem))
                idle = not until_empty and not problem and moved < asked
                self._stop.wait(max(pause_s, IDLE_S) if idle else pause_s)
            else:
                self._ended = "stopped"
        finally:
            if connection is not None:
                connection.close()
        return self.result()

    def _run_batch(self, connection: Connection) -> tuple[int, float, str]:
        """Run one batch. Return the number of moved messages, the seconds to rest, and why nothing was moved."""
        sql = Sql(connection, self._engine)
        statement = sql.statement("action/archive", {"archive": _archive_routine(self._layout)})
        begun = time.monotonic()
        try:
            watched = self._tables_with_triggers(sql)
            with connection.transaction() if watched else contextlib.nullcontext():
                triggers = TriggerWatch(sql, "delete", *watched)
                rows = connection.fetch(Bound(statement, {"limit": self._pace.size})).rows
                triggers.check_no_inserts()
        except RowRefused as problem:
            raise BadInput(ArchiveText.ROLLED_BACK.render(problem=problem)) from problem
        except PermissionMissing as problem:
            raise BadInput(ArchiveText.NOT_ALLOWED.render(queue=self._layout.queue, problem=problem)) from problem
        except (ConnectionLost, KeyboardInterrupt):  # after a second Ctrl-C, qmon does not wait for an answer
            self._unsure += 1
            raise
        except QueryFailed as problem:
            if not isinstance(problem, StatementStopped) and problem.sqlstate not in _RETRYABLE_STATES:
                raise
            self._held_up += 1
            return 0, self._pace.record_given_up(), str(problem)
        now = time.monotonic()
        moved = int(str(rows[0][0]))
        self._moved += moved
        self._batches += moved > 0
        self._recent.append((now, moved))
        return moved, self._pace.record_batch(moved, now - begun), ""

    def _tables_with_triggers(self, sql: Sql) -> tuple[TableStructure, ...]:
        """Return the queue's tables with delete triggers. Such a trigger might put every deleted row back."""
        if self._tables is None:
            tables = queue_tables(self._layout) if TriggerWatch.is_supported(sql) else ()
            self._tables = tuple(
                each for table in tables if (each := read_structure(sql, table)).obstacle_names("on delete")
            )
        return self._tables

    def _progress(self, pause_s: float, problem: str) -> ArchiveProgress:
        now = time.monotonic()
        while self._recent and self._recent[0][0] < now - _RECENT_S:
            self._recent.popleft()
        elapsed = now - self._started
        rate = sum(moved for _, moved in self._recent) / max(min(elapsed, _RECENT_S), 1e-3)
        return ArchiveProgress(elapsed, self._moved, rate, self._pace.size, pause_s, problem)


def _archive_routine(layout: Layout) -> tuple[str, ...]:
    name = layout.routine_for("archive")
    if name is None:
        raise BadInput(ArchiveText.NO_ARCHIVE.render(queue=layout.queue))
    return name.parts
