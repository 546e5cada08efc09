"""No command leaves a log of the ODBC driver behind if the system's settings make psqlODBC write one."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon.engines.postgres.postgres_engine import DRIVER_FOLDERS, DRIVER_LIBRARY
from tests.cli.calling import program, run, surroundings
from tests.facts import odbc, query, wait_until


@pytest.fixture
def logs() -> Iterator[Path]:
    """Yield the folder for the driver's logs: Debian's settings with another folder.

    Its path is short: the driver writes no logs to a path of 80 bytes or more.
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made, "logs")
        folder.mkdir()
        library = next(path for place in DRIVER_FOLDERS if (path := Path(place, DRIVER_LIBRARY)).is_file())
        folder.with_name("odbcinst.ini").write_text(
            f"[PostgreSQL Unicode]\nDriver={library}\nCommLog=1\nDebug=0\nLogdir={folder}\n"
        )
        yield folder


def test_a_program_that_takes_no_care_leaves_one(database: str, logs: Path) -> None:
    script = "import sys, pyodbc; pyodbc.pooling = False; pyodbc.connect(sys.argv[1]).close()"
    subprocess.run(
        [sys.executable, "-c", script, odbc(database)], env=surroundings(ODBCSYSINI=str(logs.parent)), check=True
    )
    assert len(list(logs.iterdir())) == 1


def test_a_command_leaves_none(database: str, logs: Path) -> None:
    assert run("status", database, ODBCSYSINI=str(logs.parent)).returncode == 0
    assert list(logs.iterdir()) == []


def test_a_dsn_s_driver_leaves_none(database: str, logs: Path) -> None:
    words = odbc(database).replace("Driver=PostgreSQL Unicode;Server", "Servername").replace(";", "\n")
    (logs.parent / "odbc.ini").write_text(f"[shop]\nDriver=PostgreSQL Unicode\n{words}\n".replace("UID", "Username"))
    done = run("doctor", "shop", ODBCSYSINI=str(logs.parent))
    assert done.returncode == 0, done.stderr
    assert list(logs.iterdir()) == []


def test_a_command_that_is_killed_leaves_none(database: str, logs: Path) -> None:
    running = subprocess.Popen(
        program("record", database, "--to", str(logs.parent / "tape")),
        env=surroundings(ODBCSYSINI=str(logs.parent)),
        stderr=subprocess.DEVNULL,
    )
    try:
        asked = "SELECT application_name FROM pg_stat_activity WHERE application_name IN ('qmon poll', 'qmon waits')"
        wait_until(lambda: len(query(database, asked)) == 2, what="it watches")
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    assert list(logs.iterdir()) == []
