"""The embedded server: it starts, survives what is done to it, and leaves nothing behind."""

from __future__ import annotations

from tests.facts import query


def test_a_fresh_database_answers(database: str) -> None:
    assert query(database, "SELECT 1 AS one") == [(1,)]
    assert query(database, "SELECT count(*) FROM pg_class WHERE relname LIKE ?", "pg_stat_statements%") == [(0,)]
