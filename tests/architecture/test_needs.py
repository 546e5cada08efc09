"""A test that uses a server or Spark without its marker fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import needs

CHECKOUT = Path(__file__).parents[2]
TESTS = """
import contextlib, subprocess
import pyodbc, pytest

def connect():
    with contextlib.suppress(pyodbc.Error, AssertionError):
        pyodbc.connect("Driver=none")

def start(program):
    with contextlib.suppress(OSError):
        subprocess.run(["/nonexistent/" + program])

def test_nothing(): pass
def test_connect(): connect()
def test_server(): start("postgres")
def test_spark(): start("java")

@pytest.fixture
def connected(): connect()
def test_fixture(connected): pass

@pytest.mark.server
def test_marked(): connect(); start("initdb")
@pytest.mark.server
def test_marked_spark(): start("spark-submit")
@pytest.mark.spark
def test_all(): connect(); start("java")
def test_by_fixture(request): assert request.node.get_closest_marker("unit")
"""


def test_a_test_that_uses_more_than_its_marker_fails(tmp_path: Path) -> None:
    place = tmp_path / "test_some.py"
    place.write_text(TESTS)
    settings = str(CHECKOUT / "pyproject.toml")
    command = [sys.executable, "-m", "pytest", "-n", "0", "-c", settings, "-p", "tests.conftest"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--rootdir", tmp_path, place],
        cwd=CHECKOUT,
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = [line.partition("::")[2] for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert sorted(failed) == [
        "test_connect - Failed: marked unit, it used pyodbc.connect (server)",
        "test_fixture - Failed: marked unit, it used pyodbc.connect (server)",
        "test_marked_spark - Failed: marked server, it used spark-submit (spark)",
        "test_server - Failed: marked unit, it used postgres (server)",
        "test_spark - Failed: marked unit, it used java (spark)",
    ]
    assert "5 failed, 4 passed" in done.stdout


def test_while_one_test_runs_alone_other_processes_start_with_light_tests(request: pytest.FixtureRequest) -> None:
    items, processes = request.session.items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if processes == 1:
        items, processes = needs.ordered(items, 5), 5
    alone = [each.get_closest_marker("alone") is not None for each in items]
    assert alone == sorted(alone, reverse=True)
    dealt = len(items) // processes
    screens = [needs.beside(each) and each.path.parent.name == "tui" for each in items]
    share = sum(screens) / (processes - 1) if items[dealt - 1 : dealt] and not needs.beside(items[dealt - 1]) else None
    for left in range(processes - 1, 0, -1):
        size = (len(items) - dealt) // left
        light = [needs.beside(each) for each in items[dealt : dealt + size]]
        assert light == sorted(light, reverse=True), left
        assert share is None or abs(sum(screens[dealt : dealt + size]) - share) < 1, left
        dealt += size
