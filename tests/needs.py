"""The marker of what a test needs (``unit``: only Python packages; ``server``, ``spark``, ``soak``) and its check."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pyodbc
import pytest

KINDS: Final = ("unit", "server", "spark", "soak")
"""One of them is on each test: written in its file, else by its folder and its fixtures."""
FIXTURES: Final = {
    "spark": "spark",
    **dict.fromkeys(("server", "anywhere", "postgres_server", "sqlserver_server"), "server"),
}
"""What asks for a fixture, itself or through another one, needs what it starts."""
FOLDERS: Final = {
    **dict.fromkeys(("contract", "demo", "laboratory", "libraries", "tui"), "server"),
    "pipeline": "spark",
}
"""Where tests are that start what they need by themselves, or draw whole screens, which takes long; those of ``tui``
that are quick say ``unit``."""
PROGRAMS: Final = {
    **dict.fromkeys(
        ("initdb", "postgres", "createdb", "dropdb", "pg_basebackup", "pgbouncer", "psql", "tmux"), "server"
    ),
    **dict.fromkeys(("java", "spark-submit", "spark-class"), "spark"),
}
"""Programs that apt or an extra bring."""
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

    Meanwhile each other process has tests that need not wait: its part of the list begins with them.
    """
    alone = [each for each in items if each.get_closest_marker("alone")]
    rest = [each for each in items if not each.get_closest_marker("alone")]
    others = processes - 1
    if not others:
        return alone + rest
    light, heavy = [each for each in rest if beside(each)], [each for each in rest if not beside(each)]
    first = max(0, len(items) // processes - len(alone))
    parts = (light, heavy[first:])
    shared = (part[len(part) * at // others : len(part) * (at + 1) // others] for at in range(others) for part in parts)
    return [*alone, *heavy[:first], *itertools.chain.from_iterable(shared)]


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
