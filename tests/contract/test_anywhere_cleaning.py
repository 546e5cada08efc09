"""Everything the contract makes on a server is removed afterwards, however the run ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from tests.contract.anywhere_run import left_out
from tests.contract.anywhere_server import SIGN, Server
from tests.facts import query, wait_until

ROOT = Path(__file__).parents[2]
NAMES = "SELECT datname FROM pg_database UNION ALL SELECT rolname FROM pg_roles"
INSIDE = f"SELECT 1 FROM pg_stat_activity WHERE datname LIKE '{SIGN}%' AND application_name = 'qmon poll'"
MADE = f"SELECT 1 FROM pg_roles WHERE rolname LIKE '{SIGN}%'"
LIGHT = ("tests/contract/test_anywhere.py::test_a_ring_shows_its_positions", "-k", "postgres")
ROLES = ("tests/contract/test_anywhere_roles.py", "-k", "postgres and an_operator_by_the_role")
LONG = "QMON_LONG" in os.environ


def contract(server: EmbeddedServer, *arguments: str) -> subprocess.Popen[str]:
    """Start a run of the contract on this server as ``make sqlserver`` does."""
    asked = [sys.executable, "-m", "pytest", "-n", "0", "-p", "tests.contract.anywhere_run", *arguments]
    environment = os.environ | {"QMON_TEST_POSTGRES": server.url("postgres")}
    return subprocess.Popen(asked, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def at_work(server: EmbeddedServer) -> subprocess.Popen[str]:
    """Return a run that is under way. A run that ends too soon is started again."""
    for _ in range(10):
        run = contract(server, *(ROLES if LONG else LIGHT))
        wait_until(
            lambda run=run: run.poll() is not None or query(server.url(), MADE if LONG else INSIDE),  # type: ignore[misc]
            60,
            what="it is at work",
        )
        if run.poll() is None:
            return run
        run.communicate()
    raise AssertionError("never seen at work")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT] if LONG else [signal.SIGTERM])
def test_a_run_that_is_ended_leaves_nothing_behind(server: EmbeddedServer, number: int) -> None:
    before = sorted(query(server.url(), NAMES))
    with at_work(server) as run:
        run.send_signal(number)
        told = run.communicate(timeout=120)[0]
    assert run.returncode == pytest.ExitCode.INTERRUPTED, told
    assert sorted(query(server.url(), NAMES)) == before


@pytest.mark.soak
def test_a_whole_run_that_has_left_out_files_has_failed_and_names_them(server: EmbeddedServer) -> None:
    with contract(server, *LIGHT) as run:
        told = run.communicate(timeout=120)[0]
    assert "1 passed" in told
    assert "NOT RUN: action/operate/requeue\n" in told
    assert "NOT RUN: design/ring/01_table\n" not in told
    assert run.returncode == pytest.ExitCode.TESTS_FAILED


def test_what_was_left_when_a_test_was_stopped_while_it_cleaned_up_is_swept(
    clean_roles: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    mine = Server(clean_roles)
    with monkeypatch.context() as patch:
        patch.setattr(Server, "run_until_dropped", stopped)
        with pytest.raises(KeyboardInterrupt), mine.database() as place, mine.roles(place), mine.login(place):
            place.run("CREATE ROLE qmon_monitor", "CREATE TABLE mine (id int)", "GRANT SELECT ON mine TO qmon_monitor")
    assert sum(name.startswith(mine.sign) for name in mine.left()) == 2
    assert "qmon_monitor" in mine.left()
    mine.sweep()
    assert mine.left() == []


def test_a_database_may_have_any_name(clean_roles: str) -> None:
    mine = Server(clean_roles)
    with mine.database(ending=".b]") as place:
        assert str(place.ask("SELECT current_database()")[0][0]).endswith(".b]")
    assert mine.left() == []


def test_files_for_later_versions_are_not_asked_for() -> None:
    assert "probe/replica" not in left_out("sqlserver", (16, 0), ())
    assert "design/fifo/02_hot_end" not in left_out("sqlserver", (14, 0), ())
    assert "design/fifo/02_hot_end" in left_out("sqlserver", (15, 0), ())
    assert "design/fifo/02_hot_end" not in left_out("sqlserver", (15, 0), ["design/fifo/02_hot_end"])
