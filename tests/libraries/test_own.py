"""A library defined by the user, whose queues are tables of any name, recognized by their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.cli.library_page import LibraryPageText
from qmon.engines.registry import engine_for
from qmon.libraries import library_catalog
from qmon.model.groups.configured_queue import ConfiguredQueue, NamedLibrary
from qmon.monitor.catalog.group_resolution import GroupResolutionText
from qmon.monitor.catalog.proposal import OtherTable
from qmon.monitor.catalog.resolve import Resolved, ResolveText, resolve_queues
from tests.cli.calling import call
from tests.contract.watching import connect, target_of, watching
from tests.facts import connected, query
from tests.wordings import has

pytestmark = pytest.mark.server

FILE: Final = """
name = "our-bus"

[[queue]]
columns = { id = "bigint", visible = "timestamp with time zone", leased_until = "timestamp with time zone" }
id = "id"
state = [
    { name = "ready", when = { leased_until = { null = true } }, since = "visible" },
    { name = "in_progress", when = { leased_until = { null = false } } },
]

[[queue]]
columns = { id = "bigint", visible = "timestamp with time zone", body = ["bytea", "text"] }
design = "pending"
id = "id"
due_at = "visible"
"""
TABLE: Final = "id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, visible timestamptz NOT NULL"


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write the library's file to the user's configuration folder."""
    folder = tmp_path / "qmon" / "libraries"
    folder.mkdir(parents=True)
    (folder / "our-bus.toml").write_text(FILE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))


def resolved(url: str, *configured: ConfiguredQueue) -> Resolved:
    connection = connect(url)
    try:
        return resolve_queues(connection, engine_for(target_of(url)), configured)
    finally:
        connection.close()


def made(url: str) -> None:
    query(url, f'CREATE TABLE "Sales [1].Delayed" ({TABLE}, body bytea)')
    query(url, 'CREATE INDEX ON "Sales [1].Delayed" (visible)')
    query(url, f"CREATE TABLE stock ({TABLE}, leased_until timestamptz)")
    query(url, f"CREATE TABLE other ({TABLE}, body integer)")


def test_each_table_with_these_columns_is_a_queue_and_what_is_popped_is_in_progress(database: str) -> None:
    made(database)
    name = "our-bus/Sales [1].Delayed"
    assert [each.queue for each in resolved(database).layouts] == [name]
    push = (
        'INSERT INTO "Sales [1].Delayed" (visible) SELECT now() + make_interval(secs => n) FROM generate_series({}) n'
    )
    query(database, push.format("-4, 0"))
    query(database, push.format("3600, 3602"))
    query(database, "INSERT INTO stock (visible, leased_until) VALUES (now(), NULL), (now(), now())")
    with connected(database, autocommit=False) as consumer, watching(database, ()) as watched:
        consumer.execute("""DELETE FROM "Sales [1].Delayed" WHERE id = 1""")
        view = watched.view(lambda view: {each.name for each in view.queues} == {name, "our-bus/stock"}, polls=2)
        view = watched.view(lambda view: view.queues[0].in_progress.value == 1)
    later, stock = view.queue(name), view.queue("our-bus/stock")
    assert later is not None
    assert (later.ready.value, later.scheduled.value) == (4, 3)
    assert stock is not None
    assert (stock.ready.value, stock.in_progress.value) == (1, 1)


def test_it_can_be_named_in_the_configuration_and_what_is_missing_is_said(database: str) -> None:
    problems = [each.reason for each in resolved(database, NamedLibrary("our-bus")).problems]
    assert problems == [GroupResolutionText.LIBRARY.render(library="our-bus", reason=GroupResolutionText.NOT_FOUND)]
    made(database)
    found = resolved(database, NamedLibrary("our-bus"))
    assert [each.queue for each in found.layouts] == ["our-bus/Sales [1].Delayed"]
    assert [each.group.name for each in found.groups] == ["our-bus/stock"]
    assert found.problems == ()
    assert found.explained == (
        GroupResolutionText.RECOGNIZED.render(library="our-bus", table="public.Sales [1].Delayed"),
        GroupResolutionText.RECOGNIZED.render(library="our-bus", table="public.stock"),
    )


def test_tables_that_look_like_queues_are_still_found_beside_them(database: str) -> None:
    made(database)
    query(database, "CREATE TABLE job_queue (id bigserial PRIMARY KEY, status text, locked_at timestamptz, body text)")
    query(database, "INSERT INTO job_queue (status) VALUES ('ready'), ('processing')")
    connection = connect(database)
    try:
        first = resolve_queues(connection, engine_for(target_of(database)), ())
        again = resolve_queues(connection, engine_for(target_of(database)), (), before=first)
    finally:
        connection.close()
    for found in (first, again):
        assert {each.queue for each in found.layouts} == {"our-bus/Sales [1].Delayed", "job_queue"}


