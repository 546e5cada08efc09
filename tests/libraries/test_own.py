"""A library defined by the user, whose queues are tables of any name, recognized by their columns."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.engines.registry import engine_for
from qmon.model.groups.configured_queue import ConfiguredQueue, NamedLibrary
from qmon.monitor.catalog.group_resolution import GroupResolutionText
from qmon.monitor.catalog.resolve import Resolved, resolve_queues
from tests.contract.watching import connect, target_of, watching
from tests.facts import connected, query

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
