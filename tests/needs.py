"""The marker of what a test needs (``unit``: only Python packages; ``server``, ``spark``, ``soak``) and its check."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyodbc
import pytest

# One of them is on each test: written in its file, else by its folder and its fixtures.
KINDS: Final = ("unit", "server", "spark", "soak")
# What asks for a fixture, itself or through another one, needs what it starts.
FIXTURES: Final = {
    "spark": "spark",
    **dict.fromkeys(("server", "anywhere", "postgres_server", "sqlserver_server"), "server"),
}
# Where tests are that start what they need by themselves, or draw whole screens, which takes long; those of `tui` that
# are quick say `unit`.
FOLDERS: Final = {
    **dict.fromkeys(("contract", "demo", "laboratory", "libraries", "tui"), "server"),
    "pipeline": "spark",
}
# Programs that apt or an extra bring.
PROGRAMS: Final = {
    **dict.fromkeys(
        ("initdb", "postgres", "createdb", "dropdb", "pg_basebackup", "pgbouncer", "psql", "tmux"), "server"
    ),
    **dict.fromkeys(("java", "spark-submit", "spark-class"), "spark"),
}
posix: Final = pytest.mark.skipif(sys.platform == "win32", reason="about what only POSIX has")


def mark(item: pytest.Item) -> None:
    """Add the marker of what a test needs, unless its file or the test itself has one."""
    if kind(item):
        return
    fixtures: tuple[str, ...] = getattr(item, "fixturenames", ())
    asked = {FIXTURES[name] for name in fixtures if name in FIXTURES} | {FOLDERS.get(item.path.parent.name, "unit")}
    item.add_marker("spark" if "spark" in asked else "server" if "server" in asked else "unit")


def kind(item: pytest.Item) -> str:
    """The marker of what a test needs; empty when it has none yet. Of several the longest in ``KINDS`` counts."""
    return next((name for name in reversed(KINDS) if item.get_closest_marker(name)), "")


def beside(item: pytest.Item) -> bool:
    """Whether a test may run beside one that compares figures with real time: it takes little, and starts nothing."""
    drawn = item.path.parent.name == "tui" and not item.path.name.endswith(("_terminal.py", "_live.py", "_real.py"))
    fixtures: tuple[str, ...] = getattr(item, "fixturenames", ())
    return kind(item) == "unit" or (drawn and "server" not in fixtures)


def ordered(items: Sequence[pytest.Item], processes: int) -> list[pytest.Item]:
    """The tests that are alone come first, in the part of the first process, as most others wait for them.

    Meanwhile each other process has tests that need not wait: its part of the list begins with them, with as many of
    each folder as the others have, since a screen takes a hundred times as long as a pure function. Then come those
    that take long, one or two in each part, so that in the end no process waits for one of them.
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
    for left in range(processes - 1, 0, -1):  # of what is left, each gets as many as xdist deals out
        size = (sum(map(len, light.values())) + len(long) + len(heavy)) // left
        own = [each for folder in light.values() for each in _taken(folder, len(folder) // left)]
        own += _taken(long, -(-len(long) // left))
        out += own + _taken(heavy, size - len(own))
    return out + [each for folder in light.values() for each in folder] + long + heavy


def _taken(items: list[pytest.Item], number: int) -> list[pytest.Item]:
    """The first so many, which are no longer among ``items``."""
    found = items[: max(0, number)]
    del items[: len(found)]
    return found


class Watch:
    """Notices when the test that runs uses what its marker does not say: a connection, a program of a server or Spark.

    What it starts is watched no further: a program that starts a server by itself is marked by hand.
    """

    def __init__(self) -> None:
        self._kind = ""
        self._misused: list[str] = []
        self._connect = pyodbc.connect

    def install(self) -> None:
        """Once per process; an audit hook cannot be taken away."""
        sys.addaudithook(self._hear)
        pyodbc.connect = self._connecting

    def begin(self, item: pytest.Item) -> None:
        """A test begins, with the fixtures that are made for it."""
        self._kind, self._misused = kind(item), []

    def end(self) -> str:
        """It is over; returns what it used without saying so, empty when nothing."""
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