PARTS: Final = """
name = "our-jobs"

[tables]
jobs = ["id", "taken_at"]

[[group]]
table = "jobs"
id = "id"
owner = "no_owner"
payload = { table = "no_table", by = "id", column = "body" }
gone = { missing = { table = "workers", by = "worker", when = { heard_at = { future = true, plus = "30s" } } } }

[group.workers]
table = "workers"
alive = { heard_at = { future = true, plus = "30s" } }

[[group.steps]]
table = "log"
id = "id"
pushed = true

[[group.state]]
name = "ready"
when = { taken_at = { null = true } }
since = "pushed_at"

[[group.state]]
name = "in_progress"
when = { taken_at = { null = false } }
since = "taken_at"
"""


def no_column(table: str, column: str) -> str:
    """Return the reason for a missing column, without its hint."""
    return GroupResolutionText.NO_COLUMN.render(table=table, column=column, hint="")


def no_table(table: str) -> str:
    """Return the reason for a missing table, without its hint."""
    return ResolveText.NO_TABLE.render(name=table, hint="")


def test_parts_whose_columns_are_missing_are_left_out_and_named(database: str, tmp_path: Path) -> None:
    (tmp_path / "qmon" / "libraries" / "our-bus.toml").write_text(PARTS)
    query(database, "CREATE TABLE jobs (id bigint PRIMARY KEY, taken_at timestamptz, worker int)")
    query(database, "CREATE TABLE workers (id int PRIMARY KEY, heard timestamptz)")
    query(database, "INSERT INTO jobs VALUES (1, NULL), (2, now()), (3, now())")
    found = resolved(database)
    lost = {
        GroupResolutionText.WITHOUT.render(part="owner", why=no_column("public.jobs", "no_owner")),
        GroupResolutionText.WITHOUT.render(part="payload", why=no_table("public.no_table")),
        GroupResolutionText.WITHOUT.render(part="gone", why=no_column("public.workers", "heard_at")),
        GroupResolutionText.WITHOUT.render(part="workers", why=no_column("public.workers", "heard_at")),
        GroupResolutionText.WITHOUT_STEPS.render(table="log", why=no_table("public.log")),
        GroupResolutionText.WITHOUT_OF_STATE.render(
            part="since", state="ready", why=no_column("public.jobs", "pushed_at")
        ),
    }
    shown = [line.removeprefix("our-jobs: ").partition(";")[0] for line in found.explained]
    assert lost == {line for line in shown if line.startswith(GroupResolutionText.WITHOUT.partition("`")[0])}
    assert len(found.problems) == len(lost)
    with watching(database, ()) as watched:
        jobs = watched.queue("our-jobs", lambda queue: queue.ready.value == 1)
    assert (jobs.in_progress.value, jobs.oldest.value, jobs.push_rate.value) == (2, None, None)


def test_a_group_without_a_column_for_its_states_does_not_hide_the_other_groups(database: str, tmp_path: Path) -> None:
    other = PARTS.partition("[[group]]")[2].replace('table = "jobs"', 'table = "others"').replace("taken_at", "taken")
    (tmp_path / "qmon" / "libraries" / "our-bus.toml").write_text(
        PARTS.replace('"taken_at"]', '"taken_at"]\nothers = ["id"]') + "\n[[group]]" + other
    )
    query(database, "CREATE TABLE jobs (id bigint PRIMARY KEY, taken_at timestamptz)")
    query(database, "CREATE TABLE others (id bigint PRIMARY KEY, taken_at timestamptz)")
    found = resolved(database)
    assert [each.group.table.name for each in found.groups] == ["jobs"]
    assert any(
        has(problem.reason, GroupResolutionText.NO_COLUMN, table="public.others", column="taken")
        for problem in found.problems
    )


def test_library_files_are_next_to_the_configuration_in_use(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_catalog, "_config_folders", {})
    made(database)
    place = tmp_path / "shop.toml"
    place.write_text(f'[target.shop]\nconnect = "{database}"\n[[target.shop.queue]]\nlibrary = "their-bus"\n')
    (tmp_path / "qmon" / "libraries" / "our-bus.toml").unlink()
    (tmp_path / "libraries").mkdir()
    (tmp_path / "libraries" / "bus.toml").write_text(FILE.replace("our-bus", "their-bus"))
    said = call("queues", "shop", "--config", str(place))
    assert said.exit_code == 0, said.output
    assert "their-bus/stock" in said.stdout
    page = call("help", "their-bus", "--config", str(place)).stdout
    assert has(page, LibraryPageText.TITLE, library="their-bus", engine="PostgreSQL")


# More columns than a queue has.
OTHERS: Final = ", ".join(f"c{n} int" for n in range(30)) + ")"


def test_every_other_table_is_explained(database: str) -> None:
    made(database)
    query(database, "CREATE TABLE shop (id bigserial PRIMARY KEY, owner text, locked_at timestamptz, " + OTHERS)
    query(database, "CREATE TABLE countries (code text PRIMARY KEY)")
    said = call("queues", database, "--explain").stdout.splitlines()
    assert f"public.countries: {OtherTable.NONE}" in said
    (line,) = [line for line in said if line.startswith("public.shop: ")]
    assert has(line, OtherTable.SOME)
    assert [line for line in said if line.startswith("public.stock")] == []
