"""Act on queues of libraries with qmon's operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from qmon.model.layout.layout import Layout
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.operate.operator import Operator
from tests.contract.operating import desk_at
from tests.libraries.firm_queue import firm_queue
from tests.libraries.graphile import Graphile
from tests.libraries.library import Event, Library, Worker, fates
from tests.libraries.oban import oban
from tests.libraries.pgboss import PgBoss
from tests.libraries.pgmq import pgmq
from tests.libraries.pgqueuer import pgqueuer
from tests.libraries.procrastinate import procrastinate
from tests.queues import ENGINE, opened

# SQL that backdates heartbeats, or the starts of jobs, so that the workers' jobs are stuck.
OLD: Final[dict[Callable[[], Library], str]] = {
    procrastinate: "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'",
    pgqueuer: "UPDATE pgqueuer SET heartbeat = now() - interval '1 hour' WHERE status = 'picked'",
    oban: "UPDATE oban_producers SET updated_at = timezone('UTC', now()) - interval '1 hour'",
    firm_queue: "UPDATE firm_queue_processes SET last_heartbeat_at = timezone('UTC', now()) - interval '1 hour'",
    pgmq: "UPDATE pgmq.q_mails SET vt = vt",
    PgBoss: "UPDATE pgboss.job SET started_on = now() - interval '1 day' WHERE state = 'active'",
    Graphile: "UPDATE graphile_worker._private_jobs SET locked_at = now() - interval '1 day' WHERE locked_at < now()",
}


def each_made(libraries: Sequence[Callable[[], Library]]) -> Any:
    """Return a fixture: each of these libraries with its tables in a fresh database, and the function that makes it."""

    @pytest.fixture(params=libraries)
    def made(request: pytest.FixtureRequest, database: str) -> tuple[Library, Callable[[], object]]:
        library: Library = request.param()
        library.install(database)
        return library, request.param

    return made


def operator(url: str, folder: Path) -> Operator:
    """Return the operator of a test."""
    return Operator(desk_at(url, folder))


def layout_of(url: str, queue: str) -> Layout:
    """Return the layout of a queue as qmon finds it."""
    with opened(url) as connection:
        groups = [found.group for found in resolve_queues(connection, ENGINE, ()).groups]
    of_table = next((group for group in groups if group.name.endswith(f"/{queue}")), None)
    return of_table.queue_layout(None) if of_table is not None else groups[0].queue_layout(queue)


def agree(library: Library, url: str, log: list[Event]) -> None:
    """Check that the tables match the log while nothing moves, and that the library's own checks pass."""
    truth = library.truth(url)
    for queue, counts in fates(log, library.untold).items():
        assert {state: truth[queue][state] for state in counts} == counts, queue
    library.check(url)


def times(worker: Worker, id: str, kind: str) -> int:
    """Return how often a worker's log has an event of this kind for a job."""
    return sum(event.id == id and event.event == kind for event in worker.events())


def own_id(id: str) -> str:
    """Return the id as the table has it: in the logs of pgmq's workers, the queue's name precedes it."""
    return id.rpartition("/")[2]
