"""Lists show the last error of each message for any column type; if there are several, the newest."""

from __future__ import annotations

from typing import Final

import pytest

from qmon.model.samples.listing_samples import PageRequest
from qmon.monitor.source import ReadScope
from tests.contract.groups import configured, listed
from tests.contract.listing import BY_ID, fill, jobs, reading, table
from tests.contract.watching import watching
from tests.facts import query
from tests.libraries.tables import QUE

pytestmark = pytest.mark.server

LONG: Final = "x" * 300
# The type of the column, a value as SQL, and what lists show of it.
VALUES: Final = (
    ("text", "'connection refused'", "connection refused"),
    ("text", f"'first {LONG}'", f"first {LONG}"[:200]),
    ("text", "''", None),
    ("text", "NULL", None),
    ("text", "'[ERROR] connection refused'", "[ERROR] connection refused"),
    ("text", f"""'["{LONG}", "newest"]'""", f'["{LONG}", "newest"]'[-200:]),
    ("text", "'[]'", None),
    ("varchar(80)", "'timed out'", "timed out"),
    ("json", r"""'[{"error": "old"}, {"error": "new \u0000"}]'""", r'[{"error": "old"}, {"error": "new \u0000"}]'),
    ("jsonb", """'[{"error": "old"}, {"error": "new"}]'""", '{"error": "new"}'),
    ("jsonb", """'["old", "new"]'""", "new"),
    ("jsonb", """'{"message": "no list"}'""", '{"message": "no list"}'),
    ("jsonb", "'[]'", None),
    ("jsonb", "'null'", None),
    ("jsonb[]", """ARRAY['{"error": "old"}', '{"at": 1, "error": "new"}']""", '{"at": 1, "error": "new"}'),
    ("jsonb[]", "'{}'", None),
    ("text[]", f"ARRAY['old', '{LONG}']", LONG[:200]),
    ("text[]", "ARRAY['old', NULL]", None),
    ("bytea", "convert_to('no such host', 'UTF8')", "no such host"),
    ("int", "42", "42"),
    ("point", "'(1,2)'", "(1,2)"),
    ("uuid", "'123e4567-e89b-12d3-a456-426614174000'", "123e4567-e89b-12d3-a456-426614174000"),
)
SEVERAL: Final = """
[[target.t.queue]]
name = "mails"
table = "mails"
id = "id"
queue = "q"
started_at = "taken"
state = { column = "status", ready = "new", in_progress = "busy", dead = "dead", done = "done" }
error = "errors"

[[target.t.queue]]
name = "calls"
table = "calls"
id = "id"
error = "errors"

[[target.t.queue]]
name = "visits"
table = "visits"
id = "id"
started_at = "taken"
state = { column = "status", ready = "new", in_progress = "busy" }
error = "errors"
"""


@pytest.mark.parametrize(("kind", "value", "shown"), VALUES)
def test_a_list_shows_the_newest_end_of_an_error(database: str, kind: str, value: str, shown: str | None) -> None:
    table(database, BY_ID, f"ALTER TABLE jobs ADD COLUMN failed {kind}")
    query(database, f"INSERT INTO jobs (status, failed) VALUES ('dead', CAST({value} AS {kind}))")
    query(database, fill("dead", 1))
    with reading(database, jobs(error="failed")) as reader:
        messages, _ = reader.messages(PageRequest("dead"))
        assert [each.error for each in messages] == [shown, None]


def test_of_a_large_error_a_list_shows_its_size(database: str) -> None:
    table(database, BY_ID, "ALTER TABLE jobs ADD COLUMN failed text")
    query(database, "ALTER TABLE jobs ALTER COLUMN failed SET STORAGE EXTERNAL")
    query(database, "INSERT INTO jobs (status, failed) VALUES ('dead', repeat('x', 100000))")
    with reading(database, jobs(error="failed")) as reader:
        ((message,), _) = reader.messages(PageRequest("dead"))
        assert message.error == "98 kB stored"


