"""One message read in full from a real server: each design, keys of any kind, large values, unreadable columns."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from qmon.errors import BadInput, LockTimeout, QueryFailed
from qmon.libraries.library import group_for
from qmon.libraries.library_catalog import built_in_libraries
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn
from qmon.model.waits.lock_holders import LockHolderText
from qmon.operate.context import OperatorContext
from qmon.operate.message import MAX_COLUMN_CHARS, MAX_PAYLOAD_CHARS, Message, MessageColumn, MessageText
from qmon.operate.operator import Operator
from qmon.operate.operator_context import create_context
from tests.facts import connected, query
from tests.jobs import HOSTILE
from tests.queues import BYTES, DESIGNS, made, routine, target_of
from tests.wordings import has, pattern


def make(url: str, *statements: str) -> None:
    """Run these statements, one after the other."""
    with connected(url) as connection:
        for statement in statements:
            connection.execute(statement)


NASTY = "\x1b]0;owned\x07 ⏎ \u202e"


def desk(url: str, **changes: object) -> OperatorContext:
    """Return the context that the dashboard reads with."""
    return replace(create_context(target_of(url)), **changes)  # type: ignore[arg-type]  # the names are checked by replace


def read(url: str, layout: Layout, id: str, owner: str | None = None, **changes: object) -> Message:
    """Return the message, which must exist."""
    found = Operator(desk(url, **changes)).read_message(layout, id, owner)
    assert found is not None
    return found


def column(message: Message, name: str) -> MessageColumn:
    """Return the column with that name."""
    (found,) = (each for each in message.columns if each.name == name)
    return found


def whole(message: Message) -> str | bytes | None:
    """Return the payload."""
    assert message.payload is not None
    return message.payload.value


def plain(table: str = "jobs", **changes: object) -> Layout:
    """A user's table, addressed by its id."""
    shape = Layout("jobs", "naive", ObjectName("public", table), id="id", payload="payload")
    return replace(shape, **changes)  # type: ignore[arg-type]  # the names are checked by replace


@pytest.mark.parametrize("design", sorted(set(DESIGNS) - {"heap"}))
def test_each_design_shows_its_payload(database: str, design: str) -> None:
    layout = made(database, design)
    text = '{"to": "ä@example.org"}'
    sent = f"convert_to('{text}', 'UTF8')" if design in BYTES else f"'{text}'"
    query(database, f"SELECT {routine(layout, 'push')}({sent})")
    called = layout.id if layout.ring is None else layout.ring.message_id
    (id,) = (
        row[0] for row in query(database, f'SELECT "{called}" FROM {layout.table} WHERE "{called}" IS NOT NULL LIMIT 1')
    )
    found = read(database, layout, str(id))
    assert whole(found) == text
    assert found.payload is not None
    assert found.payload.size == len(text.encode())
    assert not found.payload.cut
    names = {
        row[0]
        for row in query(
            database, f"SELECT attname FROM pg_attribute WHERE attrelid = '{layout.table}'::regclass AND attnum > 0"
        )
    }
    assert names <= {each.name for each in found.columns}


def test_a_heap_has_nothing_that_makes_a_row_known(database: str) -> None:
    with pytest.raises(BadInput, match=pattern(MessageText.NO_ID)):
        Operator(desk(database)).read_message(made(database, "heap"), "1")


def test_one_that_is_gone_is_none_also_where_a_ring_has_used_its_slot_again(database: str) -> None:
    make(database, "CREATE TABLE jobs (id int PRIMARY KEY, payload text)")
    assert Operator(desk(database)).read_message(plain(), "1") is None
    ring = made(database, "ring")
    assert Operator(desk(database)).read_message(ring, "3") is None


