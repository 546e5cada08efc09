"""NServiceBus on PostgreSQL: tables and statements as its transport makes them. The test plays the endpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.model.operation_records import Choice, OperationState
from qmon.operate.operator import Operator
from tests.contract.operating import applied, desk_at
from tests.contract.watching import watching
from tests.facts import connected, query

pytestmark = pytest.mark.server

TABLES: Final = """
CREATE TABLE "Sales" (id uuid NOT NULL PRIMARY KEY, expires timestamp, headers text NOT NULL, body bytea,
                      seq serial NOT NULL UNIQUE);
CREATE TABLE error (LIKE "Sales" INCLUDING ALL);
CREATE TABLE "Sales.delayed" (id uuid NOT NULL DEFAULT gen_random_uuid() PRIMARY KEY, headers text NOT NULL, body bytea,
                              due timestamptz NOT NULL) WITH (fillfactor = 100);
CREATE INDEX "Sales_Due" ON "Sales.delayed" (due);
CREATE TABLE subscriptions (queueaddress varchar(200), endpoint varchar(200), topic varchar(200),
                            PRIMARY KEY (endpoint, topic));
"""
SEND: Final = """
INSERT INTO "Sales" (id, headers, body) SELECT gen_random_uuid(), '{}', 'hello' FROM generate_series(1, ?)"""
RECEIVE: Final = """
DELETE FROM "Sales" rs WHERE rs.id = (SELECT id FROM "Sales" ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING rs.id"""
DELAY: Final = """INSERT INTO "Sales.delayed" (headers, due) VALUES ('{}', now() + interval '1 h')"""
SALES, DELAYED, ERROR = "nservicebus/Sales", "nservicebus/Sales.delayed", "nservicebus/error"


def test_each_queue_is_shown_and_what_is_handled_is_in_progress(database: str) -> None:
    query(database, TABLES)
    query(database, SEND, 5)
    query(database, DELAY)
    with connected(database, autocommit=False) as endpoint, watching(database, ()) as watched:
        watched.queue(SALES, lambda q: q.ready.value == 5 and q.push_rate.value == 0)
        endpoint.execute(RECEIVE)
        view = watched.view(lambda view: (sales := view.queue(SALES)) is not None and sales.in_progress.value == 1)
        assert [queue.name for queue in view.queues] == [SALES, DELAYED, ERROR]
        assert [queue.ready.value for queue in view.queues] == [4, 0, 0]
        delayed = view.queue(DELAYED)
        assert delayed is not None and delayed.scheduled.value == 1
        endpoint.commit()
        query(database, SEND, 20)
        queue = watched.queue(SALES, lambda q: q.ready.value == 24 and q.push_rate.value and q.pop_rate.value)
    assert queue.window_s is not None
    assert queue.push_rate.value == pytest.approx(20 / queue.window_s, rel=0.01)
    assert queue.pop_rate.value == pytest.approx(1 / queue.window_s, rel=0.01)


def test_what_is_purged_comes_back_as_it_was(database: str, tmp_path: Path) -> None:
    query(database, TABLES)
    query(database, SEND, 5)
    before = query(database, 'TABLE "Sales"')
    with watching(database, ()) as watched:
        layout = watched.queue(SALES).layout
    acting = Operator(desk_at(database, tmp_path))
    purged = applied(acting.purge(layout, Choice(state="ready")))
    assert (purged.state, purged.done, query(database, 'TABLE "Sales"')) == (OperationState.DONE, 5, [])
    assert applied(acting.undo(purged.operation)).done == 5
    assert sorted(map(tuple, query(database, 'TABLE "Sales"'))) == sorted(map(tuple, before))
