"""User tables whose states follow only from times: found by shape, and never counted wrongly."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.config.config_file import parse_config
from qmon.config.toml_writer import queue_to_toml
from qmon.engines.registry import engine_for
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.discovery.candidates import Candidate, CandidateText, discover_queues, is_likely
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.monitor.catalog.state_values import StateValueText
from tests.contract.tables import qmon_connection
from tests.contract.watching import target_of, watching
from tests.facts import query, wait_until
from tests.wordings import has

pytestmark = pytest.mark.server

TAKEN: Final = (
    "CREATE TABLE job_queue (id bigserial PRIMARY KEY, body jsonb, attempts int, created_at timestamptz NOT NULL"
    " DEFAULT now(), run_at timestamptz, locked_at timestamptz, locked_until timestamptz, locked_by text,"
    " finished_at timestamptz, failed_at timestamptz)",
    "INSERT INTO job_queue (run_at) SELECT now() - interval '1 m' FROM generate_series(1, 7)",
    "INSERT INTO job_queue (run_at) VALUES (NULL), (NULL)",
    "INSERT INTO job_queue (run_at) SELECT now() + interval '1 h' FROM generate_series(1, 3)",
    "INSERT INTO job_queue (locked_at, locked_until, locked_by)"
    " SELECT now(), now() + interval '1 h', 'host1' FROM generate_series(1, 4)",
    "INSERT INTO job_queue (locked_at, locked_until) VALUES (now(), now() - interval '1 s')",
    "INSERT INTO job_queue (locked_at, finished_at) SELECT now(), now() FROM generate_series(1, 11)",
    "INSERT INTO job_queue (locked_at, failed_at) SELECT now(), now() FROM generate_series(1, 5)",
    "INSERT INTO job_queue (locked_at, failed_at, finished_at) VALUES (now(), now(), now())",
)
OUTBOX: Final = (
    "CREATE TABLE outbox (id bigserial PRIMARY KEY, payload text, created_at timestamptz NOT NULL DEFAULT now(),"
    " processed_at timestamptz)",
    "INSERT INTO outbox (created_at) SELECT now() - interval '30 s' FROM generate_series(1, 6)",
    "INSERT INTO outbox (processed_at) SELECT now() FROM generate_series(1, 20)",
)


def the_only(database: str, statements: tuple[str, ...]) -> Candidate:
    for statement in statements:
        query(database, statement)
    with qmon_connection(database) as connection:
        (finding,) = discover_queues(Catalog(connection, engine_for(target_of(database))))
    return finding


def test_messages_that_are_taken_done_or_dead_are_never_ready(database: str) -> None:
    finding = the_only(database, TAKEN)
    assert is_likely(finding)
    with watching(database, []) as watched:
        view = watched.view(lambda v: v.queues[0].done.value is not None)
    (queue,) = view.queues
    figures = (queue.ready, queue.scheduled, queue.in_progress, queue.stuck, queue.dead, queue.done)
    assert [figure.value for figure in figures] == [9, 3, 5, 1, 6, 11]
    assert (queue.verdict.code, queue.push_rate.value or 0.0) == ("stuck in progress", 0.0)
    assert queue.messages is None


def test_an_outbox_holds_what_is_not_processed_yet(database: str) -> None:
    the_only(database, OUTBOX)
    with watching(database, []) as watched:
        queue = watched.view(lambda v: v.queues[0].done.value is not None).queues[0]
    assert (queue.ready.value, queue.done.value, queue.in_progress.value) == (6, 20, None)
    assert queue.oldest.value is not None
    assert queue.oldest.value >= 30, "the oldest unprocessed row"


def test_init_writes_what_is_watched(database: str) -> None:
    finding = the_only(database, TAKEN)
    assert finding.written is not None
    text = '[target.t]\nconnect = "postgresql://h/d"\n' + queue_to_toml("t", finding.written)
    with watching(database, parse_config(text, Path("qmon.toml")).targets["t"].queues) as watched:
        queue = watched.view(lambda v: v.queues[0].done.value is not None).queues[0]
    assert (queue.ready.value, queue.in_progress.value, queue.done.value) == (9, 5, 11)


@pytest.mark.parametrize(
    "column", ["locked_until timestamptz", "locked_at timestamptz NOT NULL DEFAULT now()", "sent_at date"]
)
def test_a_time_that_cannot_be_null_and_a_lease_alone_tell_no_state(database: str, column: str) -> None:
    finding = the_only(database, (f"CREATE TABLE job_queue (id bigserial PRIMARY KEY, body text, {column})",))
    assert finding.written is None


SAID: Final = (
    'CREATE TABLE "my jobs" (id bigserial PRIMARY KEY, body text, "the state" text NOT NULL DEFAULT \'new\','
    ' "started at" timestamptz)',
    "INSERT INTO \"my jobs\" (body) SELECT 'x' FROM generate_series(1, 30)",
    'INSERT INTO "my jobs" ("the state", "started at") SELECT \'running\', now() FROM generate_series(1, 5)',
    'INSERT INTO "my jobs" ("the state", "started at") SELECT \'finished\', now() FROM generate_series(1, 15)',
)


def test_a_column_called_a_state_with_other_words_says_more_than_a_time(database: str) -> None:
    finding = the_only(database, SAID)
    assert is_likely(finding)
    assert finding.written is None
    with watching(database, []) as watched:
        queue = watched.view(lambda v: v.queues[0].done.value is not None).queues[0]
    assert (queue.ready.value, queue.in_progress.value, queue.done.value) == (30, 5, 15)


def test_codes_that_say_nothing_are_asked_for(database: str) -> None:
    """By the times alone, finished rows would count as in progress."""
    finding = the_only(
        database, tuple(each.replace("finished", "x3").replace("new", "x1").replace("running", "x2") for each in SAID)
    )
    assert has(finding.missing, StateValueText.NO_READY_WORD, column="the state", values="x1, x2, x3")
    with watching(database, []) as watched:
        assert watched.view().queues == ()


STATES: Final = (
    'CREATE TABLE jobs (id bigserial PRIMARY KEY, body text, "us state" text, started_at timestamptz,'
    " finished_at timestamptz)",
    'INSERT INTO jobs ("us state", started_at) SELECT chr(64 + n), now() FROM generate_series(1, 20) AS n',
)


def test_a_column_of_many_values_is_none_of_states(database: str) -> None:
    finding = the_only(database, STATES)
    assert is_likely(finding)
    with watching(database, []) as watched:
        queue = watched.view(lambda v: v.queues[0].in_progress.value is not None).queues[0]
    assert (queue.ready.value, queue.in_progress.value) == (0, 20)


KEPT: Final = (
    "CREATE TABLE job_queue (id bigserial PRIMARY KEY, body text, locked_at timestamptz)",
    "INSERT INTO job_queue (locked_at) SELECT now() FROM generate_series(1, 100)",
)


@pytest.mark.parametrize("column", ["", ", failed_at timestamptz"])
def test_without_an_end_rows_are_in_progress_only_where_they_are_deleted_afterwards(database: str, column: str) -> None:
    """Only the removal of a popped row shows that it is done. Dead messages are not all messages that ended."""
    finding = the_only(database, (KEPT[0].removesuffix(")") + f"{column})", KEPT[1]))
    assert finding.missing == CandidateText.NO_END
    with watching(database, []) as watched:
        assert watched.view().queues == ()
    query(database, "DELETE FROM job_queue WHERE id <= 60")
    with qmon_connection(database) as connection:
        wait_until(
            lambda: is_likely(*discover_queues(Catalog(connection, engine_for(target_of(database))))),
            what="it is counted",
        )


FLAGS: Final = (
    "CREATE TABLE job_queue (id bigserial PRIMARY KEY, body text, picked boolean, picked_at timestamptz,"
    " processed boolean NOT NULL DEFAULT false, failed boolean NOT NULL DEFAULT false)",
    "INSERT INTO job_queue (picked) VALUES (NULL), (false), (false)",
    "INSERT INTO job_queue (picked, picked_at) VALUES (true, now()), (true, now() - interval '1 h')",
    "INSERT INTO job_queue (picked, processed) SELECT true, true FROM generate_series(1, 4)",
    "INSERT INTO job_queue (picked, failed) SELECT true, true FROM generate_series(1, 5)",
)


def test_flags_show_the_states_of_messages(database: str) -> None:
    finding = the_only(database, FLAGS)
    assert is_likely(finding)
    with watching(database, []) as watched:
        queue = watched.view(lambda v: v.queues[0].done.value is not None).queues[0]
    figures = (queue.ready, queue.in_progress, queue.stuck, queue.dead, queue.done)
    assert [figure.value for figure in figures] == [3, 2, 1, 5, 4]


def test_a_flag_of_popped_messages_alone_needs_deleted_rows(database: str) -> None:
    (create, *_), rows = FLAGS, "INSERT INTO job_queue (picked) SELECT n % 2 = 0 FROM generate_series(1, 60) AS n"
    create = create.replace(", processed boolean NOT NULL DEFAULT false, failed boolean NOT NULL DEFAULT false", "")
    finding = the_only(database, (create, rows, "SELECT pg_stat_force_next_flush()"))
    assert finding.missing
    query(database, "DELETE FROM job_queue WHERE id <= 40")
    query(database, "SELECT pg_stat_force_next_flush()")
    with qmon_connection(database) as connection:
        (finding,) = discover_queues(Catalog(connection, engine_for(target_of(database))))
        assert is_likely(finding)
        resolved = resolve_queues(connection, engine_for(target_of(database)), [])
        query(database, "SELECT pg_stat_reset()")
        again = resolve_queues(connection, engine_for(target_of(database)), [], before=resolved)
        assert [group.group for group in again.groups] == [group.group for group in resolved.groups]
        query(database, "DROP TABLE job_queue")
        assert resolve_queues(connection, engine_for(target_of(database)), [], before=again).groups == ()


@pytest.mark.parametrize(
    "change", ["SELECT 1", "UPDATE mail_queue SET body = 'y'", "DELETE FROM mail_queue WHERE id = 1"]
)
def test_a_design_that_deletes_needs_deletes(database: str, change: str) -> None:
    create = "CREATE TABLE mail_queue (id bigserial PRIMARY KEY, body text)"
    assert is_likely(the_only(database, (create,))), "an empty table shows nothing else"
    query(database, "INSERT INTO mail_queue (body) SELECT 'x' FROM generate_series(1, 200)")
    query(database, change)
    query(database, "SELECT pg_stat_force_next_flush()")
    with qmon_connection(database) as connection:
        found = discover_queues(Catalog(connection, engine_for(target_of(database))))
    assert [bool(each.missing) for each in found] == [True]
    query(database, "DELETE FROM mail_queue WHERE id < 100")
    query(database, "SELECT pg_stat_force_next_flush()")
    with qmon_connection(database) as connection:
        (finding,) = discover_queues(Catalog(connection, engine_for(target_of(database))))
    assert is_likely(finding) is not change.startswith("UPDATE")


EPOCH: Final = "CAST(extract(epoch FROM now()) * {} AS bigint) + {}"


@pytest.mark.parametrize("state", [True, False], ids=["a state", "no state"])
@pytest.mark.parametrize(("per_s", "times"), [(1, "unix"), (1000, "unix_ms")])
def test_due_times_may_be_numbers(database: str, per_s: int, times: str, *, state: bool) -> None:
    column = "status text NOT NULL DEFAULT 'new'," if state else ""
    finding = the_only(
        database,
        (
            f"CREATE TABLE job_queue (id bigserial PRIMARY KEY, {column} run_at bigint NOT NULL, body text)",
            f"INSERT INTO job_queue (run_at) SELECT {EPOCH.format(per_s, -9 * per_s)} FROM generate_series(1, 5)",
            f"INSERT INTO job_queue (run_at) SELECT {EPOCH.format(per_s, 3600 * per_s)} FROM generate_series(1, 3)",
            "INSERT INTO job_queue (run_at) VALUES (0)",  # due at once
        ),
    )
    assert finding.written is not None
    assert finding.written["times"] == times
    with watching(database, []) as watched:
        queue = watched.view().queues[0]
    assert (queue.ready.value, queue.scheduled.value) == (6, 3)
    assert (queue.oldest.value or 0.0) < 86_400, "0 is no time in 1970"


@pytest.mark.parametrize("column", ["run_at bigint DEFAULT 7", "delay interval DEFAULT '1 h'"])
def test_a_due_time_that_is_not_understood_is_asked_for(database: str, column: str) -> None:
    create = f"CREATE TABLE job_queue (id bigserial PRIMARY KEY, status text DEFAULT 'new', {column}, body text)"
    finding = the_only(database, (create, "INSERT INTO job_queue (body) VALUES ('x'), ('y')"))
    assert column.split()[0] in finding.missing


@pytest.mark.parametrize("never", ["infinity", "9999-01-01"])
def test_a_far_due_time_of_popped_messages_stands_for_none(database: str, never: str) -> None:
    statements = (
        "CREATE TABLE job_queue (id bigserial PRIMARY KEY, status text NOT NULL, run_at timestamptz NOT NULL,"
        " started_at timestamptz)",
        f"INSERT INTO job_queue (status, run_at) SELECT 'new', '{never}' FROM generate_series(1, 4)",
        "INSERT INTO job_queue (status, run_at) SELECT 'new', now() + interval '1 h' FROM generate_series(1, 3)",
        "INSERT INTO job_queue (status, run_at) SELECT 'new', now() - interval '1 h' FROM generate_series(1, 2)",
        "INSERT INTO job_queue (status, run_at) SELECT 'done', now() FROM generate_series(1, 2)",
        "INSERT INTO job_queue (status, run_at, started_at) SELECT 'running', now(), now() FROM generate_series(1, 2)",
    )
    the_only(database, statements)
    with watching(database, []) as watched:
        queue = watched.view(lambda v: v.queues[0].scheduled.value is not None).queues[0]
        assert (queue.ready.value, queue.scheduled.value) == (2, 7), "never due: no message was popped in spite of it"
    query(database, f"UPDATE job_queue SET run_at = '{never}' WHERE status = 'running'")
    with watching(database, []) as watched:
        queue = watched.view(lambda v: v.queues[0].scheduled.value is not None).queues[0]
    assert (queue.ready.value, queue.scheduled.value, queue.in_progress.value) == (6, 3, 2)
