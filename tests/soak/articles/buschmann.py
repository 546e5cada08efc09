"""Joe Buschmann, "A Poor Man's Queue" (2019)."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.soak.articles import common
from tests.soak.articles.claim import HOLDS, Claim, Found
from tests.soak.articles.scene import Scene


def alone(scene: Scene) -> Found:
    """One consumer selects, updates and returns in three statements."""
    queue = scene.queue("status")
    queue.fill(30)
    got = []
    with scene.sessions(1, autocommit=True) as (session,):
        first = f"SELECT id FROM {queue.table} WHERE status = 1 ORDER BY id LIMIT 1"
        while (number := session.execute(first).fetchval()) is not None:
            session.execute(f"UPDATE {queue.table} SET status = 2 WHERE id = ?", number)
            got.append(number)
    return Found(f"{len(set(got))} of 30 messages, {len(got) - len(set(got))} twice", got == list(range(1, 31)))


def completed(scene: Scene) -> Found:
    """Complete a message that is ready, and one that was popped."""
    queue = scene.queue("status")
    with scene.sessions(1, autocommit=True) as (session,):
        queue.push(session, "a", "b")
        number, attempt = queue.taken(session)
        done = f"SELECT {queue.routine('complete')}(CAST(? AS bigint), CAST(? AS int))"
        ready, again = (session.execute(done, number + 1, tried).fetchval() for tried in (0, 1))
        mine = session.execute(done, number, attempt).fetchval()
        left = session.execute(f"SELECT array_agg(id) FROM {queue.table}").fetchval()
    says = f"ready: refused ({ready}, {again}); popped: deleted ({mine}); left: {left}"
    return Found(says, (bool(ready), bool(again), bool(mine)) == (False, False, True))


NAME: Final = "Buschmann"
CLAIMS: Final = (
    Claim(NAME, "With one consumer a queue is straightforward", "30 × SELECT, UPDATE in one session", HOLDS, alone),
    Claim(
        NAME,
        "SELECT, UPDATE and return as three statements give one message to two consumers",
        "SELECT in two sessions, then UPDATE in both",
        HOLDS,
        common.race,
    ),
    Claim(
        NAME,
        "With several consumers, statements that are not built for it block and deadlock",
        "SELECT … FOR UPDATE of two rows in opposite orders; see also the verdict deadlocks",
        HOLDS,
        common.deadlock,
    ),
    Claim(
        NAME,
        "One UPDATE that finds, marks and returns gives no message twice",
        "make soak ARGS='--articles --chaos --designs status'",
        "see the chaos of status",
    ),
    Claim(
        NAME,
        "With row locks and READPAST (SKIP LOCKED) consumers do not block each other",
        "<design>_pop() in two open transactions, lock_timeout 300 ms",
        HOLDS,
        common.passed_by,
    ),
    Claim(
        NAME,
        "TOP 1 with ORDER BY gives messages in the order they came",
        "50 × status_push, status_pop",
        HOLDS,
        partial(common.ordered, design="status"),
    ),
    Claim(
        NAME,
        "The same in descending order is a stack",
        "50 × lifo_push, lifo_pop",
        HOLDS,
        partial(common.ordered, design="lifo", newest=True),
    ),
    Claim(
        NAME,
        "Complete removes the message only while it is in progress",
        "status_complete(id, attempt) of a ready and of a popped message",
        HOLDS,
        completed,
    ),
    Claim(
        NAME,
        "A message broker serves better than a table",
        "none",
        "not shown: advice, not about a database",
    ),
)
