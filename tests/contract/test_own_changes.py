"""Rates of a queue while qmon's operations change its rows: none of these rows counts as popped or completed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from qmon.model.operation_records import Choice, OwnerState, RedriveLimits
from qmon.model.reasons import Reason
from qmon.model.view import QueueView
from qmon.operate.operator import Operator
from tests.contract.operating import applied, desk_at
from tests.contract.tables import make
from tests.contract.watching import Watched, watching
from tests.facts import connected
from tests.jobs import TABLE, layout

ROWS = 2_000
PUSHED = 150
POP = """
UPDATE public.jobs SET status = 'working', started_at = now()
WHERE id = (SELECT id FROM public.jobs WHERE status = 'ready' AND payload = 'work' ORDER BY id LIMIT 1
            FOR UPDATE SKIP LOCKED)
RETURNING id
"""


@contextmanager
def consumer(url: str) -> Iterator[list[int]]:
    """Run a consumer of messages with the payload "work"; yield the ids that it has completed."""
    done: list[int] = []
    stop = threading.Event()

    def work() -> None:
        with connected(url) as raw:
            while not stop.wait(0.05):
                cursor = raw.execute(POP)
                row = cursor.fetchone() if cursor.description else None  # the driver has no result without a row
                if row is not None:
                    raw.execute("DELETE FROM public.jobs WHERE id = ?", row[0])
                    done.append(row[0])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield done
    finally:
        stop.set()
        thread.join()


def moved(watched: Watched) -> tuple[float, float]:
    """Return the messages popped and completed in all polls, from the rates."""
    polls = [moved for view in watched.views if (moved := view.queues[0].moved) is not None]
    return sum(each.popped or 0 for each in polls), sum(each.completed or 0 for each in polls)


@pytest.mark.parametrize("action", ["redrive", "requeue", "purge"])
def test_rows_that_operations_change_are_neither_popped_nor_completed(
    database: str, tmp_path: Path, action: str
) -> None:
    state = "working" if action == "requeue" else "dead"
    columns = "INSERT INTO public.jobs (status, attempts, started_at, payload) SELECT"
    fill = f"{columns} '{state}', 1, now() - interval '1 hour', 'old' FROM generate_series(1, {ROWS});"
    make(database, f"{TABLE}{fill}{columns} 'ready', 0, NULL, 'work' FROM generate_series(1, {PUSHED});")
    operator = Operator(desk_at(database, tmp_path))
    prepared = {
        "redrive": lambda: operator.redrive(layout(), Choice(), RedriveLimits(rate=None)),
        "requeue": lambda: operator.requeue(layout(), Choice(owner_states=frozenset(OwnerState))),
        "purge": lambda: operator.purge(layout(), Choice(state="dead")),
    }[action]()
    with watching(database, [layout()]) as watched:
        watched.queue("jobs", lambda queue: queue.pop_rate.value == 0)
        with consumer(database) as done:
            result = applied(prepared)
            assert result.done == ROWS
            assert applied(operator.undo(result.operation)).done == ROWS
            watched.queue("jobs", lambda _: len(done) == PUSHED)
        watched.queue("jobs", lambda queue: queue.pop_rate.value == 0)
        popped, completed = moved(watched)
        assert 0 <= popped <= PUSHED, "this also excludes the consumer's work in that time"
        assert 0 <= completed <= PUSHED
        assert any(Reason.OWN_OPERATION in view.queues[0].pop_rate.reason for view in watched.views)


@pytest.mark.parametrize("action", ["requeue", "redrive"])
def test_an_operation_does_not_end_a_verdict_that_it_does_not_mend(database: str, tmp_path: Path, action: str) -> None:
    state = "working" if action == "requeue" else "dead"
    columns = "INSERT INTO public.jobs (status, attempts, started_at, payload) SELECT"
    fill = f"{columns} '{state}', 1, now() - interval '1 hour', 'old' FROM generate_series(1, 20);"
    make(database, f"{TABLE}{fill}{columns} 'ready', 0, NULL, 'work' FROM generate_series(1, {PUSHED});")
    operator = Operator(desk_at(database, tmp_path))
    with watching(database, [layout()]) as watched:
        before = watched.queue("jobs", _without_consumers)
        if action == "requeue":
            prepared = operator.requeue(layout(), Choice(owner_states=frozenset(OwnerState)))
        else:
            prepared = operator.redrive(layout(), Choice(), RedriveLimits(rate=None))
        result = applied(prepared)
        first = len(watched.views)
        watched.queue("jobs", lambda queue: Reason.OWN_OPERATION in queue.pop_rate.reason)
        assert applied(operator.undo(result.operation)).done == 20
        watched.queue("jobs", lambda queue: queue.pop_rate.value == 0 and _without_consumers(queue), polls=12)
        found = [view.queues[0] for view in watched.views[first:]]
    assert all(map(_without_consumers, found)), [[v.code for v in queue.verdicts] for queue in found]
    since = {
        verdict.since_at for queue in (before, *found) for verdict in queue.verdicts if verdict.code == "no consumers"
    }
    assert len(since) == 1, "the verdict keeps its start"


def _without_consumers(queue: QueueView) -> bool:
    return any(verdict.code == "no consumers" for verdict in queue.verdicts)
