"""Producers and consumers on a real server are counted, and reported if they are gone or idle."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from qmon.model.layout.layout import ClientPatterns, Layout
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.view import View
from tests.contract.watching import installed, said_at_once, watching
from tests.facts import connected, query
from tests.meanwhile import meanwhile
from tests.wordings import has


def worst(view: View) -> dict[str, str]:
    return {queue.name: queue.verdict.code for queue in view.queues}


def test_producers_and_consumers_are_counted_and_named_when_they_do_nothing_or_are_gone(database: str) -> None:
    status, fifo = installed(database, "status", "fifo")
    layouts = [status, replace(fifo, consumers=ClientPatterns(application="mailer-*"))]
    with watching(database, layouts) as watched, connected(database) as producer, connected(database) as consumer:
        (pid,) = consumer.execute("SELECT pg_backend_pid()").fetchone()
        consumer.execute("SELECT set_config('application_name', 'worker', false), status_pop()").fetchall()
        producer.execute("SELECT status_push('x'), fifo_push('x') FROM generate_series(1, 31)").fetchall()
        wanted = {"status": "consumers not claiming", "fifo": "no consumers"}
        view = watched.view(lambda v: worst(v) == wanted)
        by_name = {queue.name: queue for queue in view.queues}
        idle, gone = by_name["status"], by_name["fifo"]
        assert (idle.producers.value, idle.consumers.value, idle.consumers_waiting.value) == (1, 1, 1)
        assert f"{FlowText.SESSION.render(session=pid)} (worker) idle" in idle.verdict.proof
        assert (gone.producers.value, gone.consumers.value) == (1, 0)
        assert has(gone.verdict.proof, FlowText.READY_BUT, ready=31.0)
        assert has(gone.verdict.proof, FlowText.IN_SETTING)
        assert "mailer-*" in gone.verdict.proof
        assert not {"no pops", "consumers fall behind"} & {v.code for queue in view.queues for v in queue.verdicts}
        query(database, "DELETE FROM status")
        query(database, "SELECT fifo_pop() FROM generate_series(1, 31)")
        watched.view(lambda v: not set(worst(v).values()) & set(wanted.values()))
        watched.view(lambda v: all(wanted[q.name] in {each.code for each in q.past} for q in v.queues))


@pytest.mark.parametrize("told", [False, True], ids=["nobody says that a pop deletes", "the layout says so"])
def test_consumers_that_delete_rows_of_a_table_with_states_are_seen_to_claim(
    database: str, monkeypatch: pytest.MonkeyPatch, *, told: bool
) -> None:
    said_at_once(monkeypatch)
    (layout,) = installed(database, "status")
    layout = replace(layout, consumers=ClientPatterns(application="worker"))
    if told:
        layout = replace(layout, pop="delete")
    query(database, "SELECT count(status_push('x')) FROM generate_series(1, 100000)")
    with watching(database, [layout]) as watched:
        watched.view()
        with deleting(database, layout):
            moving = watched.queue("status", lambda q: ((q.pop_rate if told else q.complete_rate).value or 0) > 0)
            after = len(watched.views)
            last = watched.queue("status", lambda q: (q.ready.value or 0) > 0, polls=12)  # six seconds
            said = {v.code for view in watched.views[after:] for queue in view.queues for v in queue.verdicts}
    assert not said & {"consumers not claiming", "no consumers", "no pops"}
    assert (last.consumers.value, bool(moving.ready.value)) == (1, True)


@contextlib.contextmanager
def deleting(url: str, layout: Layout) -> Iterator[None]:
    """Run a consumer that deletes the first ready row in a loop."""
    first = f"SELECT id FROM {layout.table} WHERE status = 1 ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"

    def pop(over: threading.Event) -> None:
        with connected(url) as session:
            session.execute("SET application_name = 'worker'")
            while not over.wait(0.01):
                session.execute(f"DELETE FROM {layout.table} WHERE id = ({first}) RETURNING id").fetchall()

    with meanwhile(pop):
        yield


def test_done_messages_are_what_is_in_the_table_and_in_no_other_state(database: str) -> None:
    installed(database, "flag", "batch_fast")
    query(database, "SELECT flag_push('x'), batch_fast_push('x') FROM generate_series(1, 60)")
    query(database, "SELECT flag_pop() FROM generate_series(1, 40)")
    query(database, "SELECT batch_fast_complete(id, attempt) FROM batch_fast_pop_batch(25)")
    with watching(database) as watched:
        flag = watched.queue("flag", lambda q: q.done.value == 40 and q.bytes.value)
        fast = watched.queue("batch_fast", lambda q: q.done.value == 25)
    assert flag.done.estimated
    assert (flag.ready.value, fast.ready.value) == (20, 35)
    assert flag.bytes.value is not None
    assert flag.bytes.value % 8192 == 0
