"""Values computed from columns: due times, times in numbers and JSON, and names of queues, in a list of states."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.config.config_file import parse_config
from qmon.engines.registry import engine_for
from qmon.model.view import QueueView
from qmon.monitor.catalog.group_resolution import GroupResolutionText
from qmon.monitor.catalog.resolve import resolve_queues
from tests.contract.tables import qmon_connection
from tests.contract.watching import target_of, watching
from tests.facts import query

pytestmark = pytest.mark.server

HEAD: Final = '[target.t]\nconnect = "postgresql://h/d"\n[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\nid = "id"\n'
# Due times in every form: text of the queue's keys, column types, and an expression for the time of a row.
MILLISECONDS: Final = "CAST(extract(epoch FROM {}) * 1000 AS bigint)"
TICKS: Final = "CAST(extract(epoch FROM {}) * 10000000 AS bigint) + 621355968000000000"
DUE: Final = {
    "seconds in JSON": (
        '{ column = "body", path = ["options", "eta"], times = "unix" }',
        "body jsonb",
        "jsonb_build_object('options', jsonb_build_object('eta', extract(epoch FROM {})))",
    ),
    "text in JSON": (
        '{ column = "body", path = "due" }',
        "body json",
        "json_build_object('due', {})",
    ),
    "milliseconds next to times": ('{ column = "due", times = "unix_ms" }', "due bigint", MILLISECONDS),
    "ticks next to times": ('{ column = "due", times = "ticks" }', "due numeric(30)", TICKS),
    "a constant later": ('{ column = "due", plus = "1h" }', "due timestamptz", "{} - interval '1 h'"),
    "a constant earlier": ('{ column = "due", minus = "1h" }', "due timestamptz", "{} + interval '1 h'"),
    "a constant later than ticks": (
        '{ column = "due", times = "ticks", plus = "1h" }',
        "due bigint",
        TICKS.format("({} - interval '1 h')"),
    ),
    "an interval later": (
        '{ column = "pushed", plus = "delay" }',
        "delay interval, pushed timestamptz DEFAULT now() - interval '30 m'",
        "{} - (now() - interval '30 m')",
    ),
    "seconds earlier": (
        '{ column = "expires", minus = "ttl" }',
        "expires timestamptz, ttl int DEFAULT 90",
        "{} + interval '90 s'",
    ),
    "the later of two": (
        '{ later_of = ["due", { column = "held", plus = "5m" }] }',
        "due timestamptz, held timestamptz DEFAULT now() - interval '1 d'",
        "{}",
    ),
    "the later of one and NULL": (
        '{ later_of = ["held", "due"] }',
        "due timestamp, held timestamptz",
        "timezone('UTC', {})",
    ),
}
STATES: Final = """
state = [
    { name = "ready", when = { any = [{ due = { null = true } }, { due = { past = true } }] }, since = "due" },
    { name = "scheduled", when = { due = { future = true } }, since = "due" },
]
"""


def watched(database: str, keys: str, *, queues: int = 1) -> tuple[QueueView, ...]:
    """Return the queues of a configuration with these keys."""
    configured = parse_config(HEAD + keys, Path("qmon.toml")).targets["t"].queues
    with watching(database, configured) as source:
        view = source.view(lambda view: len(view.queues) == queues, polls=2)
    assert not view.failures
    return view.queues


@pytest.mark.parametrize(("due", "columns", "time"), DUE.values(), ids=list(DUE))
def test_a_due_time_in_any_form_tells_ready_from_scheduled(due: str, columns: str, time: str, database: str) -> None:
    query(database, f"CREATE TABLE jobs (id bigserial PRIMARY KEY, {columns})")
    column = columns.partition(" ")[0]
    for at in ("now() - interval '5 m'", "now() - interval '1 m'", "now() + interval '20 m'"):
        query(database, f"INSERT INTO jobs ({column}) VALUES ({time.format(f'({at})')})")
    times = 'times = "utc"\n' if "timestamp," in columns else ""
    (queue,) = watched(database, f"{times}values = {{ due = {due} }}{STATES}")
    assert (queue.ready.value, queue.scheduled.value) == (2, 1)
    assert 300 <= (queue.oldest.value or 0) < 330


def test_a_number_in_json_that_is_missing_or_no_number_is_null(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, body jsonb)")
    query(database, """INSERT INTO jobs (body) VALUES ('{"due": "soon"}'), ('{}'), (NULL), ('{"due": [1]}')""")
    due = 'values = { due = { column = "body", path = ["due"], times = "unix" } }'
    (queue,) = watched(database, due + STATES)
    assert (queue.ready.value, queue.scheduled.value) == (4, 0)


def test_patterns_give_queues_their_names(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, name text, taken boolean DEFAULT false)")
    query(database, "INSERT INTO jobs (name) VALUES ('mails'), ('mails.DQ'), ('a_b%.DQ'), ('4f''1'), ('x!mails.DQ')")
    query(database, "INSERT INTO jobs (name, taken) VALUES ('mails.DQ', true)")
    keys = """
    values = { queue = { column = "name", names = { "4f'1" = "orders", "x!*.DQ" = "special *", "*.DQ" = "*" } } }
    queue = "queue"
    state = [
        { name = "ready", when = { taken = false } },
        { name = "in_progress", when = { taken = true, queue = "mails" } },
    ]
    """
    queues = watched(database, keys, queues=4)
    assert {queue.name: (queue.ready.value, queue.in_progress.value) for queue in queues} == {
        "jobs/mails": (2, 1),
        "jobs/a_b%": (1, 0),
        "jobs/orders": (1, 0),
        "jobs/special mails": (1, 0),
    }


def test_values_inside_json_give_queue_state_and_attempts(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, body jsonb)")
    for state, tries in (("new", 0), ("new", 3), ("new", 12)):
        query(
            database, f"""INSERT INTO jobs (body) VALUES ('{{"q": "mails", "state": "{state}", "tries": {tries}}}')"""
        )
    keys = """
    queue = { column = "body", path = "q" }
    attempts = { column = "body", path = "tries" }
    [target.t.queue.values]
    state = { column = "body", path = ["state"] }
    tries = { column = "body", path = ["tries"] }
    [[target.t.queue.state]]
    name = "ready"
    when = { state = "new", tries = { below = 10 } }
    [[target.t.queue.state]]
    name = "dead"
    when = { state = ["new"], tries = { at_least = 10 } }
    """
    (queue,) = watched(database, keys)
    assert (queue.name, queue.ready.value, queue.dead.value) == ("jobs/mails", 2, 1)


def test_a_path_needs_a_column_of_json(database: str) -> None:
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, body text)")
    keys = 'values = { due = { column = "body", path = ["due"] } }' + STATES
    configured = parse_config(HEAD + keys, Path("qmon.toml")).targets["t"].queues
    with qmon_connection(database) as connection:
        (problem,) = resolve_queues(connection, engine_for(target_of(database)), configured).problems
    assert problem.reason == GroupResolutionText.NO_JSON.render(
        column="public.jobs.body", type="text", types="json, jsonb"
    )
