"""A database that checks no text (SQL_ASCII) holds bytes of Latin-1: everything is shown, and acted on by key."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from qmon.demo.server import EmbeddedServer
from qmon.model.layout.layout import Layout, OwnerColumn, StateColumn, TableName
from qmon.model.operations import Choice, OperationState, OwnerState
from qmon.model.samples.listing import Listing
from qmon.monitor.source import Focus
from qmon.operate.operator import Operator
from tests.contract.listing import reading
from tests.contract.operating import applied, desk_at
from tests.contract.watching import watching
from tests.facts import query

pytestmark = pytest.mark.server

ALL: Final = frozenset({OwnerState.DEAD, OwnerState.ALIVE, OwnerState.UNKNOWN})
LATIN: Final = "convert_from('\\x4ae57267'::bytea, 'SQL_ASCII')"
"""``Jårg`` in Latin-1."""
JOBS: Final = (
    "CREATE TABLE jobs (id bigint PRIMARY KEY, status text NOT NULL, owner text, body text, error text,"
    " attempts int NOT NULL DEFAULT 1, started_at timestamptz, created_at timestamptz NOT NULL DEFAULT now())",
    "CREATE INDEX ON jobs (status, id)",
    "CREATE INDEX ON jobs (status, started_at)",
    f"INSERT INTO jobs SELECT i, 'ready', NULL, {LATIN} || i FROM generate_series(1, 3) AS i",
    f"INSERT INTO jobs SELECT i, 'working', {LATIN}, {LATIN} || i, NULL, 1, now() - interval '1 h'"
    " FROM generate_series(4, 9) AS i",
    f"INSERT INTO jobs SELECT i, 'dead', NULL, {LATIN}, {LATIN} FROM generate_series(10, 14) AS i",
    "INSERT INTO jobs SELECT 15, 'ready', NULL, convert_from('\\xc3a5'::bytea, 'SQL_ASCII')",
)
LAYOUT: Final = Layout(
    "jobs", "status", TableName("public", "jobs"), "id", state=StateColumn("status", "ready", "working", dead="dead"),
    started_at="started_at", enqueued_at="created_at", owner=OwnerColumn("owner", "name"), attempts="attempts",
    payload="body", error="error",
)  # fmt: skip


@pytest.fixture
def any_bytes(server: EmbeddedServer) -> Iterator[str]:
    """A database of that encoding, with messages whose texts are Latin-1."""
    name = f"test_{secrets.token_hex(6)}"
    encoding = "TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
    query(server.url("postgres"), f"CREATE DATABASE {name} {encoding}")
    url = server.url(name)
    for statement in JOBS:
        query(url, statement)
    yield url
    query(server.url("postgres"), f"DROP DATABASE {name} WITH (FORCE)")


def test_lists_and_owners_show_other_bytes_as_replacement_characters(any_bytes: str) -> None:
    with reading(any_bytes, LAYOUT) as reader:
        for state, owner in (("ready", None), ("in_progress", "J\ufffdrg"), ("dead", None)):
            messages, page = reader.messages(Listing(state))
            assert page is not None
            assert {(each.owner or "").strip() or None for each in messages} == {owner}, state
            assert {each.payload[:4] for each in messages if each.payload} <= {"J\ufffdrg", "\u00e5"}, state
    with watching(any_bytes, [LAYOUT]) as watched:
        watched.poller.set_focus(Focus(rows_of="jobs"))
        queue = watched.queue("jobs", lambda q: q.messages and q.stuck.value == 6)
    assert queue.failures == ()
    assert [figure.value for figure in (queue.ready, queue.in_progress, queue.dead)] == [4, 6, 5]


def test_messages_are_requeued_and_purged_by_key(any_bytes: str, tmp_path: Path) -> None:
    operator = Operator(desk_at(any_bytes, tmp_path))
    prepared = operator.requeue(LAYOUT, Choice(owner_states=ALL))
    assert (prepared.plan.count, prepared.plan.refused) == (6, None)
    result = applied(prepared)
    assert (result.state, result.done, result.changed) == (OperationState.DONE, 6, 0)
    assert query(any_bytes, "SELECT count(*) FROM jobs WHERE status = 'ready' AND owner IS NULL") == [(10,)]
    found = applied(operator.purge(LAYOUT, Choice(state="dead")))
    assert (found.state, found.done, found.changed) == (OperationState.DONE, 5, 0)
    applied(operator.undo(found.operation))
    kept = query(any_bytes, f"SELECT count(*) FROM jobs WHERE status = 'dead' AND error = {LATIN}")
    assert kept == [(5,)], "an undo brings the very bytes back"


def test_an_owner_is_chosen_by_its_name_in_utf_8(any_bytes: str, tmp_path: Path) -> None:
    query(
        any_bytes,
        "INSERT INTO jobs SELECT 16, 'working', convert_from('\\xc3a5'::bytea, 'SQL_ASCII'), '', '', 1,"
        " now() - interval '1 h'",
    )
    prepared = Operator(desk_at(any_bytes, tmp_path)).requeue(LAYOUT, Choice(owner="\u00e5", owner_states=ALL))
    assert [row.id for row in prepared.plan.first] == ["16"]
