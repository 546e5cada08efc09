"""Measurements that more than one article's claims need."""

from __future__ import annotations

import contextlib
import threading
from typing import Final

import pyodbc

from tests.facts import connected, query
from tests.soak.articles.claim import Found
from tests.soak.articles.scene import LOCK_NOT_AVAILABLE, Scene

# Designs whose pops skip locked rows.
PASSING: Final = ("naive", "fifo", "heap", "lifo", "pending", "status", "flag", "batch_fast")


def race(scene: Scene) -> Found:
    """Two sessions select the first ready row, then update it by its id, then return it."""
    queue = scene.queue("status")
    queue.fill(2)
    with scene.sessions(2) as sessions:
        first = f"SELECT id FROM {queue.table} WHERE status = 1 ORDER BY id LIMIT 1"
        taken = [session.execute(first).fetchval() for session in sessions]
        updated = []
        for session, number in zip(sessions, taken, strict=True):
            updated.append(session.execute(f"UPDATE {queue.table} SET status = 2 WHERE id = ?", number).rowcount)
            session.commit()
    return Found(f"two consumers got messages {taken[0]} and {taken[1]}", taken == [1, 1] and updated == [1, 1])


def passed_by(scene: Scene) -> Found:
    """While one transaction has popped and is open, another pops: it must not wait, and gets another message."""
    wrong = []
    for design in PASSING:
        queue = scene.queue(design)
        queue.fill(3)
        with scene.sessions(2) as (one, other):
            mine = queue.pop(one)
            other.execute("SET lock_timeout = '300ms'")
            theirs = queue.pop(other)
            if None in (mine, theirs) or mine == theirs:
                wrong.append(design)
    figure = f"{len(PASSING) - len(wrong)} of {len(PASSING)} designs pass by without waiting: {', '.join(PASSING)}"
    return Found(figure, not wrong)


def ordered(scene: Scene, design: str, *, newest: bool = False) -> Found:
    """One session pushes fifty messages and pops them."""
    queue = scene.queue(design)
    with scene.sessions(1, autocommit=True) as (session,):
        pushed = [f"m{n}" for n in range(50)]
        queue.push(session, *pushed)
        popped = queue.drained(session)
    wanted = pushed[::-1] if newest else pushed
    return Found(f"{design}: {popped[0]}, {popped[1]}, … {popped[-1]} of 50", popped == wanted)


def front(scene: Scene) -> Found:
    """A, B and C are pushed. A is popped, not completed in time, and requeued: the next pop returns A."""
    said = []
    for design in ("status", "batch_single", "batch_split", "batch_fast"):
        queue = scene.queue(design)
        with scene.sessions(1, autocommit=True) as (session,):
            queue.push(session, "A", "B", "C")
            popped = [queue.pop(session)]
            session.execute(f"SELECT {queue.routine('requeue')}(0)").fetchall()
            popped += [queue.pop(session) for _ in range(3)]
            said.append((design, popped))
    figure = "; ".join(f"{design}: {', '.join(str(each) for each in popped)}" for design, popped in said)
    return Found(figure, all(popped == ["A", "A", "B", "C"] for _, popped in said))


def kept_while_at_work(scene: Scene) -> Found:
    """A consumer commits its pop and dies before the work is done. Count the messages that can be popped again."""
    left, owner = dict[str, str | None](), None
    for design in ("fifo", "status"):
        queue = scene.queue(design)
        with scene.sessions(1, autocommit=True) as (consumer,):
            queue.push(consumer, "order")
            queue.pop(consumer)
        with scene.sessions(1, autocommit=True) as (other,):
            if design == "status":
                owner = other.execute(f"SELECT owner FROM {queue.table}").fetchval()
                other.execute(f"SELECT {queue.routine('requeue')}(0)").fetchall()
            left[design] = queue.pop(other)
    figure = f"deleted by its pop: {left['fifo'] or 'gone'}; with a state: {left['status']}, last had by {owner}"
    return Found(figure, left == {"fifo": None, "status": "order"} and bool(owner))


def leading_key(scene: Scene) -> Found:
    """Count pages of a pop among 20,000 processed rows: with an index led by the flag, and with one on the id alone."""
    pages = []
    for name in ("with_flag", "id_only"):
        queue = scene.queue("flag", name)
        query(scene.url, f"INSERT INTO {queue.table} (processed, command) SELECT 1, 'x' FROM generate_series(1, 20000)")
        if name == "id_only":
            (key,) = query(
                scene.url,
                "SELECT conname FROM pg_constraint WHERE conrelid = CAST(? AS regclass) AND contype = 'p'",
                queue.table,
            )[0]
            query(scene.url, f"ALTER TABLE {queue.table} DROP CONSTRAINT {key}, ADD PRIMARY KEY (id)")
        query(scene.url, f"VACUUM ANALYZE {queue.table}")
        queue.fill(20)
        pages.append(scene.pops(queue, 20))
    return Found(f"{pages[0]:.1f} pages a pop; {pages[1]:,.0f} with a key on the id alone", pages[1] > 5 * pages[0])


def deadlock(scene: Scene) -> Found:
    """Two consumers lock two rows in opposite orders; then two pops in each of two transactions, by the routine."""
    queue = scene.queue("status")
    queue.fill(8)
    refused: list[str] = []
    both = threading.Barrier(2)

    def lock(*ids: int) -> None:
        with connected(scene.url, autocommit=False) as session:
            for number in ids:
                try:
                    session.execute(f"SELECT id FROM {queue.table} WHERE id = ? FOR UPDATE", number).fetchall()
                except pyodbc.Error as error:
                    refused.append(error.args[0])
                    session.rollback()
                    return
                if number == ids[0]:
                    both.wait(20)

    threads = [threading.Thread(target=lock, args=pair) for pair in ((1, 2), (2, 1))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with scene.sessions(2) as sessions:
        popped = [queue.pop(session) for _ in range(2) for session in sessions]
    figure = f"one of two was ended with {', '.join(refused)}; by status_pop: {len(set(popped))} of 4 got, none waited"
    return Found(figure, refused == ["40P01"] and len(set(popped)) == 4)


def peeked(scene: Scene) -> Found:
    """Measure the pages that pops touch while a transaction that has read the whole table stays open."""
    queue = scene.queue("flag")
    queue.fill(400)
    with scene.sessions(1) as (reader,):
        before = scene.pops(queue, 100)
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        reader.execute(f"SELECT count(*) FROM {queue.table}").fetchall()

        def pop(session: pyodbc.Connection) -> None:
            session.execute("SET lock_timeout = '300ms'")
            assert all(queue.pop(session) for _ in range(100))

        after = scene.counted(pop).pages / 100
    figure = f"100 pops beside an open reader: none waited; {before:.1f} pages a pop without it, {after:.1f} with it"
    return Found(figure, after > 0)


def timed_out(session: pyodbc.Connection, statement: str, tries: int) -> int:
    """Count how often a statement gave up on a lock."""
    count = 0
    session.execute("SET lock_timeout = '50ms'")
    for _ in range(tries):
        try:
            session.execute(statement).fetchall()
        except pyodbc.Error as error:
            if error.args[0] != LOCK_NOT_AVAILABLE:
                raise
            count += 1
            with contextlib.suppress(pyodbc.Error):
                session.rollback()
    return count
