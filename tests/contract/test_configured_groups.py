"""User tables as groups: logical queues, a part of a table, states by conditions, times of every kind."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.registry import engine_for
from qmon.model.config_reader import KeyText
from qmon.model.reasons import Reason
from qmon.model.view import View
from qmon.monitor.catalog.column_zones import ZoneText
from qmon.monitor.catalog.complete_layout import CompletionText
from qmon.monitor.catalog.group_resolution import GroupResolutionText
from qmon.monitor.catalog.resolve import Resolved, resolve_queues
from qmon.texts import Text
from tests.contract.groups import configured
from tests.contract.hostile_names import EVIL, QUOTED
from tests.contract.watching import connect, target_of, watching
from tests.facts import query
from tests.libraries.oban import oban
from tests.wordings import has

pytestmark = pytest.mark.server

SECONDS: Final = "extract(epoch FROM now() {})"
# By name: the type of a column, SQL for a time with an offset, and the configuration.
TIMES: Final = {
    "with a zone": ("timestamptz", "now() {}", ""),
    "UTC by its default": ("timestamp DEFAULT timezone('UTC', now())", "timezone('UTC', now() {})", ""),
    "said to be UTC": ("timestamp", "timezone('UTC', now() {})", 'times = "utc"'),
    "of a place": ("timestamp", "timezone('Asia/Tokyo', now() {})", 'times = "Asia/Tokyo"'),
    "said to be local": ("timestamp DEFAULT now()", "timezone('Asia/Tokyo', now() {})", 'times = "local"'),
    "seconds": ("bigint", f"CAST({SECONDS} AS bigint)", 'times = "unix"'),
    "seconds of 4 bytes": ("integer", f"CAST({SECONDS} AS integer)", 'times = "unix"'),
    "milliseconds": ("bigint", f"CAST({SECONDS} * 1000 AS bigint)", 'times = "unix_ms"'),
    "ticks": ("bigint", f"CAST(({SECONDS} + 62135596800) * 10000000 AS bigint)", 'times = "ticks"'),
    "seconds beside a zone": ("timestamptz", "now() {}", 'times = "unix"'),
}


def resolved(url: str, text: str) -> Resolved:
    """Return the queues as resolved with the server's catalog."""
    connection = connect(url)
    try:
        return resolve_queues(connection, engine_for(target_of(url)), configured(text))
    finally:
        connection.close()


def seen(url: str, text: str, queues: int) -> View:
    """Return the first complete view of them."""
    with watching(url, configured(text)) as watched:
        return watched.view(lambda view: len(view.queues) == queues and not view.failures, polls=3)


@pytest.mark.parametrize("kind", TIMES)
def test_times_are_what_their_type_their_default_or_the_configuration_says(kind: str, database: str) -> None:
    column, at, said = TIMES[kind]
    name = urlsplit(database).path[1:]
    query(database, f"ALTER DATABASE {name} SET timezone = 'Asia/Tokyo'")
    query(database, f"CREATE TABLE jobs (id bigserial PRIMARY KEY, status text, q text, due {column}, taken {column})")
    rows = [
        ("new", "a", "- interval '90 s'", None),
        ("new", "a", "+ interval '1 h'", None),
        ("new", "b", "- interval '1 s'", None),
        ("busy", "a", "- interval '1 h'", "- interval '20 m'"),
        ("busy", "b", "- interval '1 h'", "- interval '20 s'"),
    ]
    for status, queue, due, taken in rows:
        busy = "NULL" if taken is None else at.format(taken)
        query(
            database, f"INSERT INTO jobs (status, q, due, taken) VALUES (?, ?, {at.format(due)}, {busy})", status, queue
        )
    text = '[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\nid = "id"\nqueue = "q"\ndue_at = "due"\n'
    text += 'started_at = "taken"\nstate = { column = "status", ready = "new", in_progress = "busy" }\n' + said + "\n"
    view = seen(database, text, 2)
    a, b = view.queue("jobs/a"), view.queue("jobs/b")
    assert a is not None and b is not None
    told = [(q.ready.value, q.scheduled.value, q.in_progress.value, q.stuck.value) for q in (a, b)]
    assert told == [(1, 1, 1, 1), (1, 0, 1, 0)]
    assert 90 <= (a.oldest.value or 0) < 120


