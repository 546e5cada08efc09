"""Faults of producers and consumers: paused, gone, idle, killed while processing a message, too slow."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Final

import pyodbc
import pytest

from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Side
from qmon.model.verdicts import CANNOT_TELL
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.monitor.state.failed_pushes import PUSHES_S
from qmon.monitor.state.message_faults import CRASHED_S
from qmon.monitor.state.rates.rate_window import RATE_WINDOW_S
from qmon.operate.actions.pause import prepare_pause, prepare_resume
from qmon.workload.load_plan import PlannedFault
from tests.contract.operating import applied
from tests.facts import PATIENCE_S, connected, query, wait_until
from tests.laboratory.case import LATELY_S, Case
from tests.laboratory.laboratory import Laboratory
from tests.queues import ENGINE, routine
from tests.wordings import pattern

# The number of consumers whose deaths are seen before the verdict is due.
_CRASHES: Final = 4


@contextlib.contextmanager
def paused(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """The producers are paused for ten minutes."""
    applied(prepare_pause(lab.context, layout, Side.PRODUCERS, 600))
    yield (re.escape(lab.context.who),)
    applied(prepare_resume(lab.context, layout, Side.PRODUCERS))


@contextlib.contextmanager
def asleep(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Consumers are connected and pop nothing."""
    lab.load.change_members(layout.queue, "consumer", rate=0.0)
    yield (pattern(FlowText.SESSION, session=lab.session(layout, "consumer")) + r"\b",)
    lab.load.change_members(layout.queue, "consumer", rate=60.0)


