"""Columns of unusual types: requeued, purged and restored values are the same, to the last digit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.operation_records import Choice, OwnerState, Side
from qmon.operate.actions.pause_check import PauseCheckText
from qmon.operate.operator import Operator
from tests.contract.operating import applied, desk_at
from tests.facts import query
from tests.wordings import has

BUSY = Choice(state="in_progress", owner_states=frozenset(OwnerState))
LAYOUT = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="seq",
    state=StateColumn("status", 1, 2),
    attempts="attempts",
    started_at="since",
    owner=OwnerColumn("owner", "name"),
    payload="payload",
    timeout_s=0.0,
)
TYPES = """
    CREATE DOMAIN always AS text NOT NULL CHECK (VALUE <> '');
    CREATE TYPE mood AS ENUM ('a/b', 'c,d', 'e\\f');
    CREATE EXTENSION citext"""
TABLE = """
    CREATE TABLE jobs (
        gone int, kind always, code char(10), tag citext, feeling mood, raw bytea, share double precision, uid uuid,
        at timestamptz, seq bigint GENERATED ALWAYS AS IDENTITY, gone_too text, status int NOT NULL, owner text,
        attempts int, since timestamptz, payload text, said always DEFAULT 'x',
        n text GENERATED ALWAYS AS (payload || 'x') STORED, "Odd ""Name%s{x}?" int DEFAULT 5,
        PRIMARY KEY (kind, code, tag, feeling, raw, share, uid, at, seq));
    ALTER TABLE jobs DROP COLUMN gone;
    ALTER TABLE jobs DROP COLUMN gone_too;
    INSERT INTO jobs (kind, code, tag, feeling, raw, share, uid, at, status, owner, attempts, since, payload)
    SELECT 'k/' || i, 'c' || i, 'Tag', f, decode('00ff', 'hex'), i / 3.0, gen_random_uuid(),
        now() + i * interval '1 us', 2, 'o' || i, i, now() - interval '1 h', 'p' || i
    FROM unnest(enum_range(NULL::mood)) WITH ORDINALITY AS m (f, i)"""


@pytest.fixture
def operator(database: str, tmp_path: Path) -> Operator:
    query(database, TYPES)
    return Operator(desk_at(database, tmp_path))


def everything(url: str) -> list[tuple[object, ...]]:
    return query(url, "SELECT CAST(j AS text) FROM jobs AS j ORDER BY seq")


def test_rows_known_by_a_key_of_many_types_come_back_as_they_were(database: str, operator: Operator) -> None:
    query(database, TABLE)
    before = everything(database)
    ids = [row.id for row in operator.purge(LAYOUT, BUSY).plan.first]
    assert len(ids) == 3
    for choice, count in ((BUSY, 3), *((replace(BUSY, ids=(each,)), 1) for each in ids)):
        for prepare in (operator.requeue, operator.purge):
            done = applied(prepare(LAYOUT, choice))
            assert (done.done, done.refused) == (count, 0)
            assert everything(database) != before
            assert applied(operator.undo(done.operation, Choice(ids=choice.ids))).done == count
            assert everything(database) == before


def test_a_gate_is_proven_where_the_domain_of_a_column_takes_no_null(database: str, operator: Operator) -> None:
    query(database, "CREATE TABLE jobs (seq bigint, status int, kind always) PARTITION BY LIST (status)")
    query(database, "CREATE TABLE jobs_1 PARTITION OF jobs FOR VALUES IN (1)")
    layout = Layout("jobs", "fifo", ObjectName("public", "jobs"), id="seq")
    applied(operator.install_gate(layout))
    assert has(applied(operator.pause(layout, Side.PRODUCERS, for_s=60.0)).notes, PauseCheckText.REFUSED)


@pytest.mark.parametrize("kind", ["text[]", "varchar(5)[]", "bytea[]", "jsonb", "point", "mood", "char(9)", "always"])
def test_a_payload_of_any_type_is_shown(database: str, operator: Operator, kind: str) -> None:
    query(database, f"CREATE TABLE jobs (seq int PRIMARY KEY, status int, since timestamptz, payload {kind})")
    value = {"jsonb": "[1]", "point": "(1,2)", "mood": "c,d", "char(9)": "x", "always": "x"}.get(kind, "{a,b}")
    query(database, f"INSERT INTO jobs VALUES (1, 2, now(), '{value}')")
    layout = replace(LAYOUT, attempts=None, owner=None)
    for prepare in (operator.requeue, operator.purge):
        (row,) = prepare(layout, replace(BUSY, owner_states=frozenset({OwnerState.NONE}))).plan.first
        assert row.payload is not None