@pytest.mark.parametrize("unit", ["unix", "unix_ms", "ticks"])
def test_a_number_beyond_all_times_means_never(unit: str, database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, status text, q text, due bigint, taken bigint)")
    for status, due, taken in (
        ("new", 2**63 - 1, None),
        ("new", -(2**63), None),
        ("busy", 0, 2**63 - 1),
        ("busy", 0, -(2**63)),
    ):
        query(database, "INSERT INTO jobs (status, q, due, taken) VALUES (?, 'a', ?, ?)", status, due, taken)
    text = '[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\nid = "id"\nqueue = "q"\ndue_at = "due"\n'
    text += 'started_at = "taken"\nstate = { column = "status", ready = "new", in_progress = "busy" }\n'
    queue = seen(database, text + f'times = "{unit}"\n', 1).queue("jobs/a")
    assert queue is not None
    assert (queue.ready.value, queue.scheduled.value, queue.in_progress.value) == (1, 1, 2)


@pytest.mark.parametrize(
    ("column", "said", "fault", "fields"),
    [
        ("bigint", "", ZoneText.NUMBERS, {"column": "due", "type": "bigint"}),
        ("timestamp", "", ZoneText.ZONE_UNKNOWN, {"column": "due", "effect": ZoneText.NOTHING_COUNTED, "session": ""}),
        (
            "timestamp DEFAULT now()",
            "",
            ZoneText.ZONE_UNKNOWN,
            {"column": "due", "effect": ZoneText.NOTHING_COUNTED, "session": ZoneText.SESSION_TIME},
        ),
        ("text", "", ZoneText.NOT_A_TIME, {"column": "due", "type": "text"}),
        (
            "timestamptz",
            'attempts = "trys"\n',
            GroupResolutionText.NO_COLUMN,
            {"table": "public.jobs", "column": "trys", "hint": KeyText.DID_YOU_MEAN.render(word="tries")},
        ),
    ],
)
def test_what_cannot_be_told_is_a_line_and_no_wrong_figure(
    column: str, said: str, fault: Text, fields: dict[str, Any], database: str
) -> None:
    query(database, f"CREATE TABLE jobs (id bigserial PRIMARY KEY, q text, tries int, due {column})")
    text = '[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\nid = "id"\nqueue = "q"\ndue_at = "due"\n' + said
    found = resolved(database, text)
    assert (found.groups, found.layouts) == ((), ())
    (problem,) = found.problems
    assert has(problem.reason, fault, **fields)


def test_hostile_names_stay_names(database: str) -> None:
    query(database, f'CREATE TABLE "{QUOTED}" ("{QUOTED}" text, id bigserial PRIMARY KEY)')
    query(database, f'INSERT INTO "{QUOTED}" ("{QUOTED}") VALUES (?), (?), (?)', EVIL, EVIL, "it's")
    text = f"[[target.t.queue]]\nname = '[a]]b].[c d]'\ntable = '[{EVIL}]'\nid = 'id'\nqueue = '{EVIL}'\n"
    view = seen(database, text, 2)
    assert {queue.name: queue.ready.value for queue in view.queues} == {
        f"[a]]b].[c d]/{EVIL}": 2,
        "[a]]b].[c d]/it's": 1,
    }


def test_a_part_of_a_table_is_counted_alone_and_states_may_be_conditions(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, tenant text, taken_at timestamptz, tries int)")
    query(
        database,
        "INSERT INTO jobs (tenant, taken_at, tries) VALUES"
        " ('a', NULL, 0), ('a', now(), 1), ('a', NULL, 5), ('b', NULL, 0)",
    )
    text = """
[[target.t.queue]]
name = "jobs"
table = "jobs"
id = "id"
where = { tenant = "a" }
state = [
    { name = "ready", when = { taken_at = { null = true }, tries = { below = 5 } } },
    { name = "in_progress", when = { taken_at = { null = false } }, since = "taken_at" },
    { name = "given_up", kind = "dead", when = { taken_at = { null = true }, tries = { at_least = 5 } } },
]
"""
    (queue,) = seen(database, text, 1).queues
    assert (queue.name, queue.ready.value, queue.in_progress.value, queue.dead.value) == ("jobs", 1, 1, 1)


RATED: Final = """
[[target.t.queue]]
name = "jobs"
table = "jobs"
id = "id"
queue = "kind"
where = { tenant = "a" }
state = { column = "status", ready = "new", in_progress = "busy"DONE }
"""


