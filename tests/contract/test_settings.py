"""The database card of a real PostgreSQL: settings for other sessions, and the tables of the queues."""

from __future__ import annotations

import json

import pytest

from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.settings import HarmText, Setting, database_card
from qmon.model.status_report import settings_object
from qmon.monitor.probe_checks import run_checkup
from tests.cli.calling import call
from tests.contract.engines import opened
from tests.contract.watching import installed, watching
from tests.facts import query
from tests.queues import ENGINE

LINE = Layout("line", "fifo", ObjectName("public", "line"), id="id")
PARTS = Layout("parts", "fifo", ObjectName("public", "parts"), id="id")


def settings(url: str) -> dict[tuple[str, str], Setting]:
    """Return the card as ``qmon doctor`` reads it."""
    with opened(url) as connection:
        return {
            (s.name, s.value or ""): s
            for s in database_card("postgres", run_checkup(connection, ENGINE, [LINE, PARTS]).settings)
        }


@pytest.fixture
def tables(database: str) -> str:
    query(
        database,
        """CREATE UNLOGGED TABLE line (id bigserial PRIMARY KEY) WITH (autovacuum_enabled = false);
           CREATE TABLE parts (id bigserial PRIMARY KEY) PARTITION BY RANGE (id);
           CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (1) TO (1000);
           CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (2000)""",
    )
    return database


def test_settings_of_tables_and_their_partitions(tables: str) -> None:
    found = settings(tables)
    assert found["autovacuum_enabled", "off"].object == "public.line"
    assert found["persistence", "unlogged"].harm == HarmText.TABLE_EMPTIED
    assert found["persistence", "permanent"].object == "public.parts_1 and 1 more"
    assert found["autovacuum_enabled", "on"].harm == ""
    assert ("version", query(tables, "SELECT current_setting('server_version')")[0][0]) in found


def test_what_qmon_sets_for_itself_is_not_shown_as_what_others_have(tables: str) -> None:
    found = settings(tables)
    assert found["default_transaction_isolation", ""].value is None, "qmon connects with its own"
    assert found["idle_in_transaction_session_timeout", "0"].harm
    name = query(tables, "SELECT current_database()")[0][0]
    for one in (
        "default_transaction_isolation = 'repeatable read'",
        "synchronous_commit = off",
        "track_activities = off",
        "idle_in_transaction_session_timeout = '90s'",
    ):
        query(tables, f'ALTER DATABASE "{name}" SET {one}')
    found = settings(tables)
    assert "40001" in found["default_transaction_isolation", "repeatable read"].harm
    assert found["synchronous_commit", "off"].harm
    assert found["track_activities", "off"].harm
    assert found["idle_in_transaction_session_timeout", "90000 ms"].harm == ""


def test_what_is_set_for_our_role_alone_is_unknown_for_others(tables: str, clean_roles: str) -> None:
    name = query(tables, "SELECT current_database()")[0][0]
    query(tables, f'ALTER ROLE postgres IN DATABASE "{name}" SET synchronous_commit = off')
    assert settings(tables)["synchronous_commit", ""].value is None
    query(tables, f'ALTER DATABASE "{name}" SET synchronous_commit = local')
    assert settings(tables)["synchronous_commit", "local"].harm == ""


def test_the_dashboard_and_the_command_have_the_same_card(database: str) -> None:
    installed(database, "fifo")
    query(database, "ALTER TABLE fifo SET UNLOGGED")
    with watching(database) as watched:
        view = watched.view(lambda v: v.server.state is not None and v.server.state.settings)
    assert view.server.state is not None
    done = call("doctor", database, "--output", "json")
    printed = json.loads(done.stdout)["settings"]
    unlogged = {
        "name": "persistence",
        "tables": "public.fifo",
        "value": "unlogged",
        "harm": HarmText.TABLE_EMPTIED,
    }
    assert unlogged in printed
    assert settings_object(database_card("postgres", view.server.state.settings)) == printed
    shown = call("doctor", database).stdout
    assert "EFFECT ON QUEUES" in shown
    assert HarmText.OF_TABLES.render(setting="persistence", tables="public.fifo") in shown
