"""Requeue, redrive, purge and undo by ``writes`` that a configuration declares, with real workers of two libraries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from qmon.config.config_file import parse_config
from qmon.engines.registry import engine_for
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OwnerState
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.operate.libraries.declared_requeue import DeclaredText
from qmon.operate.plan.allowed_actions import NotAllowed
from qmon.operate.plan.transitions import TransitionText
from qmon.texts import Text
from tests.cli.calling import call
from tests.contract.hostile import role
from tests.contract.hostile_tables import ROLE
from tests.contract.operating import applied
from tests.contract.watching import connect, target_of
from tests.facts import query, wait_until
from tests.libraries.acting import operator, times
from tests.libraries.library import QUEUES
from tests.libraries.uncatalogued import CHANCY, DJANGO_TASKS, Uncatalogued
from tests.schemas import valid
from tests.wordings import has

pytestmark = pytest.mark.server

MAILS, _ = QUEUES


@dataclass(frozen=True)
class Declared:
    """A library, and what its configuration declares.

    ``table``: the table of the library. ``writes``: for messages that become ready.
    """

    library: Uncatalogued
    table: str
    writes: str


CASES: Final = (
    Declared(
        CHANCY,
        "chancy_jobs",
        '{ state = { value = "pending" }, taken_by = "null", claim_id = "null", started_at = "null",'
        ' completed_at = "null" }',
    ),
    Declared(
        DJANGO_TASKS,
        "django_tasks_database_dbtaskresult",
        '{ status = { value = "READY" }, started_at = "null", finished_at = "null", worker_ids = { value = "[]" } }',
    ),
)
# Messages in progress since any time, with any worker.
IN_PROGRESS: Final = Choice(older_than_s=0.0, owner_states=frozenset(OwnerState))


def layout_of(url: str, case: Declared, writes: str) -> Layout:
    """Return the queue of mails as ``qmon init`` describes it, with these ``writes``."""
    text = call("init", url, "--print").output
    at = text.index('\nqueue = "')
    (target,) = parse_config(f"{text[:at]}\nwrites = {writes}{text[at:]}", Path("qmon.toml")).targets.values()
    connection = connect(url)
    try:
        (found,) = resolve_queues(connection, engine_for(target_of(url)), target.queues).groups
    finally:
        connection.close()
    return found.group.queue_layout(MAILS)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.table)
def test_messages_are_requeued_redriven_and_purged_as_declared_and_each_runs_once_more(
    case: Declared, database: str, tmp_path: Path
) -> None:
    library, act = case.library, operator(database, tmp_path)
    with library.client(database, tmp_path) as push:
        push(MAILS, ["dead"], 0.0, 1)
        push(MAILS, ["done"])
        push(QUEUES[1], ["other"])
        with library.start(database, tmp_path, MAILS, seconds_per_job=3600.0) as doomed:
            doomed.hurry()
            wait_until(lambda: states(library, database) == {("dead", 1), ("done", 1)}, what="both jobs have ended")
            doomed.slow_down()
            push(MAILS, ["stuck"])
            doomed.kill()
    before, layout = rows(case, database), layout_of(database, case, f'{{ ready = {case.writes}, purge = "delete" }}')

    requeued = applied(act.requeue(layout, IN_PROGRESS))
    assert (requeued.done, rows(case, database) == before) == (1, False)
    assert applied(act.undo(requeued.operation)).done == 1
    assert rows(case, database) == before

    purged = applied(act.purge(layout, Choice()))
    assert (purged.done, len(rows(case, database))) == (1, len(before) - 1)
    assert applied(act.undo(purged.operation)).done == 1
    assert rows(case, database) == before

    assert applied(act.requeue(layout, IN_PROGRESS)).done == 1
    assert applied(act.redrive(layout, Choice())).done == 1
    assert act.requeue(layout, IN_PROGRESS).plan.count == act.redrive(layout, Choice()).plan.count == 0
    (tmp_path / "mended").touch()
    with library.start(database, tmp_path, MAILS, seconds_per_job=0.0, name="again") as again:
        again.wait(2, "completed")
        again.stop()
    assert [times(again, id, "claimed") for id in ("dead", "done", "stuck")] == [1, 0, 1]
    assert states(library, database) == {("done", 3)}


# For each declaration that does not fit chancy's table: why, with fields of the text.
UNFIT: Final[dict[str, tuple[Text, dict[str, object]]]] = {
    '{ state = { value = "new" } }': (DeclaredText.NOT_READY, {"count": 1, "total": 1}),
    '{ stat = { value = "pending" } }': (TransitionText.COLUMN_FAULT, {"column": "stat"}),
    '{ state = { value = "pending" }, queue = "null" }': (TransitionText.NOT_NULL, {"column": "queue"}),
    '{ state = { value = "pending" }, attempts = { value = "no number" } }': (DeclaredText.BAD_VALUE, {}),
    '{ id = { value = "7f3e0000-0000-0000-0000-000000000000" } }': (DeclaredText.WRITES_KEY, {"id": "id"}),
}


def test_a_declaration_that_does_not_fit_the_table_is_refused_with_one_line(database: str, tmp_path: Path) -> None:
    act = operator(database, tmp_path)
    with CHANCY.client(database, tmp_path) as push:
        push(MAILS, ["one"])
        push(QUEUES[1], ["other"])
    query(database, "UPDATE chancy_jobs SET state = 'running', started_at = now() WHERE queue = ?", MAILS)
    before = rows(CASES[0], database)
    for writes, (text, fields) in UNFIT.items():
        refused = act.requeue(layout_of(database, CASES[0], f"{{ ready = {writes} }}"), IN_PROGRESS).plan.refused or ""
        assert has(refused, text, **fields), refused
        assert "\n" not in refused
    only_ready = layout_of(database, CASES[0], f"{{ ready = {CASES[0].writes} }}")
    assert has(act.purge(only_ready, Choice()).plan.refused or "", NotAllowed.NO_WRITES, key="writes.purge")
    only_purge = layout_of(database, CASES[0], '{ purge = "delete" }')
    assert has(act.requeue(only_purge, IN_PROGRESS).plan.refused or "", NotAllowed.NO_WRITES, key="writes.ready")
    assert rows(CASES[0], database) == before


LISTED: Final = """
[target.shop]
connect = "{url}"

