"""The consumer list of a library's queue equals the library's own tables, with real workers, one of them killed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from qmon.model.consumer_list import ListedConsumer, Unknown, list_consumers
from qmon.model.view import View
from qmon.monitor.source import ReadScope
from tests.contract.watching import Watched, watching
from tests.facts import query
from tests.libraries.library import QUEUES, Library
from tests.libraries.oban import oban
from tests.libraries.procrastinate import procrastinate

pytestmark = pytest.mark.server

MAILS, INVOICES = QUEUES

# For each worker that the library lists for the queue: name, host, seconds since its start, and its jobs. Both rows of
# heartbeats and jobs of workers without one are included. Written from the documentation of the libraries.
OBAN: Final = """
SELECT p.uuid::text, p.node, extract(epoch FROM timezone('UTC', now()) - p.started_at)::float8, j.id::text
FROM oban_producers AS p LEFT JOIN oban_jobs AS j ON j.attempted_by[2] = p.uuid::text AND j.state = 'executing'
WHERE p.queue = 'mails' AND p.updated_at >= timezone('UTC', now()) - interval '60 s'
UNION ALL
SELECT j.attempted_by[2], NULL, NULL, j.id::text FROM oban_jobs AS j
WHERE j.queue = 'mails' AND j.state = 'executing' AND NOT EXISTS (
    SELECT FROM oban_producers AS p
    WHERE p.uuid::text = j.attempted_by[2] AND p.updated_at >= timezone('UTC', now()) - interval '60 s')
"""
# Its table of workers has no queue, host or start.
PROCRASTINATE: Final = """
SELECT w.id::text, NULL, NULL, j.id::text
FROM procrastinate_workers AS w
LEFT JOIN procrastinate_jobs AS j ON j.worker_id = w.id AND j.status = 'doing' AND j.queue_name = 'mails'
WHERE w.last_heartbeat >= now() - interval '30 s'
UNION ALL
SELECT j.worker_id::text, NULL, NULL, j.id::text FROM procrastinate_jobs AS j
WHERE j.queue_name = 'mails' AND j.status = 'doing' AND NOT EXISTS (
    SELECT FROM procrastinate_workers AS w WHERE w.id = j.worker_id AND w.last_heartbeat >= now() - interval '30 s')
"""
FORGET: Final = {
    "oban": "UPDATE oban_producers SET updated_at = timezone('UTC', now()) - interval '1 hour' WHERE uuid::text = ?",
    "procrastinate": "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour' WHERE id::text = ?",
}


@dataclass(frozen=True)
class Listed:
    """A worker: its host, whether its start is known, and its jobs."""

    host: str | None
    has_start: bool
    jobs: frozenset[str]


def by_library(url: str, truth: str) -> dict[str, Listed]:
    """Return the workers of the queue by name, as the library's own tables have them."""
    out: dict[str, Listed] = {}
    for name, host, since_s, job in query(url, truth):
        before = out.get(str(name), Listed(None, False, frozenset()))
        jobs = before.jobs | ({str(job)} if job is not None else set())
        out[str(name)] = Listed(None if host is None else str(host), since_s is not None, jobs)
    return out


def by_qmon(view: View, queue: str) -> dict[str, ListedConsumer]:
    """Return the consumers of qmon's list by name."""
    found = view.queue(queue)
    return {} if found is None else {each.name: each for each in list_consumers(found, view.sampled_at).consumers}


def as_listed(consumers: dict[str, ListedConsumer]) -> dict[str, Listed]:
    """Return the facts of the consumers that the library also knows."""
    return {
        name: Listed(each.host, each.since_s is not None, frozenset(message.id for message in each.messages))
        for name, each in consumers.items()
    }


def agreed(watched: Watched, url: str, truth: str, queue: str) -> dict[str, ListedConsumer]:
    """Wait until qmon's list and the tables have the same workers with the same jobs. Return qmon's list."""
    found = by_qmon(
        watched.view(lambda view: as_listed(by_qmon(view, queue)) == by_library(url, truth), polls=2), queue
    )
    assert all(each.holds == len(each.messages) for each in found.values())
    return found


@pytest.mark.parametrize(
    ("make", "truth"), [(oban, OBAN), (procrastinate, PROCRASTINATE)], ids=["oban", "procrastinate"]
)
def test_the_consumers_are_the_workers_of_the_librarys_own_tables(
    make: Callable[[], Library], truth: str, database: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    library, kind = make(), request.node.callspec.id
    library.install(database)
    library.push(database, MAILS, ["first", "second", "third"])
    library.push(database, INVOICES, ["other"])
    with (
        library.start(database, tmp_path, "one", [MAILS], seconds_per_job=3600) as one,
        library.start(database, tmp_path, "two", [MAILS], seconds_per_job=3600) as two,
        library.start(database, tmp_path, "bills", [INVOICES], seconds_per_job=3600) as bills,
        watching(database) as watched,
    ):
        for each in (one, two, bills):
            each.wait(1, "claimed")
        queue = watched.view(lambda view: any(each.name.endswith(f"/{MAILS}") for each in view.queues))
        name = next(each.name for each in queue.queues if each.name.endswith(f"/{MAILS}"))
        watched.poller.set_focus(ReadScope(rows_of=name, visible=frozenset({name}), consumers=True))
        found = agreed(watched, database, truth, name)
        assert sum(len(each.messages) for each in found.values()) == 2
        assert all(each.is_alive for each in found.values())
        assert all(each.unknown["session"] is Unknown.NO_SESSION for each in found.values())

        (lost,) = one.kill()
        query(database, FORGET[kind], lost.worker)
        gone = agreed(watched, database, truth, name)
        assert gone[lost.worker].is_alive is False
        assert [message.id for message in gone[lost.worker].messages] == [lost.id]
        (alive,) = two.asleep()
        assert gone[alive.worker].is_alive