@contextlib.contextmanager
def gone(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """No consumer is connected."""
    lab.consumers[layout.queue].stop()
    yield ()
    head = f"SELECT min(id) FROM {ENGINE.quote(layout.table.parts)}"
    waiting = query(lab.url, head)
    lab.start_consumers(lab.case(layout))
    wait_until(lambda: query(lab.url, head) != waiting, 60, what="the first message is popped")


@contextlib.contextmanager
def crashed(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A consumer dies between pop and complete. The cure requeues its message by hand."""
    lab.load.inject_fault(PlannedFault("crash", layout.queue, for_s=0.0))
    table = ENGINE.quote(layout.table.parts)
    left = f"SELECT id FROM {table} WHERE status = 2 AND started_at < clock_timestamp() - interval '2 s'"
    (found, *_) = wait_until(lambda: query(lab.url, left), 60, what="a message is left behind")
    yield (pattern(FlowText.MESSAGE_OF_OWNER, message=found[0]),)
    query(lab.url, f"UPDATE {table} SET status = 1, started_at = NULL, owner = NULL WHERE id = ?", found[0])


@contextlib.contextmanager
def crashing(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """The process of the consumers dies with each message and is restarted each time. A keeper requeues messages."""
    table, over = ENGINE.quote(layout.table.parts), threading.Event()
    owners = set[str]()

    def crash() -> None:
        while not over.wait(0.2):
            lab.load.inject_fault(PlannedFault("crash", layout.queue, for_s=0.0))

    def dead() -> bool:
        asked = f"SELECT owner FROM {table} WHERE status = 2 AND started_at < clock_timestamp() - interval '1 s'"
        owners.update(str(owner) for (owner,) in query(lab.url, asked))
        return len(owners) >= _CRASHES

    thread = threading.Thread(target=crash)
    thread.start()
    try:
        wait_until(dead, what="several consumers died")
        yield ()
    finally:
        over.set()
        thread.join()
    wait_until(lambda: not query(lab.url, f"SELECT 1 FROM {table} LIMIT 1"), what="the queue is empty")


@contextlib.contextmanager
def lost_in_thought(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A live consumer holds a message and does not process it."""
    table = ENGINE.quote(layout.table.parts)
    lab.load.change_members(layout.queue, "consumer", rate=0.0)
    with connected(lab.url) as consumer:
        wait_until(lambda: query(lab.url, f"SELECT 1 FROM {table} WHERE status = 1 LIMIT 1"), what="a message is there")
        mine, attempt = consumer.execute(f"SELECT id, attempt FROM {routine(layout, 'pop')}()").fetchone()
        pid = consumer.execute("SELECT pg_backend_pid()").fetchval()
        lab.load.change_members(layout.queue, "consumer", rate=60.0)
        yield pattern(FlowText.MESSAGE_OF_OWNER, message=mine), str(pid)
        consumer.execute(f"SELECT {routine(layout, 'complete')}(?, ?)", mine, attempt).fetchall()


@contextlib.contextmanager
def outrun(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Producers push at twice the rate of the consumers."""
    lab.load.change_members(layout.queue, "producer", rate=80.0)
    lab.load.change_members(layout.queue, "consumer", rate=40.0)
    yield ()
    lab.load.change_members(layout.queue, "producer", rate=15.0)
    lab.load.change_members(layout.queue, "consumer", rate=200.0)


@contextlib.contextmanager
def trickle(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A message is popped every two seconds, but the number in progress can no longer be read."""
    query(lab.url, f"DROP INDEX {_index(lab, layout, '(started_at)')}")
    lab.load.change_members(layout.queue, "consumer", rate=0.5)
    yield (pattern(FlowText.FALLS_BEHIND),)
    lab.load.change_members(layout.queue, "consumer", rate=200.0)
    query(lab.url, f"CREATE INDEX ON {layout.table} (started_at) WHERE status = 2::smallint")
    head = f"SELECT 1 FROM {layout.table} WHERE status = 1 AND enqueued_at < clock_timestamp() - interval '2 s' LIMIT 1"
    wait_until(lambda: not query(lab.url, head), 60, what="the queue is drained")


@contextlib.contextmanager
def refused(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A new version of the producers sends no value for a column, so that the server refuses each message."""
    over, refusals = threading.Event(), threading.Semaphore(0)

    def producer() -> None:
        with connected(lab.url) as session:
            while not over.wait(0.1):
                with pytest.raises(pyodbc.IntegrityError):
                    session.execute(f"INSERT INTO {layout.table} (message, attempts) VALUES ('new', NULL)")
                refusals.release()

    lab.load.change_members(layout.queue, "producer", rate=1.0)
    thread = threading.Thread(target=producer)
    thread.start()
    try:
        assert refusals.acquire(timeout=PATIENCE_S)
        yield (pattern(FlowText.ROLLBACKS),)
    finally:
        over.set()
        thread.join()
    lab.load.change_members(layout.queue, "producer", rate=8.0)


@contextlib.contextmanager
def undone(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Producers insert messages and roll their transactions back."""
    lab.load.change_members(layout.queue, "producer", rollback_share=0.9)
    yield (pattern(FlowText.PUSHES_FAIL),)
    lab.load.change_members(layout.queue, "producer", rollback_share=0.0)


def _index(lab: Laboratory, layout: Layout, of: str) -> str:
    asked = "SELECT indexname FROM pg_indexes WHERE tablename = ? AND indexdef LIKE ?"
    ((name,),) = query(lab.url, asked, layout.table.name, f"%{of}%")
    return f'public."{name}"'


CASES = (
    Case("producers paused", "paused", "status", paused),
    Case("consumers asleep", "consumers not claiming", "status", asleep, reads_s=LATELY_S),
    Case("no consumers", "no consumers", "fifo", gone, reads_s=LATELY_S, own_processes=True),
    Case(
        "consumer crashed",
        "stuck in progress",
        "status",
        crashed,
        timeout_s=3.0,
        load={"work_s": 0.01, "own_processes": True},
    ),
    Case(
        "consumers crash in a loop",
        "consumers crash",
        "status",
        crashing,
        clears_s=CRASHED_S,
        timeout_s=3.0,
        load={"work_s": 0.01, "own_processes": True, "keeper": True, "requeue_after_s": 2.0},
        # Messages of dead consumers are in progress, and the first message comes back each time.
        alone=True,
        true_too=frozenset({"stuck in progress", "poison message at the head", "consumers fall behind"}),
    ),
    Case("consumer lost in thought", "stuck in progress", "status", lost_in_thought, reads_s=3.0, timeout_s=3.0),
    Case(
        "producers at twice the consumers",
        "consumers fall behind",
        "naive",
        outrun,
        reads_s=LATELY_S,
        clears_s=LATELY_S,
    ),
    Case("inserts fail", "pushes fail", "status", refused, reads_s=PUSHES_S, clears_s=PUSHES_S),
    Case("pushes rolled back", "pushes fail", "fifo", undone, reads_s=PUSHES_S, clears_s=PUSHES_S),
    Case(
        "a trickle of pops",
        "consumers fall behind",
        "status",
        trickle,
        reads_s=RATE_WINDOW_S,
        clears_s=RATE_WINDOW_S,
        true_too=frozenset({CANNOT_TELL}),
        load={"rate": 30.0, "pop_rate": 200.0},
    ),
)
