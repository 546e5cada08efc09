"""Recurring batches: prepared ones answer like plain statements, and survive changes to tables and sessions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from qmon.engines.base import Bound, Connection, Session, Statement, Value
from qmon.engines.prepared_statements import PreparedStatements
from qmon.engines.sql.query_text import number_values
from qmon.errors import LockTimeout, QueryFailed
from tests.facts import connected, query
from tests.queues import ENGINE, target_of

LEAST = Statement(
    "probe/least",
    "/* ? */ SELECT id AS \"wh?t\", '?' AS mark FROM public.t WHERE id >= ? LIMIT ? -- ?",
    ("least", "limit"),
    ("wh?t", "mark"),
)
TOTAL = Statement("probe/total", "SELECT CAST(count(*) AS int) AS n FROM public.t", (), ("n",))


def batch(least: Value = 2) -> list[Bound]:
    return [Bound(LEAST, {"least": least, "limit": 1}), Bound(TOTAL), Bound(LEAST, {"least": "3", "limit": 2})]


@contextlib.contextmanager
def repeating(url: str) -> Iterator[Connection]:
    """A connection like the poller's."""
    query(url, "CREATE TABLE t AS SELECT CAST(n AS bigint) AS id FROM generate_series(1, 5) AS n")
    connection = ENGINE.connect(target_of(url), Session("poll", read_only=True, repeats=True))
    try:
        yield connection
    finally:
        connection.close()


def prepared(connection: Connection) -> int:
    known = Statement("test", "SELECT CAST(count(*) AS int) AS n FROM pg_prepared_statements WHERE from_sql", (), ())
    (count,) = connection.fetch(Bound(known)).rows[0]
    assert isinstance(count, int)
    return count


@contextlib.contextmanager
def locked(url: str, table: str) -> Iterator[None]:
    """Lock the table in another session during the block, so that it cannot be read."""
    with connected(url, autocommit=False) as other:
        other.execute(f"LOCK TABLE public.{table} IN ACCESS EXCLUSIVE MODE")
        yield


def answers(connection: Connection, least: Value = 2) -> list[tuple[tuple[object, ...], ...]]:
    return [rows.rows for rows in connection.fetch_batch(batch(least))]


def test_values_get_numbers_and_nothing_else_does() -> None:
    assert number_values(LEAST.text) == LEAST.text.replace(">= ? LIMIT ?", ">= $1 LIMIT $2")
    assert number_values("SELECT $a$ ? $a$, ?, E'\\'?', ?") == "SELECT $a$ ? $a$, $1, E'\\'?', $2"


def test_prepared_statements_answer_as_plain_ones(database: str) -> None:
    with repeating(database) as connection:
        first = answers(connection)
        assert first == [((2, "?"),), ((5,),), ((3, "?"), (4, "?"))]
        assert prepared(connection) == 0
        for _ in range(4):
            assert answers(connection) == first
        assert prepared(connection) == 2
        assert answers(connection, 4)[0] == ((4, "?"),)
        query(database, "INSERT INTO t VALUES (6)")
        query(database, "ALTER TABLE t ALTER COLUMN id SET DEFAULT 7, ADD COLUMN more text")
        assert answers(connection)[1] == ((6,),)


def test_a_batch_that_fails_begins_anew(database: str) -> None:
    with repeating(database) as connection:
        before = [answers(connection) for _ in range(4)][-1]
        query(database, "ALTER TABLE t RENAME TO u")
        with pytest.raises(QueryFailed):
            answers(connection)
        query(database, "ALTER TABLE u RENAME TO t")
        for _ in range(4):
            assert answers(connection) == before


def test_a_pooler_that_gives_another_session_costs_one_batch_at_a_time(database: str) -> None:
    """If the prepared statements are gone, the batch fails. After the third failure, qmon stops preparing them."""
    with repeating(database) as connection:
        failed = 0
        for _ in range(30):
            try:
                answers(connection)
            except QueryFailed:
                failed += 1
            connection.execute(Bound(Statement("test", "DEALLOCATE ALL", (), ())))
        assert failed == 3


def test_a_lock_timeout_while_preparing_leaves_no_name_behind(database: str) -> None:
    with repeating(database) as connection:
        before = [answers(connection) for _ in range(2)][-1]
        connection.execute(Bound(Statement("test", "SET lock_timeout = '50ms'", (), ())))
        with locked(database, "t"), pytest.raises(LockTimeout, match="prepare"):
            answers(connection)
        for _ in range(4):
            assert answers(connection) == before
        assert prepared(connection) == 2


def test_a_name_that_was_prepared_before_another_had_to_wait_does_not_stay(database: str) -> None:
    query(database, "CREATE TABLE u (id bigint)")
    other = Bound(Statement("probe/other", "SELECT CAST(count(*) AS int) AS n FROM public.u", (), ("n",)))
    with repeating(database) as connection:
        connection.execute(Bound(Statement("test", "SET lock_timeout = '50ms'", (), ())))
        for _ in range(2):
            connection.fetch_batch([Bound(TOTAL), other])
        with locked(database, "u"), pytest.raises(LockTimeout, match="prepare"):
            connection.fetch_batch([Bound(TOTAL), other])
        assert prepared(connection) == 1
        assert [rows.rows for rows in connection.fetch_batch([Bound(TOTAL), other])] == [((5,),), ((0,),)]
        assert prepared(connection) == 2


def test_after_failures_long_ago_statements_are_prepared_again(database: str) -> None:
    with repeating(database) as connection:
        before = [answers(connection) for _ in range(3)][-1]
        for _ in range(3):
            query(database, "ALTER TABLE t RENAME TO u")
            with pytest.raises(QueryFailed):
                answers(connection)
            query(database, "ALTER TABLE u RENAME TO t")
        for _ in range(10):
            assert answers(connection) == before
        assert prepared(connection) == 0
        for _ in range(500):
            answers(connection)
        assert prepared(connection) == 2
        assert answers(connection) == before


def test_no_more_is_prepared_than_the_server_can_well_keep() -> None:
    known = PreparedStatements()
    texts = [Bound(Statement(f"probe/{n}", f"SELECT {n} AS n", (), ("n",))) for n in range(200)]
    for _ in range(2):
        assert not list(known.statements_to_prepare(texts))
    assert len(list(known.statements_to_prepare(texts))) == 120
    assert known.text_for(texts[199].statement) == "SELECT 199 AS n"
