"""The list of failed and retried messages: dead messages and others with an error, newest first, in bounded reads."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.failures import NO_ERROR, group_failures
from qmon.model.layout.list_states import FAILED, ListText
from qmon.model.samples.listing_samples import FAILED_PAGE_SIZE, MAX_ROWS_READ, PageRequest
from qmon.monitor.probes.message_pages import statements_for_page
from qmon.monitor.probes.probe_statements import StatementCache
from tests.contract.groups import configured, listed
from tests.contract.listing import BY_ID, fill, jobs, reading, table
from tests.contract.watching import watching
from tests.facts import query
from tests.libraries.tables import QUE
from tests.queues import ENGINE

pytestmark = pytest.mark.server

ERROR: Final = "ALTER TABLE jobs ADD COLUMN failed text"
NEWEST: Final = PageRequest(FAILED, descending=True)
GROUPED: Final = """
[[target.t.queue]]
name = "mails"
table = "mails"
id = "id"
queue = "q"
started_at = "taken"
state = { column = "status", ready = "new", in_progress = "busy", dead = "dead", done = "done" }
error = "failed"
"""


def test_dead_messages_and_retried_messages_are_listed_newest_first(database: str) -> None:
    table(database, BY_ID, ERROR)
    query(database, fill("dead", 3, "failed", "'timeout after ' || n || ' s'"))
    query(database, fill("ready", 2))
    query(database, fill("ready", 1, "failed", "'no user 17'"))
    query(database, fill("working", 1, "failed, started_at", "'no user 18', now()"))
    query(database, fill("done", 1, "failed", "'no user 19'"))
    with reading(database, jobs(error="failed")) as reader:
        messages, page = reader.messages(NEWEST)
    assert [(each.id, each.state) for each in messages] == [
        ("3", "dead"),
        ("2", "dead"),
        ("1", "dead"),
        ("7", "in_progress"),
        ("6", "ready"),
    ]
    assert (page.why, page.next) == ("", None)
    groups = group_failures(messages, 0.0)
    assert [(group.error, dict(group.states)) for group in groups] == [
        ("timeout after <n> s", {"dead": 3}),
        ("no user <n>", {"in_progress": 1, "ready": 1}),
    ]


def test_scheduled_retries_are_listed(database: str) -> None:
    table(database, BY_ID, ERROR)
    query(database, fill("ready", 2, "failed, due_at", "'no user', now() + interval '1 h'"))
    with reading(database, jobs(error="failed", due_at="due_at")) as reader:
        messages, _ = reader.messages(NEWEST)
    assert {each.state for each in messages} == {"scheduled"}


def test_errors_with_markup_null_and_very_long_errors_are_data(database: str) -> None:
    table(database, BY_ID, ERROR)
    query(database, fill("dead", 2, "failed", "'[bold]broken[/bold] ' || n"))
    query(database, fill("dead", 2))
    query(database, "ALTER TABLE jobs ALTER COLUMN failed SET STORAGE EXTERNAL")
    query(database, fill("dead", 1, "failed", "repeat('x', 100000)"))
    query(database, fill("dead", 1, "failed", "repeat('y', 5000)"))
    with reading(database, jobs(error="failed")) as reader:
        messages, _ = reader.messages(NEWEST)
    found = {group.error: group.count for group in group_failures(messages, 0.0)}
    assert found == {"[bold]broken[/bold] <n>": 2, NO_ERROR: 2, "<n> kB stored": 1, "y" * 200: 1}


def test_thousands_of_errors_are_read_in_bounded_pages(database: str) -> None:
    table(database, BY_ID, ERROR)
    query(database, fill("dead", 3_000, "failed", "'error ' || chr(65 + n % 26) || chr(65 + n / 26 % 26)"))
    query(database, fill("ready", 3_000))
    query(database, fill("ready", 10, "failed", "'late'"))
    seen: list[str] = []
    with reading(database, jobs(error="failed")) as reader:
        listing: PageRequest | None = NEWEST
        pages = 0
        while listing is not None:
            messages, page = reader.messages(listing)
            assert page.looked <= 3 * MAX_ROWS_READ
            assert sum(each.state == "dead" for each in messages) <= FAILED_PAGE_SIZE
            seen += [each.id for each in messages]
            pages += 1
            listing = None if page.next is None else replace(NEWEST, after=page.next)
    assert pages == 3_000 // FAILED_PAGE_SIZE
    assert len(seen) == len(set(seen)) == 3_010


def test_without_an_index_on_the_state_the_newest_rows_are_read(database: str) -> None:
    table(database, ERROR)
    query(database, fill("dead", 5, "failed", "'old'"))
    query(database, fill("done", MAX_ROWS_READ))
    with reading(database, jobs(error="failed")) as reader:
        messages, page = reader.messages(NEWEST)
        assert (messages, page.every) == ((), True)
        assert page.next is not None
        older, last = reader.messages(replace(NEWEST, after=page.next))
    assert [each.id for each in older] == ["5", "4", "3", "2", "1"]
    assert last.next is None


def test_without_an_error_column_the_list_says_so_and_reads_nothing(database: str) -> None:
    table(database, BY_ID)
    with reading(database, jobs()) as reader:
        assert statements_for_page(StatementCache(ENGINE, reader.connection.version), reader.probes, NEWEST) == []
        messages, page = reader.messages_without_statements(NEWEST)
    assert messages == ()
    assert page.why == ListText.NO_ERROR_COLUMN


def test_several_queues_in_one_table_list_only_their_own_failures(database: str) -> None:
    query(
        database,
        "CREATE TABLE mails (id bigserial PRIMARY KEY, q text, status text, taken timestamptz, failed text);"
        "INSERT INTO mails (q, status, failed) SELECT CASE WHEN n % 2 = 0 THEN 'a' ELSE 'b' END,"
        " CASE WHEN n <= 4 THEN 'dead' WHEN n <= 8 THEN 'new' ELSE 'done' END, CASE WHEN n % 4 < 2 THEN 'bad ' || n END"
        " FROM generate_series(1, 12) AS n",
    )
    with watching(database, configured(GROUPED)) as watched:
        watched.view(lambda view: {"mails/a", "mails/b"} <= {queue.name for queue in view.queues})
        found = listed(watched, "mails/a", NEWEST)
        assert found.failures == ()
        assert [(each.id, each.state, each.error) for each in found.messages or ()] == [
            ("4", "dead", "bad 4"),
            ("2", "dead", None),
            ("8", "ready", "bad 8"),
        ]
        other = listed(watched, "mails/b", NEWEST)
        assert [each.id for each in other.messages or ()] == ["3", "1", "5"]


def test_the_failures_of_a_library_are_found_in_its_tables(database: str) -> None:
    query(database, QUE)
    query(
        database,
        "UPDATE que_jobs SET expired_at = now(), last_error_message = 'no such host' WHERE id = 1;"
        "UPDATE que_jobs SET error_count = 1, last_error_message = 'timeout' WHERE id = 3",
    )
    with watching(database) as watched:
        watched.queue("que/mails")
        found = listed(watched, "que/mails", NEWEST)
        assert found.failures == ()
        assert [(each.id, each.state, each.error) for each in found.messages or ()] == [
            ("1", "dead", "no such host"),
            ("3", "scheduled", "timeout"),
        ]


@pytest.fixture
def any_bytes(server: EmbeddedServer) -> Iterator[str]:
    """A database without encoding checks."""
    name = f"test_{secrets.token_hex(6)}"
    query(server.url("postgres"), f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C'")
    yield server.url(name)
    query(server.url("postgres"), f"DROP DATABASE {name} WITH (FORCE)")


def test_errors_that_are_not_valid_text_are_grouped_too(any_bytes: str) -> None:
    table(any_bytes, BY_ID, ERROR)
    latin = "convert_from('\\x4ae57267'::bytea, 'SQL_ASCII')"
    query(any_bytes, fill("dead", 3, "failed", f"{latin} || ' ' || n"))
    with reading(any_bytes, jobs(error="failed")) as reader:
        messages, _ = reader.messages(NEWEST)
    (group,) = group_failures(messages, 0.0)
    assert group.count == 3
    assert group.error.endswith(" <n>")
