"""Batches that come again and again: what is prepared answers as plain statements do, and survives what may happen."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from qmon.engines.base import Bound, Connection, Session, Statement, Value
from qmon.engines.prepared import PreparedStatements
from qmon.engines.sql.text import numbered
from qmon.errors import QueryFailed
from tests.facts import query
from tests.queues import ENGINE, target_of

LEAST = Statement(
    "probe/least", '/* ? */ SELECT id AS "wh?t", \'?\' AS mark FROM public.t WHERE id >= ? LIMIT ? -- ?',
    ("least", "limit"), ("wh?t", "mark"),
)  # fmt: skip
TOTAL = Statement("probe/total", "SELECT CAST(count(*) AS int) AS n FROM public.t", (), ("n",))


def batch(least: Value = 2) -> list[Bound]:
    return [Bound(LEAST, {"least": least, "limit": 1}), Bound(TOTAL), Bound(LEAST, {"least": "3", "limit": 2})]


@contextlib.contextmanager
def repeating(url: str) -> Iterator[Connection]:
    """A connection of the kind that polls."""
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


def answers(connection: Connection, least: Value = 2) -> list[tuple[tuple[object, ...], ...]]:
    return [rows.rows for rows in connection.fetch_batch(batch(least))]


def test_values_get_numbers_and_nothing_else_does() -> None:
    assert numbered(LEAST.text) == LEAST.text.replace(">= ? LIMIT ?", ">= $1 LIMIT $2")
    assert numbered("SELECT $a$ ? $a$, ?, E'\\'?', ?") == "SELECT $a$ ? $a$, $1, E'\\'?', $2"


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
    """Where what was prepared is gone, the batch fails; after the third time nothing is prepared any more."""
    with repeating(database) as connection:
        failed = 0
        for _ in range(30):
            try:
                answers(connection)
            except QueryFailed:
                failed += 1
            connection.execute(Bound(Statement("test", "DEALLOCATE ALL", (), ())))
        assert failed == 3


def test_no_more_is_prepared_than_the_server_can_well_keep() -> None:
    known = PreparedStatements()
    texts = [Bound(Statement(f"probe/{n}", f"SELECT {n} AS n", (), ("n",))) for n in range(200)]
    for _ in range(2):
        assert not list(known.wanted(texts))
    assert len(list(known.wanted(texts))) == 120
    assert known.text(texts[199].statement) == "SELECT 199 AS n"
