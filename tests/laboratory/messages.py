"""Faults of single messages: one that fails again and again, one that two consumers process at once, and others."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Final

import pyodbc

from qmon.model.layout.layout import Layout
from qmon.model.probe_table import PROBES
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.verdicts.message_verdicts import MessageVerdictText
from qmon.monitor.state.newest_messages import RECENT_S
from qmon.workload.workload_messages import make_message
from tests.facts import connected, query, wait_until
from tests.laboratory.case import Case
from tests.laboratory.laboratory import Laboratory
from tests.meanwhile import meanwhile
from tests.queues import routine
from tests.wordings import pattern

# qmon reports an archiver as missing after it has been silent this long.
SILENT_S: Final = 20.0
# After this many polls, qmon knows that an archiver runs every second.
KNOWN_POLLS: Final = 35
# This is long enough to collect messages to compare with.
USUAL_S: Final = 25.0
# After this time, qmon knows how often the same message usually comes.
KNOWN_S: Final = RECENT_S + 35.0
# Scheduled messages are counted every ten seconds. Three counts prove that messages become due later.
COUNTING_S: Final = PROBES["in_state"].every_s
NEWEST_S: Final = PROBES["newest"].every_s
LATER_S: Final = 3 * COUNTING_S + 7.0


@contextlib.contextmanager
def poisoned(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """The message at the head fails in each attempt and returns to the front each time."""
    case = lab.case(layout)
    lab.consumers[layout.queue].stop()
    over, fails = threading.Event(), threading.Event()
    with connected(lab.url) as consumer:
        consumer.execute(f"SET application_name = '{layout.queue} consumer'")
        poison = _taken(consumer, layout)
        worker = threading.Thread(target=_work, args=(consumer, layout, poison, over, fails))
        worker.start()
        try:
            fails.wait(120)
            yield (pattern(MessageVerdictText.GIVEN_BACK, message=poison[0]),)
        finally:
            over.set()
            worker.join()
    lab.start_consumers(case)


@contextlib.contextmanager
def poisoned_among_healthy(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """One message fails each time, for ever. Two consumers work on it and on the healthy messages behind it.

    Each failure is recorded in the table, as a consumer would do it.
    """
    trigger = f"{layout.queue}_error"
    query(
        lab.url,
        f"CREATE OR REPLACE FUNCTION {trigger}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        f" NEW.{layout.error} := 'payment ' || OLD.id || ' was refused: card ' || quote_literal(OLD.id);"
        f" RETURN NEW; END $$",
    )
    query(
        lab.url,
        f"CREATE OR REPLACE TRIGGER {trigger} BEFORE UPDATE ON {layout.table} FOR EACH ROW"
        f" WHEN (OLD.status = 2 AND NEW.status = 1) EXECUTE FUNCTION {trigger}()",
    )
    text = make_message(0, "shop", 100, poison=True)
    ((poison,),) = query(lab.url, f"SELECT {routine(layout, 'push')}(convert_to(?, 'UTF8'))", text)
    completed = lab.load.counts.totals(layout.queue).completed
    wait_until(lambda: lab.load.counts.totals(layout.queue).completed > completed, what="a healthy message is done")
    yield pattern(MessageVerdictText.GIVEN_BACK, message=poison), "payment <n> was refused: card <text>"
    delete = f"DELETE FROM {layout.table} WHERE id = ? RETURNING id"
    wait_until(lambda: query(lab.url, delete, poison), what="the poison message is deleted")


def _popped(consumer: pyodbc.Connection, layout: Layout) -> tuple[int, int] | None:
    row = consumer.execute(f"SELECT id, attempt FROM {routine(layout, 'pop')}()").fetchone()
    return None if row is None else (int(row[0]), int(row[1]))


def _taken(consumer: pyodbc.Connection, layout: Layout) -> tuple[int, int]:
    found = wait_until(lambda: _popped(consumer, layout), what="a message is there")
    assert found is not None
    return found


def _work(
    consumer: pyodbc.Connection, layout: Layout, poison: tuple[int, int], over: threading.Event, fails: threading.Event
) -> None:
    """Pop and complete messages. Hold the poison message for a while, then give it back, until the fault is over."""
    taken: tuple[int, int] | None = poison
    while not over.is_set():
        if taken is not None and taken[0] == poison[0]:
            over.wait(0.2)
            consumer.execute(f"SELECT {routine(layout, 'fail')}(?, ?, 1000000)", *taken).fetchall()
            fails.set()
        elif taken is not None:
            consumer.execute(f"SELECT {routine(layout, 'complete')}(?, ?)", *taken).fetchall()
        else:
            over.wait(0.05)
        taken = _popped(consumer, layout)
    if taken is not None:
        consumer.execute(f"SELECT {routine(layout, 'complete')}(?, ?)", *taken).fetchall()


@contextlib.contextmanager
def twice(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A message is requeued while its consumer is still processing it, and a second consumer pops it."""
    lab.load.change_members(layout.queue, "consumer", rate=0.0)
    with connected(lab.url) as first, connected(lab.url) as second:
        pids = [each.execute("SELECT pg_backend_pid()").fetchval() for each in (first, second)]
        mine = _taken(first, layout)
        lab.poll(time.time(), 2)  # qmon sees that the first consumer holds it
        query(lab.url, f"UPDATE {layout.table} SET status = 1, started_at = NULL, owner = NULL WHERE id = ?", mine[0])
        same = _popped(second, layout)
        assert same is not None
        assert same[0] == mine[0]
        lab.load.change_members(layout.queue, "consumer", rate=60.0)
        yield pattern(MessageVerdictText.POPPED_TWICE, message=mine[0]), *(str(pid) for pid in pids)
        second.execute(f"SELECT {routine(layout, 'complete')}(?, ?)", *same).fetchall()


