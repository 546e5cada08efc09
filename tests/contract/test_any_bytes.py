"""A database without encoding checks (SQL_ASCII) has Latin-1 bytes: all is shown, and actions work by key."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.odbc import bytes_from_text
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.operation_records import Choice, OperationState, OwnerState
from qmon.model.samples.listing_samples import PageRequest
from qmon.monitor.source import ReadScope
from qmon.operate.operator import Operator
from tests.contract.listing import reading
from tests.contract.operating import applied, desk_at
from tests.contract.watching import watching
from tests.facts import query

pytestmark = pytest.mark.server

ALL: Final = frozenset({OwnerState.DEAD, OwnerState.ALIVE, OwnerState.UNKNOWN})
# `Jårg` in Latin-1.
LATIN: Final = "convert_from('\\x4ae57267'::bytea, 'SQL_ASCII')"
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
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    "id",
    state=StateColumn("status", "ready", "working", dead="dead"),
    started_at="started_at",
    enqueued_at="created_at",
    owner=OwnerColumn("owner", "name"),
    attempts="attempts",
    payload="body",
    error="error",
)


@pytest.fixture
def any_bytes(server: EmbeddedServer) -> Iterator[str]:
    """A database with that encoding, with messages whose texts are Latin-1."""
    name = f"test_{secrets.token_hex(6)}"
    encoding = "TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'"
    query(server.url("postgres"), f"CREATE DATABASE {name} {encoding}")
    url = server.url(name)
    for statement in JOBS:
        query(url, statement)
    yield url
    query(server.url("postgres"), f"DROP DATABASE {name} WITH (FORCE)")


def test_lists_and_owners_show_bytes_that_are_not_utf_8_by_their_values(any_bytes: str) -> None:
    with reading(any_bytes, LAYOUT) as reader:
        for state, owner in (("ready", None), ("in_progress", "J<E5>rg"), ("dead", None)):
            messages, page = reader.messages(PageRequest(state))
            assert page is not None
            assert {(each.owner or "").strip() or None for each in messages} == {owner}, state
            assert {each.payload[:7] for each in messages if each.payload} <= {"J<E5>rg", "\u00e5"}, state
    with watching(any_bytes, [LAYOUT]) as watched:
        watched.poller.set_focus(ReadScope(rows_of="jobs"))
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


def test_an_owner_is_chosen_by_bytes_that_are_not_utf_8(any_bytes: str, tmp_path: Path) -> None:
    prepared = Operator(desk_at(any_bytes, tmp_path)).requeue(LAYOUT, Choice(owner="J<E5>rg", owner_states=ALL))
    assert prepared.plan.count == 6


# Keys: the first two look the same with replacement characters; the fourth is spelled as the first is shown.
NAMES: Final = (b"a\xe5", b"a\xe6", "a\u00e5".encode(), b"a<E5>", b"a\\\xe5", b"a/\xe5,", b"plain", "a\ufffd".encode())
SHOWN: Final = ("a<E5>", "a<E6>", "a\u00e5", "a<3C>E5>", "a\\<E5>", "a/<E5>,", "plain", "a\ufffd")
NAMED: Final = replace(
    LAYOUT,
    queue="named",
    table=ObjectName("public", "named"),
    id="name",
    started_at=None,
    owner=None,
    attempts=None,
    error=None,
)


def _named(url: str, key: str) -> None:
    """A table with a text key. Its messages are dead, and each has its key in its body."""
    query(
        url,
        "CREATE TABLE named (tenant text DEFAULT convert_from('\\xe4'::bytea, 'SQL_ASCII'), name text NOT NULL,"
        f" status text NOT NULL DEFAULT 'dead', body text, created_at timestamptz DEFAULT now(), PRIMARY KEY ({key}))",
    )
    query(url, "CREATE INDEX ON named (status, name)")
    for name in NAMES:
        query(
            url, "INSERT INTO named (name, body) SELECT t, t FROM convert_from(CAST(? AS bytea), 'SQL_ASCII') t", name
        )


def _left(url: str, where: str) -> set[object]:
    return {
        bytes.fromhex(str(name))
        for (name,) in query(url, f"SELECT encode(convert_to(name, 'SQL_ASCII'), 'hex') FROM named {where}")
    }


@pytest.mark.parametrize(
    ("key", "tenant"), [("name", ""), ("tenant, name", "<E4>/")], ids=["one column", "two columns"]
)
@pytest.mark.parametrize("at", range(len(NAMES)))
def test_each_key_names_its_own_row_only(any_bytes: str, tmp_path: Path, at: int, key: str, tenant: str) -> None:
    _named(any_bytes, key)
    layout = replace(NAMED, key=("tenant", "name") if tenant else ())
    with reading(any_bytes, layout) as reader:
        ids, _ = reader.page(PageRequest("dead"))
    wanted = {tenant + (name.replace("\\", "\\\\").replace("/", "\\/") if tenant else name) for name in SHOWN}
    assert set(ids) == wanted, "no two keys are shown the same"
    operator = Operator(desk_at(any_bytes, tmp_path))
    id = sorted(wanted)[at]
    message = operator.read_message(layout, id)
    assert message is not None
    (name,) = (bytes_from_text(str(column.value)) for column in message.columns if column.name == "name")
    assert tenant or name == bytes_from_text(id)
    found = applied(operator.purge(layout, Choice(ids=(id,))))
    assert (found.done, _left(any_bytes, "")) == (1, set(NAMES) - {name})
    applied(operator.undo(found.operation, Choice(ids=(id,))))
    assert _left(any_bytes, "") == set(NAMES)
    assert applied(operator.requeue(layout, Choice(ids=(id,), state="dead"))).done == 1
    assert _left(any_bytes, "WHERE status = 'ready'") == {name}


def test_pages_follow_keys_of_any_bytes(any_bytes: str) -> None:
    _named(any_bytes, "name")
    query(
        any_bytes,
        "INSERT INTO named (name) SELECT convert_from(decode('7a' || to_hex(i) || 'e5', 'hex'), 'SQL_ASCII')"
        " FROM generate_series(48, 255) AS i",
    )
    with reading(any_bytes, NAMED) as reader:
        ids = reader.ids("dead")
    assert {bytes_from_text(id) for id in ids} == _left(any_bytes, "")
    assert len(ids) == len(set(ids)) == 208 + len(NAMES)
