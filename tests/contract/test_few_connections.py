"""If the role may open only one connection, all reads share it, and no other read takes it from a poll."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon.cli.commands.doctor.doctor import ExaminationText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.errors import NoConnectionLeft
from qmon.monitor.probe_checks import CheckupText
from qmon.operate.operator_context import ContextText, create_context
from tests.cli.calling import call, recording
from tests.contract.watching import installed, target_of, watching
from tests.facts import query, wait_until
from tests.recording.writing import lines_of, sequences, value
from tests.wordings import has, pattern

FULL = PostgresErrorText.NO_CONNECTION_LEFT.render(text="too many connections for role")
MINE = "SELECT application_name FROM pg_stat_activity WHERE usename = ? AND application_name LIKE 'qmon %'"


@pytest.fixture
def role(database: str) -> Iterator[str]:
    """A role that may open one connection, with all rights on the queue."""
    installed(database, "status")
    query(database, "SELECT status_push('x'::bytea)")
    name = "alone_" + database.rpartition("/test_")[2].partition("?")[0]
    query(database, f"CREATE ROLE {name} LOGIN CONNECTION LIMIT 1 IN ROLE pg_read_all_stats")
    query(database, f"ALTER SCHEMA qmon OWNER TO {name}")
    query(database, f"ALTER TABLE qmon.queues OWNER TO {name}")
    query(database, f"GRANT ALL ON SCHEMA public TO {name}")
    query(database, f"GRANT ALL ON ALL TABLES IN SCHEMA public TO {name}")
    query(database, f"GRANT ALL ON ALL SEQUENCES IN SCHEMA public, qmon TO {name}")
    yield name
    query(database, f"DROP OWNED BY {name}")
    query(database, f"DROP ROLE {name}")


def sessions(database: str, role: str) -> list[str]:
    return [str(row[0]) for row in query(database, MINE, role)]


def test_commands_do_with_one_what_can_be_done_and_say_what_more_would_give(
    database: str, role: str, tmp_path: Path
) -> None:
    url = database.replace("//postgres@", f"//{role}@")
    at = {"XDG_CONFIG_HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)}
    for _ in range(2):  # the previous connection has just been closed
        done = call("status", url, "--output", "json", environment=at)
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert found["queues"][0]["ready"] == 1
        assert any(FULL in str(failure) for failure in found["failures"])
    done = call("doctor", url, environment=at)
    assert has(done.stdout, ExaminationText.FEW_CONNECTIONS, count=1, most=4)
    assert has(done.stdout, CheckupText.SLOW_READS)
    assert has(done.stdout, CheckupText.ACTIONS)
    assert "1 of 4 connections" not in call("doctor", database, environment=at).stdout
    done = call("purge", url, "status", "--state", "ready", "--yes", "--reason", "test", environment=at)
    assert done.exit_code == 0, done.output
    assert query(database, "SELECT count(*) FROM status") == [(0,)]


def test_an_action_beside_the_dashboard_says_plainly_what_it_lacks(database: str, role: str) -> None:
    url = database.replace("//postgres@", f"//{role}@")
    with watching(url) as watched:
        watched.view(polls=1)
        with pytest.raises(NoConnectionLeft, match=f"{FULL}.*{pattern(ContextText.OWN_CONNECTION)}"):
            create_context(target_of(url)).connect("purge")


def test_what_reads_beside_the_poll_gives_its_connection_up_for_it(database: str, role: str) -> None:
    query(database, f"ALTER ROLE {role} CONNECTION LIMIT 3")
    url = database.replace("//postgres@", f"//{role}@")
    with watching(url) as watched:
        watched.view(polls=1)
        wait_until(lambda: len(sessions(database, role)) == 3, what="poll, look and count")
        query(database, f"ALTER ROLE {role} CONNECTION LIMIT 1")
        killing = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = ? AND application_name = ?"
        query(database, killing, role, "qmon poll")
        seen = len(watched.views)
        wait_until(lambda: len(watched.views) > seen + 1, what="it polls again")
        wait_until(lambda: sessions(database, role) == ["qmon poll"], what="one connection, for the poll")
        wait_until(
            lambda: any(FULL in failure.reason for view in watched.views[-1:] for failure in view.failures),
            what="the reason for unread figures",
        )


def test_a_recording_polls_by_the_one_connection_and_has_the_operations_at_its_end(
    database: str, role: str, tmp_path: Path
) -> None:
    url = database.replace("//postgres@", f"//{role}@")
    done = call("purge", url, "status", "--state", "ready", "--yes", "--reason", "test")
    assert done.exit_code == 0, done.output
    with recording(tmp_path, url, "--every", "500ms") as child:
        wait_until(lambda: len(sequences(tmp_path)) >= 3, 90.0, what="three polls")
        assert sessions(database, role) == ["qmon poll"]
        child.send_signal(signal.SIGTERM)
        child.communicate(timeout=90)
    assert [value(line)["kind"] for line in lines_of(tmp_path) if line.kind == "operation"] == ["purge"]