def test_times_owner_and_every_column_with_its_type(database: str) -> None:
    make(
        database,
        "CREATE TYPE mood AS ENUM ('fine')",
        "CREATE TABLE jobs (id bigint PRIMARY KEY, payload jsonb, pushed timestamptz, popped timestamptz, who text,"
        " price numeric(10,2), of text[], how mood, nothing inet)",
        "INSERT INTO jobs VALUES (7, '{\"b\": 1}', now() - interval '1 hour', now() - interval '10 minutes', 'mailer',"
        " 1.50, '{a,b}', 'fine', NULL)",
    )
    layout = plain(enqueued_at="pushed", started_at="popped", owner=OwnerColumn("who", "name"))
    found = read(database, layout, "7")
    assert found.pushed_s is not None
    assert found.popped_s is not None
    assert (found.pushed_s // 60, found.popped_s // 60) == (60, 10)
    assert (found.owner, found.doing) == ("mailer", MessageText.OWNER_IS_NAME)
    shown = {each.name: (each.type_name, each.value) for each in found.columns}
    assert shown["price"] == ("numeric(10,2)", "1.50")
    assert shown["of"] == ("text[]", "{a,b}")
    assert shown["how"] == ("public.mood", "fine")
    assert shown["nothing"] == ("inet", None)
    assert shown["payload"] == ("jsonb", '{"b": 1}')


def test_what_the_session_of_the_owner_does_now(database: str) -> None:
    layout = plain(owner=OwnerColumn("who", "session"))
    make(database, "CREATE TABLE jobs (id int PRIMARY KEY, payload text, who text)")
    with connected(database, autocommit=False) as owner:
        pid = int(owner.execute("SELECT pg_backend_pid()").fetchval())
        query(database, f"INSERT INTO jobs VALUES (1, 'x', '{pid}'), (2, 'x', '{pid}/12'), (3, 'x', NULL)")
        owner.execute("SELECT 'hunter2'").fetchall()
        doing = read(database, layout, "1", redact=lambda text: text.replace("hunter2", "•••")).doing
        assert has(doing, MessageText.SESSION, session=pid)
        assert "idle in transaction" in doing
        assert "SELECT '•••'" in doing
        assert read(database, layout, "2").doing == MessageText.NUMBER_REUSED.render(session=pid)
        assert (read(database, layout, "3").owner, read(database, layout, "3").doing) == (None, "")
        held = read(database, plain(), "1", owner=str(pid))
        assert held.owner == str(pid)
        assert has(held.doing, MessageText.SESSION, session=pid)
    gone = read(database, plain(), "1", owner="2000000000")
    assert gone.doing == MessageText.GONE_OR_UNSEEN.render(session="2000000000")


def test_names_and_values_of_anybodys_making(database: str) -> None:
    quoted = '"' + HOSTILE.replace('"', '""') + '"'
    make(
        database,
        f"CREATE TABLE {quoted} (a text, {quoted} uuid, place numeric(4,1), payload text,"
        f" PRIMARY KEY (a, {quoted}, place))",
        f"INSERT INTO {quoted} VALUES ('x/y\\z''; --', '00000000-0000-4000-8000-000000000001', 7.5, 'one'),"
        f" ('x', '00000000-0000-4000-8000-000000000001', 7.5, 'two')",
    )
    layout = plain(HOSTILE, id="place", key=("a", HOSTILE, "place"))
    called = "x\\/y\\\\z'; --/00000000-0000-4000-8000-000000000001/7.5"
    assert whole(read(database, layout, called)) == "one"
    assert whole(read(database, layout, "x/00000000-0000-4000-8000-000000000001/7.5")) == "two"
    assert Operator(desk(database)).read_message(layout, "y/00000000-0000-4000-8000-000000000001/7.5") is None
    with pytest.raises(BadInput, match=pattern(MessageText.ID_FORM, form="a/")):
        Operator(desk(database)).read_message(layout, "x")


def test_large_payloads_are_cut_and_say_how_long_they_are(database: str) -> None:
    make(
        database,
        "CREATE TABLE jobs (id int PRIMARY KEY, payload text, b bytea, j jsonb)",
        "INSERT INTO jobs SELECT 1, repeat('äbcd', 1250000), decode(repeat('ff00', 2500000), 'hex'),"
        " jsonb_build_array(repeat('x', 5000000))",
    )
    found = read(database, plain(), "1").payload
    assert found is not None
    assert found.cut
    assert found.size == 6_250_000
    assert found.value == "äbcd" * (MAX_PAYLOAD_CHARS // 4)
    found = read(database, plain(payload="b"), "1").payload
    assert found is not None
    assert (found.cut, found.size, found.value) == (True, 5_000_000, b"\xff\x00" * (MAX_PAYLOAD_CHARS // 2))
    found = read(database, plain(payload="j"), "1").payload
    assert found is not None
    assert isinstance(found.value, str)
    assert (found.cut, found.size, len(found.value)) == (True, 5_000_004, MAX_PAYLOAD_CHARS)
    assert isinstance(text := column(read(database, plain(), "1"), "j").value, str)
    assert len(text) == MAX_COLUMN_CHARS


def test_bytes_that_are_no_text_stay_bytes(database: str) -> None:
    make(
        database,
        "CREATE TABLE jobs (id int PRIMARY KEY, payload bytea)",
        "INSERT INTO jobs VALUES (1, '\\x001b5b33316d00'), (2, convert_to('ä, ok', 'UTF8')), (3, ''), (4, NULL)",
    )
    assert [whole(read(database, plain(), str(id))) for id in (1, 2, 3, 4)] == [b"\x00\x1b[31m\x00", "ä, ok", "", None]


def test_what_is_configured_to_be_covered_is_covered_everywhere(database: str) -> None:
    secret = "hunter2"
    make(
        database,
        "CREATE TABLE jobs (id int PRIMARY KEY, payload text, note text, b bytea)",
        f"INSERT INTO jobs VALUES (1, 'pin {secret}', '{secret}!', decode('00', 'hex') || '{secret}'::bytea),"
        f" (2, repeat('x', {MAX_PAYLOAD_CHARS - 3}) || '{secret}' || repeat('y', 20000), '', '')",
    )

    def redact(text: str) -> str:
        return text.replace(secret, "•••")

    found = read(database, plain(), "1", redact=redact)
    assert whole(found) == "pin •••"
    assert column(found, "note").value == "•••!"
    assert column(found, "b").value == b"\x00???"
    assert whole(read(database, plain(payload="b"), "1", redact=redact)) == b"\x00???"
    shown = whole(read(database, plain(), "2", redact=redact))
    assert isinstance(shown, str)
    assert "hun" not in shown


@contextlib.contextmanager
def locking(url: str, statement: str) -> Iterator[int]:
    """Run this in another session that keeps its locks during the block."""
    with connected(url, autocommit=False) as other:
        pid = int(other.execute("SELECT pg_backend_pid()").fetchval())
        other.execute(statement)
        yield pid
        other.rollback()


def test_a_locked_row_is_read_and_a_locked_table_says_by_whom(database: str) -> None:
    make(database, "CREATE TABLE jobs (id int PRIMARY KEY, payload text)", "INSERT INTO jobs VALUES (1, 'x')")
    with locking(database, "DELETE FROM jobs"):
        assert whole(read(database, plain(), "1")) == "x"
    with (
        locking(database, "LOCK TABLE jobs") as pid,
        pytest.raises(
            LockTimeout, match="^" + pattern(LockHolderText.LOCKED_BY, who=LockHolderText.SESSION.render(session=pid))
        ),
    ):
        read(database, plain(), "1")


def test_a_column_that_our_role_may_not_read_says_which_grant_helps(database: str) -> None:
    make(
        database,
        "CREATE TABLE jobs (id int PRIMARY KEY, payload text)",
        "INSERT INTO jobs VALUES (1, 'x')",
        'CREATE ROLE "no; one" LOGIN',
        'GRANT SELECT (id) ON jobs TO "no; one"',
    )
    modest = database.replace("postgres@", "no%3B%20one@", 1)
    try:
        found = read(modest, plain(), "1")
        assert found.payload is not None
        grant = 'GRANT SELECT ("payload") ON "public"."jobs" TO "no; one"'
        assert (found.payload.value, found.payload.grant) == (None, grant)
        assert column(found, "id").value == "1"
        query(database, found.payload.grant)
        assert whole(read(modest, plain(), "1")) == "x"
    finally:
        query(database, 'DROP OWNED BY "no; one"')
        query(database, 'DROP ROLE "no; one"')


def test_a_queue_of_a_library(database: str) -> None:
    make(
        database,
        "CREATE TABLE oban_jobs (id bigint PRIMARY KEY, state text, queue text, args jsonb, attempt int,"
        " attempted_by text[], inserted_at timestamp, scheduled_at timestamp, attempted_at timestamp)",
        "INSERT INTO oban_jobs VALUES (5, 'executing', 'mails', '{\"to\": [1]}', 1, '{app@host}', now(), now(), now())",
    )
    (library,) = (each for each in built_in_libraries() if each.name == "oban")
    layout = group_for(library, 1, "", ObjectName("public", "oban_jobs"), "oban").queue_layout("mails")
    found = read(database, layout, "5", owner="app@host")
    text = whole(found)
    assert isinstance(text, str)
    assert json.loads(text) == {"to": [1]}
    assert (found.owner, found.doing) == ("app@host", MessageText.OWNER_IS_NAME)
    assert column(found, "state").value == "executing"


def test_a_view_is_not_read_because_it_could_run_functions_of_others(database: str) -> None:
    make(
        database,
        "CREATE TABLE kept (id int PRIMARY KEY, payload text)",
        "CREATE VIEW jobs AS SELECT * FROM kept",
        "INSERT INTO kept VALUES (1, 'x')",
    )
    with pytest.raises(QueryFailed, match="is restricted"):
        read(database, plain(), "1")


def test_nasty_characters(database: str) -> None:
    make(
        database,
        "CREATE TABLE jobs (id int PRIMARY KEY, payload text)",
        f"INSERT INTO jobs VALUES (1, '{NASTY}')",
    )
    assert whole(read(database, plain(), "1")) == NASTY