def test_queues_of_each_kind_show_errors_but_not_the_results_of_done_messages(database: str) -> None:
    errors = """ARRAY['{"error": "old"}', '{"error": "new"}']::jsonb[]"""
    for name in ("mails", "calls", "visits"):
        query(
            database,
            f"CREATE TABLE {name} (id bigserial PRIMARY KEY, q text DEFAULT 'a', status text, taken timestamptz,"
            " errors jsonb[])",
        )
        states = ("new",) if name == "calls" else ("busy", "dead", "done")
        for state in states:
            query(database, f"INSERT INTO {name} (status, taken, errors) VALUES (?, now(), {errors})", state)
    query(database, "CREATE INDEX ON visits (status, taken); CREATE INDEX ON visits (status, id)")
    with watching(database, configured(SEVERAL)) as watched:
        watched.view(lambda view: {"mails/a", "calls", "visits"} <= {queue.name for queue in view.queues})
        for name in ("mails/a", "calls", "visits"):
            watched.poller.set_focus(ReadScope(rows_of=name))
            found = watched.queue(name, lambda queue: queue.messages)
            assert [each.error for each in found.messages or ()] == ['{"error": "new"}'], name
        for state, error in (("dead", '{"error": "new"}'), ("done", None)):
            found = listed(watched, "mails/a", PageRequest(state))
            assert [each.error for each in found.messages or ()] == [error]


SOLID_QUEUE: Final = (
    "CREATE TABLE solid_queue_jobs (id bigserial PRIMARY KEY, queue_name text, class_name text, arguments text,"
    " priority int, scheduled_at timestamptz, finished_at timestamptz, created_at timestamptz, concurrency_key text);"
    "CREATE TABLE solid_queue_processes (id bigint, last_heartbeat_at timestamptz, name text, kind text);"
    + "".join(
        f"CREATE TABLE solid_queue_{kind}_executions (id bigserial PRIMARY KEY, job_id bigint, queue_name text,"
        " process_id bigint, scheduled_at timestamptz, created_at timestamptz, error text);"
        for kind in ("ready", "claimed", "scheduled", "blocked", "failed")
    )
    + "INSERT INTO solid_queue_jobs (queue_name) VALUES ('mails'), ('mails');"
    "INSERT INTO solid_queue_failed_executions (job_id, error) VALUES (1, 'no such host'), (2, NULL)"
)
FAILED: Final = (
    "UPDATE que_jobs SET expired_at = now(), last_error_message = CASE id WHEN 1 THEN 'no such host' END"
    " WHERE queue = 'mails' AND id < 3"
)


@pytest.mark.parametrize(("name", "tables"), [("solid-queue/mails", SOLID_QUEUE), ("que/mails", QUE + FAILED)])
def test_the_error_of_a_library_is_found_by_its_column_or_in_another_table(
    database: str, name: str, tables: str
) -> None:
    query(database, tables)
    with watching(database) as watched:
        watched.queue(name)
        found = listed(watched, name, PageRequest("dead"))
        assert found.failures == ()
        assert [each.error for each in found.messages or ()] == ["no such host", None]


def test_the_error_column_of_a_guessed_queue_is_found_by_its_name(database: str) -> None:
    query(
        database,
        "CREATE TABLE job_queue (id bigserial PRIMARY KEY, status text, started_at timestamptz, payload text,"
        " last_error text); CREATE INDEX ON job_queue (status, started_at);"
        "CREATE TABLE mail_queue (id bigserial PRIMARY KEY, created_at timestamptz, failed_at timestamptz,"
        " processed_at timestamptz, body text, errors text[]);"
        "INSERT INTO job_queue (status, last_error) VALUES ('pending', NULL), ('failed', 'no such host');"
        "INSERT INTO mail_queue (failed_at, errors) VALUES (NULL, NULL), (now(), ARRAY['old', 'no such host'])",
    )
    with watching(database) as watched:
        for name in ("job_queue", "mail_queue"):
            watched.queue(name)
            found = listed(watched, name, PageRequest("dead"))
            assert found.failures == ()
            assert [each.error for each in found.messages or ()] == ["no such host"], name
