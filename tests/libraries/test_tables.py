"""Libraries whose workers do not run here: recreated tables with rows in every state."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.cli.commands.queues import ListingText
from qmon.model.view import QueueView
from tests.cli.calling import call
from tests.contract.watching import watching
from tests.facts import connected, query
from tests.libraries.more_tables import (
    DB_SCHEDULER,
    DJANGO_Q2,
    HANGFIRE,
    JOBRUNR,
    KOMBU,
    ODOO,
    PG_BOSS_9,
    PG_BOSS_10,
    QUARTZ,
    QUARTZ_NET,
    SPRING,
)
from tests.libraries.tables import DELAYED_JOB, GOOD_JOB, LARAVEL, QUE, RIVER, SYMFONY, Figures, Made
from tests.wordings import has

pytestmark = pytest.mark.server


MASSTRANSIT: Final = Made(
    "masstransit",
    """
CREATE TABLE queue (id bigserial PRIMARY KEY, name text NOT NULL, type integer NOT NULL, auto_delete integer);
CREATE TABLE message (transport_message_id uuid PRIMARY KEY, message_type text, body jsonb);
CREATE TABLE message_delivery (
    message_delivery_id bigserial PRIMARY KEY, transport_message_id uuid NOT NULL DEFAULT gen_random_uuid(),
    queue_id bigint NOT NULL, priority smallint NOT NULL DEFAULT 100, enqueue_time timestamptz NOT NULL,
    expiration_time timestamptz, consumer_id uuid, lock_id uuid, delivery_count integer NOT NULL DEFAULT 0,
    max_delivery_count integer NOT NULL DEFAULT 10, last_delivered timestamptz
);
CREATE INDEX ON message_delivery (queue_id, priority, enqueue_time, message_delivery_id);
INSERT INTO queue (name, type) VALUES
    ('mails', 1), ('mails', 2), ('mails', 3), ('orders', 1), ('orders', 2), ('orders', 3);
INSERT INTO message_delivery (queue_id, enqueue_time, lock_id, delivery_count, last_delivered) VALUES
    (1, now() - interval '5 m', NULL, 0, NULL), (1, now() + interval '1 d', NULL, 0, NULL),
    (1, now() + interval '1 m', gen_random_uuid(), 1, now()),
    (1, now() - interval '1 m', gen_random_uuid(), 1, now() - interval '2 m'),
    (1, now() - interval '1 m', NULL, 10, now() - interval '2 m'),
    (2, now() - interval '1 m', NULL, 0, NULL), (3, now(), NULL, 0, NULL), (4, now(), NULL, 0, NULL);
""",
    {
        "mails": {"ready": 2, "scheduled": 1, "in_progress": 1, "stuck": 0, "dead": 3},
        "orders": {"ready": 1, "scheduled": 0, "in_progress": 0, "stuck": 0, "dead": 0},
    },
    oldest={"mails": 300},
)
ENDS: Final = ("blocked", "dead", "done")
ALL: Final = {
    made.name: made
    for made in (
        *(RIVER, GOOD_JOB, DELAYED_JOB, LARAVEL, SYMFONY, MASSTRANSIT, HANGFIRE, DB_SCHEDULER, ODOO, JOBRUNR, SPRING),
        *(QUARTZ, QUARTZ_NET, KOMBU, DJANGO_Q2),
    )
} | {"pg-boss 9": PG_BOSS_9, "pg-boss 10": PG_BOSS_10}


def figures(queue: QueueView, names: Figures) -> dict[str, float | None]:
    """Return its figures of these names."""
    return {name: getattr(queue, name).value for name in names}


@pytest.mark.parametrize("made", ALL.values(), ids=list(ALL))
def test_each_state_of_each_queue_is_told(made: Made, database: str) -> None:
    query(database, made.tables)
    with watching(database) as watched:
        view = watched.view(lambda view: len(view.queues) == len(made.figures), polls=3)
    assert not view.failures
    queues = {name: f"{made.name}/{name}" if name else made.name for name in made.figures}
    assert {queue.name for queue in view.queues} == set(queues.values())
    for name, told in made.figures.items():
        queue = view.queue(queues[name])
        assert queue is not None
        assert not queue.failures
        assert figures(queue, told) == told, name
        assert {word for word in ENDS if queue.layout.has_figure(word)} == set(ENDS) & told.keys()
    for name, seconds in made.oldest.items():
        queue = view.queue(queues[name])
        assert queue is not None
        assert seconds <= (queue.oldest.value or 0) < seconds + 60
    for name, proof in made.stuck.items():
        queue = view.queue(queues[name])
        assert queue is not None
        said = [verdict.proof for verdict in queue.verdicts if verdict.code == "stuck in progress"]
        assert [proof in each for each in said] == [True], said


def test_a_job_is_in_progress_while_a_session_holds_the_lock_on_its_id(database: str) -> None:
    query(database, QUE)
    with connected(database) as worker, watching(database) as watched:
        for held in (2, 8589934593):
            worker.execute("SELECT pg_advisory_lock(CAST(? AS bigint))", held)
        worker.execute("SELECT pg_advisory_lock(0, 4)")  # two keys: not the lock of a job
        wanted = {"ready": 1, "scheduled": 1, "in_progress": 1, "stuck": 0, "dead": 0, "done": 0}
        mails = watched.queue("que/mails", lambda queue: figures(queue, wanted) == wanted)
        assert 300 <= (mails.oldest.value or 0) < 360
        wanted = {"ready": 1, "scheduled": 0, "in_progress": 1, "stuck": 0, "dead": 1, "done": 1}
        watched.queue("que/default", lambda queue: figures(queue, wanted) == wanted)
        worker.close()  # ends its session and its locks
        watched.queue("que/default", lambda queue: (queue.ready.value, queue.in_progress.value) == (2, 0))


def test_init_of_a_database_with_a_library_alone_leads_to_connect(database: str, tmp_path: Path) -> None:
    query(database, RIVER.tables)
    place = tmp_path / "shop.toml"
    done = call("init", database, "--config", str(place))
    assert done.exit_code == 0, done.output
    assert has(done.stderr, ListingText.WRITTEN, path=place)
    assert has(done.stderr, ListingText.REVIEW)
    assert 'library = "river"' in place.read_text(encoding="utf-8")
