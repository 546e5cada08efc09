"""Queries that end sessions, repair rings and read a message are the same on both engines, as are their records."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

import pytest

from qmon.engines.base import EngineName
from qmon.engines.sql import queries
from qmon.engines.sqlserver.sqlserver_engine import AZURE, SqlServer
from qmon.errors import BadInput
from qmon.operate import message
from qmon.operate.actions import end_sessions, requeue_sessions, ring_repair, ring_scan

NEWEST: dict[EngineName, tuple[int, int]] = {"postgres": (18, 0), "sqlserver": (17, 0)}
# In SQL Server, locks and not rows show their holders. It cannot cancel, and its rings need no sequence reset.
ONLY_HERE = {
    "held_rows",
    "held_rows_any",
    "held_locks",
    "seen_locks",
    "seen_locks_any",
    "cancel",
    "terminate",
    "repair",
    "kill",
    "hidden_rows",
}
RECORDS: dict[str, Any] = {
    "sessions/rights": end_sessions.SessionRights,
    "sessions/session": end_sessions.SessionSample,
    "sessions/waiters": end_sessions.Waiter,
    "sessions/prepared": end_sessions.PreparedSample,
    "sessions/cancel": end_sessions._Signalled,
    "sessions/terminate": end_sessions._Signalled,
    "sessions/kill": end_sessions._Signalled,
    "sessions/holders": requeue_sessions.LockingTransaction,
    "sessions/hidden_rows": requeue_sessions._HiddenRows,
    "sessions/held_rows": requeue_sessions.HeldRow,
    "sessions/held_rows_any": requeue_sessions.HeldRow,
    "sessions/held_locks": requeue_sessions.HeldLock,
    "sessions/seen_locks": requeue_sessions.VisibleLock,
    "sessions/seen_locks_any": requeue_sessions.VisibleLock,
    "message/columns": message.ReadableColumn,
    "message/row": message.ColumnValue,
    "message/times": message.MessageTimes,
    "repair/position": ring_scan._Position,
    "repair/drawing": ring_scan.OpenDraw,
    "repair/find_hole": ring_scan._FoundNumber,
    "repair/find_orphan": ring_scan._FoundNumber,
    "repair/find_orphan_of": ring_scan._FoundNumber,
    "repair/fill_hole": ring_repair._RepairAnswer,
    "repair/requeue_orphan": ring_repair._RepairAnswer,
    "repair/requeue_orphan_of": ring_repair._RepairAnswer,
    "repair/repair": ring_repair._Repaired,
    "repair/slot": ring_repair._Slot,
}


def files(engine: EngineName) -> set[str]:
    """Return the queries of these folders, without the folder of actions."""
    names = {each.name.removeprefix("action/") for each in queries.all_files() if each.engine == engine}
    return {name for name in names if name.startswith(("sessions/", "repair/", "message/"))}


def test_both_engines_have_the_same_questions() -> None:
    only_here = {name for name in RECORDS if name.split("/")[1] in ONLY_HERE}
    assert files("postgres") ^ files("sqlserver") == only_here
    assert files("postgres") | files("sqlserver") == set(RECORDS)


@pytest.mark.parametrize("name", RECORDS)
def test_the_columns_are_the_fields(name: str) -> None:
    found = 0
    for engine, version in NEWEST.items():
        if name in files(engine):
            found += 1
            query = queries.load_query(engine, f"action/{name}", version)
            assert query.columns == tuple(field.name for field in fields(RECORDS[name])), engine
    assert found >= 1


@pytest.mark.parametrize("name", sorted(name for name in RECORDS if name.split("/")[1] not in ONLY_HERE))
def test_the_values_are_the_same_but_for_the_subscriber(name: str) -> None:
    postgres, sqlserver = (queries.load_query(engine, f"action/{name}", version) for engine, version in NEWEST.items())
    assert set(sqlserver.parameters) - set(postgres.parameters) <= {"subscriber"}
    assert set(postgres.parameters) <= set(sqlserver.parameters)
    assert sqlserver.names - postgres.names <= {"spare"}


def test_kill_takes_whole_numbers_and_nothing_else() -> None:
    query = queries.load_query("sqlserver", "action/sessions/kill", NEWEST["sqlserver"])
    numbers: dict[str, queries.Name] = {"session": 61, "started_us": 1_795_246_817_647_946, "transaction_us": 0}
    text = queries.render(query, numbers, SqlServer()).text
    assert "IF @there = 1 KILL 61;" in text
    assert "1795246817647946" in text
    for wrong in ("61; SHUTDOWN", "61", True, None):
        with pytest.raises(BadInput):
            queries.render(query, numbers | {"session": wrong}, SqlServer())


@pytest.mark.parametrize("version", [(11, 0), (16, 0), (AZURE, 0)])
def test_who_is_killed_is_known_as_he_was_shown_also_after_a_pool_has_handed_the_connection_on(
    version: tuple[int, int],
) -> None:
    """A reset rolls the transaction back and keeps the number: session, login, and transaction or request."""

    def reckoned(text: str, of: str) -> str:
        bare = " ".join(re.sub(r"--[^\n]*", "", text).split())
        found = re.search(rf"\(CAST\(DATEDIFF\(DAY, '19700101', {re.escape(of)}\).*?\* 60000000", bare)
        assert found is not None, of
        return found[0]

    shown = queries.load_query("sqlserver", "action/sessions/session", version).text
    killed = queries.load_query("sqlserver", "action/sessions/kill", version).text
    for moment in ("s.login_time", "w.began"):
        assert reckoned(shown, moment) == reckoned(killed, moment)
    for text in (shown, killed):
        assert "CROSS APPLY (SELECT COALESCE(x.began, r.start_time) AS began) AS w" in text
    assert killed.index("{started_us!int}", killed.index("s.login_time")) < killed.index("KILL {session!int}")
    assert killed.index("{transaction_us!int}", killed.index("w.began")) < killed.index("KILL {session!int}")
