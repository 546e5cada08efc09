"""Lock faults: a session locks the first message, or everything, and blocks all others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from qmon.model.layout.layout import Layout
from qmon.model.verdicts import CANNOT_TELL
from qmon.model.waits.queue_lock import HELD_S, QueueLockText
from tests.contract.sessions import open_sessions
from tests.facts import query, wait_until
from tests.laboratory.case import LATELY_S, Case
from tests.laboratory.laboratory import Laboratory
from tests.queues import ENGINE
from tests.wordings import pattern


@contextlib.contextmanager
def table_locked(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A session locks the whole table and sleeps in its transaction."""
    with open_sessions(lab.url) as sessions:
        pid = sessions.open("sleeper", f"LOCK TABLE {ENGINE.quote(layout.table.parts)} IN EXCLUSIVE MODE")
        yield (pattern(QueueLockText.SESSION, session=pid) + r"\b",)


@contextlib.contextmanager
def all_rows_held(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A session locks every message and sleeps in its transaction. Pushed messages also wait behind a lock."""
    with open_sessions(lab.url) as sessions:
        table = ENGINE.quote(layout.table.parts)
        lab.load.change_members(layout.queue, "consumer", rate=0.0)
        lab.load.change_members(layout.queue, "producer", rate=0.0)
        sessions.open("filler", f"INSERT INTO {table} (payload) SELECT 'x' FROM generate_series(1, 300)")
        sessions.connections["filler"].commit()
        pid = sessions.open("sleeper", f"SELECT 1 FROM {table} FOR UPDATE")
        lab.load.change_members(layout.queue, "consumer", rate=60.0)
        yield (pattern(QueueLockText.SESSION, session=pid) + r"\b",)
    lab.load.change_members(layout.queue, "producer", rate=15.0)


@contextlib.contextmanager
def head_locked(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A session locks the first message of a strict queue and sleeps in its transaction; all consumers wait."""
    with open_sessions(lab.url) as sessions:
        table = ENGINE.quote(layout.table.parts)
        lab.load.change_members(layout.queue, "consumer", rate=0.0)
        wait_until(lambda: query(lab.url, f"SELECT 1 FROM {table} LIMIT 1"), what="a message is there")
        pid = sessions.open("sleeper", f"SELECT 1 FROM {table} ORDER BY id LIMIT 1 FOR UPDATE")
        lab.load.change_members(layout.queue, "consumer", rate=60.0)
        yield (pattern(QueueLockText.SESSION, session=pid) + r"\b",)


@contextlib.contextmanager
def alter_waits(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A session has read the table and sleeps. ALTER TABLE waits for it, and all pushes and pops wait behind that."""
    with open_sessions(lab.url) as sessions:
        table = ENGINE.quote(layout.table.parts)
        sleeper = sessions.open("sleeper", f"SELECT 1 FROM {table} LIMIT 1")
        alter = sessions.wait("migration", f"ALTER TABLE {table} ADD COLUMN note text")
        yield (
            pattern(QueueLockText.SESSION, session=sleeper) + r"\b",
            pattern(QueueLockText.SESSION, session=alter) + r"\b",
            "ALTER TABLE",
        )


CASES = (
    Case("table locked", "everything locked", "status", table_locked, reads_s=LATELY_S),
    Case(
        "alter table waits",
        "everything locked",
        "fifo",
        alter_waits,
        reads_s=LATELY_S,
        # The table is locked against readers: until a poll reads it again, the number of messages is unknown.
        true_too=frozenset({CANNOT_TELL}),
        alone=True,
    ),
    Case("all rows held by a sleeper", "everything locked", "fifo", all_rows_held, reads_s=HELD_S + 1.0),
    Case("head of a strict queue locked", "everything locked", "strict_fifo", head_locked, reads_s=LATELY_S),
)