[[target.shop.queue]]
name = "jobs"
table = "app.jobs"
id = "id"
queue = "q"
attempts = "tries"
state = [
    {{ name = "ready", when = {{ taken_at = {{ null = true }}, tries = {{ below = 3 }} }} }},
    {{ name = "busy", kind = "in_progress", when = {{ taken_at = {{ null = false }} }}, since = "taken_at" }},
    {{ name = "given_up", kind = "dead", when = {{ taken_at = {{ null = true }}, tries = {{ at_least = 3 }} }} }},
]
writes = {{ ready = {{ taken_at = "null" }}, purge = "delete" }}
"""


def test_setup_grants_the_rights_that_declared_writes_need(clean_roles: str, tmp_path: Path) -> None:
    url, config = clean_roles, tmp_path / "qmon.toml"
    query(url, "CREATE SCHEMA app")
    query(url, "CREATE TABLE app.jobs (id bigint PRIMARY KEY, q text, taken_at timestamptz, tries int DEFAULT 0)")
    query(url, "INSERT INTO app.jobs VALUES (1, 'a', now() - interval '1 h', 1), (2, 'a', NULL, 3), (3, 'b', now(), 3)")
    as_role = role(url)
    config.write_text(LISTED.format(url=as_role))
    refused = call("requeue", "shop", "jobs/a", "--yes", "--config", str(config))
    assert refused.exit_code != 0, refused.output
    config.write_text(LISTED.format(url=url))
    done = call("setup", "shop", "--role", "operator", "--config", str(config))
    assert done.exit_code == 0, done.output
    query(url, f"GRANT qmon_operator TO {ROLE}")
    config.write_text(LISTED.format(url=as_role))
    for command, expected in (
        (("requeue", "shop", "jobs/a"), "1 f 1, 2 f 3, 3 t 3"),
        (("requeue", "shop", "jobs/a", "--state", "dead"), "1 f 1, 2 f 0, 3 t 3"),
        (("purge", "shop", "jobs/a", "--state", "ready"), "3 t 3"),
    ):
        acted = call(*command, "--yes", "--reason", "a test", "--config", str(config))
        assert acted.exit_code == 0, acted.output
        table = "SELECT string_agg(concat_ws(' ', id, taken_at IS NOT NULL, tries), ', ' ORDER BY id) FROM app.jobs"
        assert query(url, table) == [(expected,)]


def test_times_without_a_zone_must_be_utc(database: str, tmp_path: Path) -> None:
    query(database, "CREATE SCHEMA app")
    query(database, "CREATE TABLE app.jobs (id bigint PRIMARY KEY, q text, taken_at timestamp, tries int DEFAULT 0)")
    query(
        database, "INSERT INTO app.jobs VALUES (1, 'a', timezone('UTC', now()) - interval '1 h', 1), (2, 'b', NULL, 0)"
    )
    config, found = tmp_path / "qmon.toml", []
    for zone in ("Europe/Berlin", "local", "utc"):
        config.write_text(LISTED.format(url=database) + f'times = "{zone}"\n')
        planned = call("requeue", "shop", "jobs/a", "--dry-run", "--output", "json", "--config", str(config))
        plan = valid(planned.stdout, "action")["plan"]
        found.append((plan["count"], has(plan["refused"] or "", DeclaredText.NOT_UTC, column="app.jobs.taken_at")))
    assert found == [(0, True), (0, True), (1, False)]


def states(library: Uncatalogued, url: str) -> set[tuple[str, int]]:
    """Return the states of the queue of mails, each with its number of messages."""
    return {(state, count) for queue, state, count, _ in library.read_truth(url) if queue == MAILS}


def rows(case: Declared, url: str) -> list[tuple[object, ...]]:
    """Return all rows of the library's table."""
    return query(url, f"SELECT * FROM {case.table} ORDER BY id")
