"""Reads of a pop from pg_stat_statements: current and earlier ones, and the reason if they are unknown."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from qmon.engines.base import Connection, Session
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.layout.table_facts import TableFacts
from qmon.model.samples.plan_samples import QueuePlans
from qmon.model.statement_use import statement_uses
from qmon.monitor.background.plan_reader import PlanReader
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from tests.facts import query
from tests.queues import ENGINE, target_of

LINE = Layout("line", "fifo", ObjectName("public", "line"), id="id")
POP = "DELETE FROM line WHERE id = (SELECT min(id) FROM line)"


@contextlib.contextmanager
def opened(url: str) -> Iterator[Connection]:
    connection = ENGINE.connect(target_of(url), Session("test"))
    try:
        yield connection
    finally:
        connection.close()


def read(reader: PlanReader, connection: Connection) -> QueuePlans:
    reader.read_plans(connection, StatementCache(ENGINE, connection.version), QueueSpec(LINE, TableFacts(1)))
    (found,) = reader.take_new_plans()
    return found


@pytest.fixture
def line(database: str) -> str:
    query(
        database,
        "CREATE TABLE line (id bigserial PRIMARY KEY, payload text); CREATE TABLE line_of_others (id bigint);"
        "INSERT INTO line (payload) SELECT 'x' FROM generate_series(1, 200)",
    )
    return database


def test_calls_pages_and_time_of_a_pop_since_the_last_reading_and_before(line: str) -> None:
    query(line, 'CREATE SCHEMA "odd ""name"; CREATE EXTENSION pg_stat_statements SCHEMA "odd ""name"')
    reader = PlanReader(ENGINE)
    with opened(line) as connection:
        assert read(reader, connection).plans == ()
        for _ in range(30):
            query(line, POP)
        query(line, "DELETE FROM line_of_others")
        (first,) = statement_uses(read(reader, connection).plans)
        assert (first.calls, first.calls_before, first.reads_before) == (30, 0, None)
        assert "DELETE FROM line WHERE" in first.plan.statement
        for _ in range(25):
            query(line, POP)
        (second,) = statement_uses(read(reader, connection).plans)
    assert (second.calls, second.calls_before) == (25, 30)
    assert second.reads is not None
    assert second.reads > 1
    assert second.reads_before == first.reads
    assert second.mean_s is not None
    assert second.mean_s > 0
    assert second.mean_before_s == first.mean_s
    assert (second.is_regressed, second.is_unexplained) == (False, False)


def test_where_it_counts_nothing_for_us_it_is_said_why(line: str) -> None:
    with opened(line) as connection:
        assert read(PlanReader(ENGINE), connection).unread == "pg_stat_statements is not installed in this database"
        query(line, "CREATE EXTENSION pg_stat_statements")
        assert read(PlanReader(ENGINE), connection).unread == ""
        query(line, "CREATE ROLE nobody_of_statements; GRANT nobody_of_statements TO CURRENT_USER")
        try:
            with connection.transaction():
                query_as(connection, "SET LOCAL ROLE nobody_of_statements")
                assert "only with pg_read_all_stats" in read(PlanReader(ENGINE), connection).unread
        finally:
            query(line, "DROP ROLE nobody_of_statements")


def query_as(connection: Connection, text: str) -> None:
    from qmon.engines.base import Bound, Statement

    connection.execute(Bound(Statement("test/statement", text, (), ())))
