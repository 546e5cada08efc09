"""Problems of queues under load and their cures, on every engine."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.engines.base import Connection
from qmon.errors import ConnectionLost, QueryFailed
from qmon.model.layout.layout import ClientPatterns, Layout
from qmon.model.operation_records import Choice, OperationState
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.view import QueueView, View
from qmon.model.waits.queue_lock import QueueLockText
from qmon.operate.operator import Operator
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import PlannedFault, QueueLoad
from qmon.workload.workload_statements import WorkloadStatements
from tests.contract.anywhere import Place, held_by_consumer
from tests.contract.operating import applied
from tests.contract.watching import Watched, said_at_once, watching
from tests.facts import wait_until
from tests.wordings import has

WANTED: Final = {
    "fifo": "healthy",
    "naive": "consumers fall behind",
    "heap": "no consumers",
    "status": "stuck in progress",
    "strict_fifo": "everything locked",
}


def codes(view: View) -> dict[str, set[str]]:
    """Return the codes of the verdicts on each queue."""
    return {queue.name: {verdict.code for verdict in queue.verdicts} for queue in view.queues}


def seen(watched: Watched, *names: str) -> dict[str, QueueView]:
    """Return these queues, from the first view in which each has its verdict."""
    view = watched.view(lambda v: all(WANTED[name] in codes(v)[name] for name in names))
    return {queue.name: queue for queue in view.queues}


def proof(queue: QueueView) -> str:
    """Return the proof of the verdict expected for a queue."""
    return next(verdict.proof for verdict in queue.verdicts if verdict.code == WANTED[queue.name])


@contextlib.contextmanager
def held(place: Place, layout: Layout) -> Iterator[Connection]:
    """A session with a lock on the head of a queue, idle in its transaction."""
    with (
        place.opened(application="sleeper") as connection,
        contextlib.suppress(ConnectionLost, QueryFailed),
        connection.transaction(),
    ):
        locked = connection.fetch(WorkloadStatements(place.engine, layout, connection.version).hold_statement(1))
        assert locked.rows == ((1,),)
        yield connection


@contextlib.contextmanager
def waiting(place: Place, layout: Layout) -> Iterator[list[Sequence[object] | None]]:
    """A consumer that waits for that lock. Yields a list that gets the message it pops."""
    popped: list[Sequence[object] | None] = []
    with place.opened(application="mailer") as connection:
        thread = threading.Thread(target=lambda: popped.append(place.pop(connection, layout)))
        thread.start()
        try:
            yield popped
        finally:
            connection.cancel()
            thread.join(120)


def test_queues_under_load_get_the_verdicts_that_are_true_of_them_and_actions_that_help(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said_at_once(monkeypatch)
    layouts = {name: place.made(name, timeout_s=1.5) for name in WANTED}
    layouts["status"] = held_by_consumer(layouts["status"])
    layouts["heap"] = replace(layouts["heap"], consumers=ClientPatterns(application="nobody-*"))
    operator = Operator(place.context(tmp_path))
    load = Load(
        place.target,
        [
            QueueLoad(layouts["fifo"], rate=20, own_processes=False),
            QueueLoad(layouts["naive"], rate=200, pop_rate=10, own_processes=False),
            QueueLoad(layouts["heap"], consumers=0, rate=20),
            QueueLoad(layouts["status"], rate=20, work_s=0.01),
        ],
    )
    with place.opened() as connection:
        place.push(connection, layouts["strict_fifo"], 3)
        with load, watching(place.url, list(layouts.values())) as watched:
            first = seen(watched, "fifo", "naive", "heap")
            assert has(proof(first["naive"]), FlowText.FALLS_BEHIND)
            assert "nobody-*" in proof(first["heap"])
            wait_until(lambda: load.counts.totals("status").popped > 3, what="status is popped from")
            load.inject_fault(PlannedFault("crash", "status", for_s=600))
            with held(place, layouts["strict_fifo"]) as sleeper, waiting(place, layouts["strict_fifo"]) as popped:
                then = seen(watched, "status", "strict_fifo")
                assert has(proof(then["status"]), FlowText.DEAD_OWNER, count=1)
                assert f"{QueueLockText.SESSION.render(session=sleeper.session_id)} " in proof(then["strict_fifo"])
                ended = applied(operator.end_session(sleeper.session_id, None))
                assert (ended.state, ended.done) == (OperationState.DONE, 1)
                wait_until(lambda: popped, what="the consumer goes on")
            watched.queue("status", lambda q: q.stuck.value == 1)
            again = applied(operator.requeue(layouts["status"], Choice()))
            assert (again.state, again.done) == (OperationState.DONE, 1)
            load.stop()
            watched.view(lambda v: all(WANTED[name] not in codes(v)[name] for name in ("status", "strict_fifo")))
            assert watched.view().failures == ()
        assert popped[0] is not None
        assert {operation.kind.value for operation in operator.read_operations()} == {"end-session", "requeue"}
        counts = load.counts
        for name in ("fifo", "naive", "heap"):
            statements = WorkloadStatements(place.engine, layouts[name], connection.version)
            assert statements.count_ready(connection) == counts.depth_at(name, counts.last_at()), name
            assert counts.totals(name).errors == 0
        assert min(counts.totals(name).pushed for name in ("fifo", "naive", "heap", "status")) > 0
