"""Markers of tests' requirements (``unit``: only Python packages; ``server``, ``spark``, ``soak``), and a check."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyodbc
import pytest

# Each test has one of these: from its file, otherwise from its folder and fixtures.
KINDS: Final = ("unit", "server", "spark", "soak")
# A test that uses one of these fixtures, directly or indirectly, gets the marker of the fixture.
FIXTURES: Final = {
    "spark": "spark",
    **dict.fromkeys(("server", "anywhere", "postgres_server", "sqlserver_server"), "server"),
}
# Folders of tests that start servers themselves or draw whole screens, which is slow. Quick tests in `tui` have the
# marker `unit`.
FOLDERS: Final = {
    **dict.fromkeys(("contract", "demo", "laboratory", "libraries", "tui"), "server"),
    "pipeline": "spark",
}
# Programs from apt or an extra.
PROGRAMS: Final = {
    **dict.fromkeys(
        ("initdb", "postgres", "createdb", "dropdb", "pg_basebackup", "pgbouncer", "psql", "tmux"), "server"
    ),
    **dict.fromkeys(("java", "spark-submit", "spark-class"), "spark"),
}
posix: Final = pytest.mark.skipif(sys.platform == "win32", reason="about what only POSIX has")


def mark(item: pytest.Item) -> None:
    """Add the marker of a test's requirements, unless its file or the test itself has one."""
    if kind(item):
        return
    fixtures: tuple[str, ...] = getattr(item, "fixturenames", ())
    asked = {FIXTURES[name] for name in fixtures if name in FIXTURES} | {FOLDERS.get(item.path.parent.name, "unit")}
    item.add_marker("spark" if "spark" in asked else "server" if "server" in asked else "unit")


def kind(item: pytest.Item) -> str:
    """Return the marker of a test's requirements, empty if it has none yet. The last one in ``KINDS`` wins."""
    return next((name for name in reversed(KINDS) if item.get_closest_marker(name)), "")


def beside(item: pytest.Item) -> bool:
    """Return whether a test is light and starts nothing, so that it may run next to one that is marked ``alone``."""
    drawn = item.path.parent.name == "tui" and not item.path.name.endswith(("_terminal.py", "_live.py", "_real.py"))
    fixtures: tuple[str, ...] = getattr(item, "fixturenames", ())
    return kind(item) == "unit" or (drawn and "server" not in fixtures)


def ordered(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """Return the tests with those that run alone first, in the part of the first process: most others wait for them.

    In the meantime, every other process has tests that need not wait. Its part of the list begins with them, with an
    equal number from each folder, because a screen takes a hundred times as long as a pure function. Long tests follow,
    one or two in each part, so that no process waits for one of them in the end.
    """
    alone = [each for each in items if each.get_closest_marker("alone")]
    rest = [each for each in items if not each.get_closest_marker("alone")]
    if processes == 1:
        return alone + rest
    long = [each for each in rest if each.get_closest_marker("long")]
    rest = [each for each in rest if not each.get_closest_marker("long")]
    heavy, light = [each for each in rest if not beside(each)], dict[Path, list[pytest.Item]]()
    for each in rest:
        if beside(each):
            light.setdefault(each.path.parent, []).append(each)
    out = alone + _taken(heavy, len(items) // processes - len(alone))
    for left in range(processes - 1, 0, -1):  # each process gets as many of the remaining tests as xdist deals out
        size = (sum(map(len, light.values())) + len(long) + len(heavy)) // left
        own = [each for folder in light.values() for each in _taken(folder, len(folder) // left)]
        own += _taken(long, -(-len(long) // left))
        out += own + _taken(heavy, size - len(own))
    return out + [each for folder in light.values() for each in folder] + long + heavy


def _taken(items: list[pytest.Item], number: int) -> list[pytest.Item]:
    """Remove the first ``number`` tests from ``items`` and return them."""
    found = items[: max(0, number)]
    del items[: len(found)]
    return found


class Watch:
    """Detects that a test uses more than its marker allows: a connection, a server program, or Spark.

    Child processes are not watched: mark a program that starts a server by hand.
    """

    def __init__(self) -> None:
        self._kind = ""
        self._misused: list[str] = []
        self._connect = pyodbc.connect

    def install(self) -> None:
        """Install the hook once per process; an audit hook cannot be removed."""
        sys.addaudithook(self._hear)
        pyodbc.connect = self._connecting

    def begin(self, item: pytest.Item) -> None:
        """Start to watch a test, before its fixtures are created."""
        self._kind, self._misused = kind(item), []

    def end(self) -> str:
        """Stop watching. Return the resources that the test used without the marker, empty if there were none."""
        misused, self._kind, self._misused = self._misused, "", []
        return ", ".join(sorted(set(misused)))

    def _connecting(self, *arguments: object, **options: object) -> pyodbc.Connection:
        self._note("server", "pyodbc.connect")
        return self._connect(*arguments, **options)

    def _hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "subprocess.Popen" and self._kind:
            program = Path(str(arguments[0])).name
            if program in PROGRAMS:
                self._note(PROGRAMS[program], program)

    def _note(self, needs: str, what: str) -> None:
        # Spark's tests may use a server as well, and long ones everything.
        if self._kind and KINDS.index(self._kind) < KINDS.index(needs):
            self._misused.append(f"{what} ({needs})")
