"""Libraries as found in production: thousands of queues, unlikely names, two schemas, missing rights."""

from __future__ import annotations

from typing import Final

import pytest

from qmon.model.groups.group import MOST_QUEUES
from qmon.model.view import View
from qmon.monitor.catalog.group_resolution import GroupResolutionText
from qmon.monitor.source import ReadScope
from tests.contract.watching import watching
from tests.facts import query
from tests.libraries.figures import of_queue
from tests.libraries.library import QUEUES
from tests.libraries.oban import oban
from tests.libraries.procrastinate import procrastinate
from tests.wordings import has

pytestmark = pytest.mark.server

HOSTILE: Final = (
    '"; drop table oban_jobs; --',
    "a/b/c",
    "it's",
    "[bold red]x[/bold red]",
    "x" * 200,
    "{table!name}?",
    "schön 队列",
    " ",
)
PUSH: Final = """
INSERT INTO oban_jobs (state, queue, worker, max_attempts, scheduled_at)
SELECT 'available', CAST(? AS text), 'Job', 20, timezone('UTC', now()) FROM generate_series(1, CAST(? AS int))
"""


def test_names_of_queues_are_only_names(database: str) -> None:
    oban().install(database)
    for number, name in enumerate(HOSTILE, 1):
        query(database, PUSH, name, number)
    with watching(database) as watched:
        view = watched.view(lambda view: len(view.queues) == len(HOSTILE), polls=4)
        assert not view.failures
        for number, name in enumerate(HOSTILE, 1):
            queue = view.queue(f"oban/{name}")
            assert queue is not None, name
            assert not queue.failures
            assert queue.ready.value == number
            assert queue.push_rate.value == 0
        shown = f"oban/{HOSTILE[0]}"
        watched.poller.set_focus(ReadScope(rows_of=shown))
        watched.queue(shown, lambda queue: queue.messages is not None)


def test_a_queue_that_is_empty_again_stays(database: str) -> None:
    oban().install(database)
    for name in QUEUES:
        query(database, PUSH, name, 3)
    with watching(database) as watched:
        watched.view(lambda view: len(view.queues) == len(QUEUES))
        query(database, "DELETE FROM oban_jobs WHERE queue = ?", QUEUES[0])
        view = watched.view(lambda view: of_queue(view, QUEUES[0]).ready.value == 0, polls=2)
    assert of_queue(view, QUEUES[1]).ready.value == 3


def test_a_library_that_is_there_twice_has_queues_in_both_schemas(database: str) -> None:
    oban().install(database)
    query(database, PUSH, "mails", 2)
    query(database, "CREATE SCHEMA other")
    query(database, "CREATE TABLE other.oban_jobs (LIKE public.oban_jobs INCLUDING ALL)")
    query(database, PUSH.replace("INTO oban_jobs", "INTO other.oban_jobs"), "mails", 5)
    with watching(database) as watched:
        view = watched.view(lambda view: len(view.queues) == 2, polls=3)
    assert {queue.name: queue.ready.value for queue in view.queues} == {"public.oban/mails": 2, "other.oban/mails": 5}


def test_a_table_that_our_role_may_not_read_is_named_and_other_libraries_go_on(database: str) -> None:
    oban().install(database)
    query(database, PUSH, "mails", 2)
    procrastinate().install(database)
    query(database, "DROP ROLE IF EXISTS test_libraries")
    query(database, "CREATE ROLE test_libraries LOGIN IN ROLE pg_monitor")
    try:
        query(database, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO test_libraries")
        query(database, "REVOKE SELECT ON procrastinate_events FROM test_libraries")
        with watching(database.replace("postgres@", "test_libraries@")) as watched:
            view = watched.view(lambda view: view.queues and view.failures, polls=3)
        assert {queue.name: queue.ready.value for queue in view.queues} == {"oban/mails": 2}
        (failure,) = [failure for failure in view.failures if "procrastinate" in failure.reason]
        assert has(failure.reason, GroupResolutionText.UNREADABLE, table="public.procrastinate_events")
        assert "procrastinate_events" in (failure.grant or "")
        assert "GRANT SELECT" in (failure.grant or "")
    finally:
        query(database, "DROP OWNED BY test_libraries")
        query(database, "DROP ROLE test_libraries")


MANY: Final = 5000


def test_of_thousands_of_queues_those_with_most_messages_are_shown(database: str) -> None:
    oban().install(database)
    query(
        database,
        "INSERT INTO oban_jobs (state, queue, worker, max_attempts, scheduled_at)"
        " SELECT 'available', 'q' || n, 'Job', 20, timezone('UTC', now()) FROM generate_series(1, ?) AS n,"
        " generate_series(1, CASE WHEN n > ? THEN 3 ELSE 1 END)",
        MANY,
        MANY - 300,
    )
    query(
        database,
        "INSERT INTO oban_jobs (state, queue, worker, max_attempts, scheduled_at)"
        " SELECT 'scheduled', 'q' || n, 'Job', 20, timezone('UTC', now() + interval '1 d')"
        " FROM generate_series(1, ?) AS n",
        MANY,
    )
    with watching(database) as watched:
        view = watched.view(lambda view: len(view.queues) == MOST_QUEUES, polls=4)
    assert {f"oban/q{n}" for n in range(MANY - 299, MANY + 1)} <= {queue.name for queue in view.queues}
    assert {queue.ready.value for queue in view.queues} <= {1, 3, None}
    assert {queue.scheduled.value for queue in view.queues} <= {1, None}
    assert unknown(view)


def unknown(view: View) -> bool:
    """Return whether all figures that were not read are unknown with a reason, and not 0."""
    return all(queue.ready.value or queue.ready.reason for queue in view.queues)