@contextlib.contextmanager
def unarchived(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """The archiver ran every second and stops. The cure archives all done messages by hand."""
    lab.watched.view(polls=KNOWN_POLLS, timeout=150)
    lab.load.change_members(layout.queue, "keeper", every_s=3600.0)
    yield ()
    archived = f"SELECT {routine(layout, 'archive')}(500)"
    while query(lab.url, archived) != [(0,)]:
        pass


@contextlib.contextmanager
def starved(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A consumer always pops urgent messages first, so a message of low priority waits."""
    case, over = lab.case(layout), threading.Event()
    lab.consumers[layout.queue].stop()
    push = f"INSERT INTO {layout.table} (message, {layout.priority}) VALUES ('late', 9)"
    query(lab.url, push)
    consumer = threading.Thread(target=_pop_urgent, args=(lab.url, layout, over))
    consumer.start()
    try:
        yield (pattern(FlowText.STARVED, priority=9),)
    finally:
        over.set()
        consumer.join()
    query(lab.url, f"DELETE FROM {layout.table} WHERE {layout.priority} = 9")
    lab.start_consumers(case)


def _pop_urgent(url: str, layout: Layout, over: threading.Event) -> None:
    """Pop in the order of priorities, at a slightly lower rate than messages are pushed."""
    wanted = (
        f"SELECT id FROM {layout.table} WHERE status = 1 ORDER BY {layout.priority}, id LIMIT 1 FOR UPDATE SKIP LOCKED"
    )
    count = f"SELECT count(*) FROM {layout.table} WHERE status = 1 AND {layout.priority} = 1"
    take = f"UPDATE {layout.table} SET status = 2, started_at = now() WHERE id = ({wanted}) RETURNING id"
    with connected(url) as consumer:
        while not over.wait(0.05):
            if consumer.execute(count).fetchval() > 3:
                consumer.execute(f"DELETE FROM {layout.table} WHERE id = ?", consumer.execute(take).fetchval())


@contextlib.contextmanager
def due_later(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """The producer's clock is five hours ahead, and messages are due by that clock."""
    lab.poll(lab.watched.views[0].sampled_at + USUAL_S)
    lab.load.change_members(layout.queue, "producer", rate=0.0)
    over = threading.Event()
    push = f"INSERT INTO {layout.table} (due_time, payload) VALUES (clock_timestamp() + interval '5 h', 'later')"

    def producer() -> None:
        with connected(lab.url) as session:
            while not over.wait(0.1):
                session.execute(push)

    thread = threading.Thread(target=producer)
    thread.start()
    try:
        yield pattern(FlowText.MANY_LATER), pattern(FlowText.DUE_LATER, share="0 %")
    finally:
        over.set()
        thread.join()
    lab.load.change_members(layout.queue, "producer", rate=8.0)


@contextlib.contextmanager
def late_clock(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """The clock of one of two producers is three hours behind, and this producer sends the push times."""
    since = time.time()
    insert = f"INSERT INTO {layout.table} (enqueued_at, message) VALUES (clock_timestamp() - interval '3 h', 'late')"
    with _pushing(lab, insert):
        yield (pattern(MessageVerdictText.CLOCK_BEHIND, offset="3 h 00 m"),)
    views = [queue for view in lab.since(since) if (queue := view.queue(layout.queue)) is not None]
    said = ["wrong clock" in {verdict.code for verdict in queue.verdicts} for queue in views]
    found = said.index(True) if any(said) else len(views)  # a missing verdict is reported elsewhere
    ages = [queue.oldest for queue in views[found:]]
    assert all(age.value is None or age.value < 3600 for age in ages), "no age from the wrong clock"


@contextlib.contextmanager
def repeated(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """One producer pushes the same message again and again, while the other producer pushes different messages."""
    lab.poll(lab.watched.views[0].sampled_at + KNOWN_S)
    with _pushing(lab, f"INSERT INTO {layout.table} (message) VALUES ('order 4711')"):
        yield (pattern(MessageVerdictText.DUPLICATES),)


@contextlib.contextmanager
def _pushing(lab: Laboratory, insert: str) -> Iterator[None]:
    """Run this statement eight times per second."""

    def push(over: threading.Event) -> None:
        with connected(lab.url) as session:
            while not over.wait(0.125):
                session.execute(insert)

    with meanwhile(push):
        yield


CASES = (
    Case("poison at the head", "poison message at the head", "status", poisoned, reads_s=3.0, own_processes=True),
    Case(
        "poison among healthy messages",
        "poison message at the head",
        "status",
        poisoned_among_healthy,
        reads_s=3.0,
        load={"consumers": 2},
        max_attempts=1_000_000,
        error="last_error",
        configured=True,
    ),
    Case("delivered twice", "delivered twice", "status", twice, reads_s=1.0),
    Case(
        "archive stands still",
        "archive behind",
        "flag",
        unarchived,
        reads_s=SILENT_S + 1.0,
        load={"rate": 80.0, "pop_rate": 250.0, "keeper": True},
    ),
    Case(
        "low priority starved",
        "priority starved",
        "status",
        starved,
        reads_s=22.0,
        own_processes=True,
        priority="priority",
        configured=True,
    ),
    Case(
        "messages due in five hours",
        "due later than usual",
        "pending",
        due_later,
        reads_s=LATER_S,
        clears_s=COUNTING_S + 7.0,
    ),
    Case(
        "clock of a producer wrong",
        "wrong clock",
        "status",
        late_clock,
        reads_s=4 * NEWEST_S,
        clears_s=RECENT_S + NEWEST_S,
        load={"rate": 8.0, "pop_rate": 14.0},
        patient=True,
    ),
    Case(
        "same message pushed again and again",
        "duplicates",
        "status",
        repeated,
        reads_s=4 * NEWEST_S,
        clears_s=RECENT_S + NEWEST_S,
        # Messages that are popped at once are rarely read.
        load={"idle_s": 3.0},
        patient=True,
    ),
)
