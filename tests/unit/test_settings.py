"""Settings that harm a queue, for both engines: each known harm has its reason, and unknown values are not reported."""

from __future__ import annotations

import pytest

from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import AZURE, SqlServer
from qmon.model.samples.server_state_samples import SettingSample
from qmon.model.settings import HarmText, database_card
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.target_probes import READ_EVERY_S, TargetProbes


def harm(engine: str, name: str, value: str | None) -> str:
    """Return the reason why this value harms a queue."""
    (found,) = database_card(engine, [SettingSample(name, "", value)])
    return found.harm


@pytest.mark.parametrize(
    ("engine", "name", "bad", "fine"),
    [
        ("sqlserver", "compatibility level", "120", "130"),
        ("sqlserver", "read committed snapshot", "off", "on"),
        ("sqlserver", "accelerated recovery", "off", "on"),
        ("sqlserver", "optimized locking", "on", "off"),
        ("sqlserver", "delayed durability", "forced", "allowed"),
        ("sqlserver", "auto update statistics", "off", "on"),
        ("sqlserver", "asynchronous statistics", "off", "on"),
        ("sqlserver", "lock escalation", "table", "disabled"),
        ("sqlserver", "lock escalation", "auto", "disabled"),
        ("sqlserver", "user options", "2", "16384"),
        ("postgres", "default_transaction_isolation", "serializable", "read committed"),
        ("postgres", "synchronous_commit", "off", "remote_apply"),
        ("postgres", "fsync", "off", "on"),
        ("postgres", "autovacuum", "off", "on"),
        ("postgres", "autovacuum_enabled", "off", "on"),
        ("postgres", "track_activities", "off", "on"),
        ("postgres", "track_counts", "off", "on"),
        ("postgres", "idle_in_transaction_session_timeout", "0", "60000 ms"),
        ("postgres", "persistence", "unlogged", "permanent"),
    ],
)
def test_a_harmful_value_has_its_reason(engine: str, name: str, bad: str, fine: str) -> None:
    assert harm(engine, name, bad)
    assert not harm(engine, name, fine)
    assert not harm(engine, name, None), "an unknown value is not harmful"
    assert not harm("postgres" if engine == "sqlserver" else "sqlserver", name, bad)


def test_user_options_are_shown_by_name_and_a_value_that_is_no_number_by_none() -> None:
    shown = [
        database_card("sqlserver", [SettingSample("user options", "", value)])[0].value
        for value in ("0", "514", "32768", "odd", None)
    ]
    none = HarmText.NO_OPTIONS
    assert shown == [none, "IMPLICIT_TRANSACTIONS, NOCOUNT", none, none, None]
    both = harm("sqlserver", "user options", "514")
    assert both == "; ".join(
        HarmText.OPTION.render(option=option, harm=harm)
        for option, harm in (("IMPLICIT_TRANSACTIONS", HarmText.LOCKS_KEPT), ("NOCOUNT", HarmText.COUNT_UNSEEN))
    )


def test_a_setting_of_tables_names_them() -> None:
    (found,) = database_card("sqlserver", [SettingSample("lock escalation", "dbo.a and 2 more", "table")])
    assert found.display_name == HarmText.OF_TABLES.render(setting="lock escalation", tables="dbo.a and 2 more")


def test_all_tables_of_the_target_are_asked_about_once_a_minute() -> None:
    probes = TargetProbes(StatementCache(SqlServer(), (16, 0)))
    asked = {each.probe: each for each in probes.statements_for_poll(0.0, [12, 11])}
    assert asked["settings"].bound.values["tables"] == "12,11"
    assert "settings" not in {each.probe for each in probes.statements_for_poll(READ_EVERY_S["settings"] - 1, [12, 11])}
    probes = TargetProbes(StatementCache(SqlServer(), (16, 0)))
    (alone,) = (each for each in probes.statements_for_poll(0.0) if each.probe == "settings")
    assert alone.bound.values["tables"] == "0"


@pytest.mark.parametrize(
    ("version", "columns"),
    [
        (11, set()),
        (12, {"delayed_durability"}),
        (15, {"delayed_durability", "is_accelerated_database_recovery_on"}),
        (17, {"delayed_durability", "is_accelerated_database_recovery_on"}),
        (AZURE, {"delayed_durability", "is_accelerated_database_recovery_on"}),
    ],
)
def test_what_a_version_lacks_is_null_and_not_off(version: int, columns: set[str]) -> None:
    query = queries.load_query("sqlserver", "probe/settings", (version, 0))
    text = query.text
    assert {"delayed_durability", "is_accelerated_database_recovery_on"} & {
        name for name in ("delayed_durability", "is_accelerated_database_recovery_on") if f"d.{name}" in text
    } == columns
    assert ("sys.configurations" in text) == (version != AZURE)
    assert text.count("CAST(NULL AS nvarchar(300))") == 2 - len(columns) + (version == AZURE)