def test_rows_that_are_numbered_and_stay_tell_what_was_pushed_and_popped_in_each_queue(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, tenant text, kind text, status text DEFAULT 'new')")
    push = "INSERT INTO jobs (tenant, kind) SELECT ?, ? FROM generate_series(1, ?)"
    query(database, push, "a", "mails", 40)
    query(database, push, "a", "bills", 1)
    with watching(database, configured(RATED.replace("DONE", ', done = "done"'))) as watched:
        watched.queue("jobs/mails", lambda q: q.push_rate.value == 0 and q.pop_rate.value == 0)
        query(database, push, "a", "mails", 30)
        query(database, push, "b", "mails", 500)
        query(database, push, "a", "bills", 3)
        query(database, "UPDATE jobs SET status = 'done' WHERE id <= 20")
        query(database, "UPDATE jobs SET status = 'busy' WHERE id BETWEEN 21 AND 25")
        mails = watched.queue("jobs/mails", lambda q: q.ready.value == 45 and q.push_rate.value, polls=3)
        bills = watched.view().queue("jobs/bills")
    assert mails.window_s is not None
    assert mails.push_rate.value == pytest.approx(30 / mails.window_s, rel=0.01)
    assert mails.pop_rate.value == pytest.approx(25 / mails.window_s, rel=0.01)
    assert (mails.push_rate.at_least, mails.pop_rate.at_least) == (False, True)
    assert mails.complete_rate.value is None
    assert bills is not None and bills.window_s is not None
    assert bills.push_rate.value == pytest.approx(3 / bills.window_s, rel=0.01)
    assert bills.pop_rate.value == 0


def test_where_done_rows_are_deleted_or_ids_come_in_no_order_no_rate_is_told(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, tenant text, kind text, status text DEFAULT 'new')")
    query(database, "INSERT INTO jobs (tenant, kind) VALUES ('a', 'mails')")
    query(database, "CREATE TABLE named (LIKE jobs, PRIMARY KEY (id))")
    query(database, "INSERT INTO named TABLE jobs")
    for text in (RATED.replace("DONE", ""), RATED.replace("DONE", ', done = "done"').replace('"jobs"', '"named"')):
        with watching(database, configured(text)) as watched:
            view = watched.view(lambda view: len(view.queues) == 1, polls=3)
        assert view.queues[0].push_rate.value is None
        assert Reason.NO_LOG_OF_STEPS in view.queues[0].push_rate.reason


def test_queues_of_a_library_are_shown_beside_configured_ones_where_it_is_named(database: str) -> None:
    oban().install(database)
    query(
        database, "INSERT INTO oban_jobs (state, queue, worker, max_attempts) VALUES ('available', 'mails', 'Job', 9)"
    )
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, payload text)")
    own = '[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\ndesign = "fifo"\n'
    named = '[[target.t.queue]]\nlibrary = "{}"\n'
    assert [queue.name for queue in seen(database, own, 1).queues] == ["jobs"]
    assert {queue.name for queue in seen(database, own + named.format("oban"), 2).queues} == {"jobs", "oban/mails"}
    missing = resolved(database, own + named.format("river"))
    assert [each.reason for each in missing.problems] == [
        GroupResolutionText.LIBRARY.render(library="river", reason=GroupResolutionText.NOT_FOUND)
    ]
    theirs = own.replace('"jobs"', '"oban_jobs"') + 'id = "id"\nqueue = "queue"\n'
    both = resolved(database, theirs + named.format("oban"))
    assert [each.group.name for each in both.groups] == ["oban_jobs"]


def test_a_column_without_an_exact_text_names_no_message(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, status text, q text)")
    text = """
        [[target.t.queue]]
        name = "jobs"
        table = "public.jobs"
        id = "id"
        queue = "q"
        state = { column = "status", ready = "new", in_progress = "busy" }
    """
    assert resolved(database, text).problems == ()
    monkeypatch.setattr(Postgres, "types_without_text", frozenset({"bigint"}))
    (problem,) = resolved(database, text).problems
    column = CompletionText.TEXTLESS.render(column="id", type="bigint")
    assert problem.reason == CompletionText.OTHER_ID.render(column=column)


LISTED: Final = """
[[target.t.queue]]
name = "jobs"
table = "jobs"
id = "id"
queue = { table = "kinds", by = "kind_id", column = "name" }
counters = true
state = [
    { name = "ready", when = { taken = { null = true } }, since = "at" },
    { name = "in_progress", when = { taken = { null = false } }, since = "taken" },
]
"""


def test_a_tables_counters_are_the_rates_of_its_only_queue_alone(database: str) -> None:
    query(database, "CREATE TABLE kinds (id int PRIMARY KEY, name text)")
    query(
        database,
        "CREATE TABLE jobs (id bigserial PRIMARY KEY, kind_id int, taken timestamptz, at timestamptz DEFAULT now())",
    )
    query(database, "INSERT INTO kinds VALUES (1, 'mails')")
    query(database, "INSERT INTO jobs (kind_id) SELECT 1 FROM generate_series(1, 50)")
    with watching(database, configured(LISTED)) as watched:
        watched.queue("jobs/mails", lambda q: q.push_rate.value is not None)
        query(database, "INSERT INTO jobs (kind_id) SELECT 1 FROM generate_series(1, 10)")
        assert watched.queue("jobs/mails", lambda q: bool(q.push_rate.value)).pop_rate.value == 0
        query(database, "INSERT INTO kinds VALUES (2, 'quick')")
        # No poll sees a row of the other queue.
        watched.queue("jobs/mails", lambda q: q.push_rate.value is None)
        begun = len(watched.views)
        for _ in range(3):
            query(
                database,
                "WITH made AS (INSERT INTO jobs (kind_id) SELECT 2 FROM generate_series(1, 30) RETURNING id)"
                " SELECT count(*) FROM made",
            )
            query(database, "UPDATE jobs SET taken = now() WHERE kind_id = 2")
            query(database, "DELETE FROM jobs WHERE kind_id = 2")
            watched.view(polls=1)
        after = [queue for view in watched.views[begun:] for queue in view.queues if queue.name == "jobs/mails"]
    assert {queue.pop_rate.value for queue in after} == {None}
    assert {queue.pop_rate.reason for queue in after} == {Reason.MIXED_QUEUES}
    assert "healthy" not in {queue.verdict.code for queue in after}


def test_a_message_in_progress_without_a_start_time_is_not_known_not_to_be_stuck(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, status text, q text, taken timestamptz)")
    query(database, "INSERT INTO jobs (status, q) VALUES ('busy', 'a'), ('busy', 'b'), ('busy', 'b'), ('busy', 'b')")
    query(database, "UPDATE jobs SET taken = now() - interval '1 h' WHERE id = 2")
    query(database, "UPDATE jobs SET taken = now() WHERE id = 3")
    query(database, "INSERT INTO jobs (status, q, taken) VALUES ('busy', 'c', now()), ('new', 'd', NULL)")
    text = '[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\nid = "id"\nqueue = "q"\n'
    text += 'state = { column = "status", ready = "new", in_progress = "busy" }\n'
    view = seen(database, text + 'started_at = "taken"\n', 4)
    stuck = {queue.name: queue.stuck for queue in view.queues}
    assert {name: (figure.value, figure.at_least) for name, figure in stuck.items()} == {
        "jobs/a": (None, False),
        "jobs/b": (1, True),
        "jobs/c": (0, False),
        "jobs/d": (0, False),
    }
    assert stuck["jobs/a"].reason == Reason.UNTIMED_ROWS.render(untimed=1, count=1)
    assert {queue.verdict.code for queue in view.queues if queue.name == "jobs/a"} == {"cannot tell"}
    view = seen(database, text, 4)
    assert {queue.name: queue.stuck.value for queue in view.queues} == {
        "jobs/a": None,
        "jobs/b": None,
        "jobs/c": None,
        "jobs/d": 0,
    }


def test_a_message_that_returns_by_itself_is_never_stuck(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, vt timestamptz, tries int)")
    query(database, "INSERT INTO jobs (vt, tries) VALUES (now() + interval '1 h', 1), (now(), 0)")
    text = '[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\nid = "id"\nstate = ['
    text += '{ name = "ready", when = { vt = { past = true } } },'
    text += '{ name = "in_progress", when = { vt = { future = true } } }]\n'
    (queue,) = seen(database, text, 1).queues
    assert (queue.in_progress.value, queue.stuck.value) == (1, 0)


def test_steps_by_time_of_a_large_table_need_an_index(database: str) -> None:
    query(database, "CREATE TABLE jobs (id text PRIMARY KEY, q text, done boolean, at timestamptz)")
    text = '[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\nid = "id"\nqueue = "q"\n'
    text += 'state = [{ name = "ready", when = { done = false } }, { name = "done", when = { done = true } }]\n'
    text += 'steps = [{ table = "jobs", at = "at", queue = "q", pushed = true }]\n'

    def steps() -> int:
        (found,) = resolved(database, text).groups
        return len(found.group.steps)

    assert steps() == 1
    query(database, "UPDATE pg_class SET reltuples = 200000, relpages = 5000 WHERE relname = 'jobs'")
    assert steps() == 0
    why = [each.reason for each in resolved(database, text).problems]
    assert any(has(each, GroupResolutionText.NO_TIME_INDEX, column="at") for each in why), why
    for columns in ("at", "q, at"):
        query(database, f"CREATE INDEX found ON jobs ({columns})")
        query(database, "UPDATE pg_class SET reltuples = 200000, relpages = 5000 WHERE relname = 'jobs'")
        assert steps() == 1
        query(database, "DROP INDEX found")
