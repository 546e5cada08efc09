"""Each command starts, on any platform: it shows its help, and reports in one line that its target is unreachable."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Final

import pytest

from qmon.cli.app import COMMANDS
from qmon.cli.commands.connect import ConnectText
from qmon.cli.commands.record import RecordingText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.system import SystemText
from qmon.tui.run import TerminalText
from tests.cli.calling import call
from tests.wordings import has

pytestmark = pytest.mark.server  # it tries to reach one

NAMES: Final = tuple(name for names in COMMANDS.values() for name in names)
NOWHERE: Final = "postgresql://me@127.0.0.1:1/none"
QUEUE: Final = ("requeue", "purge", "pause", "resume", "repair", "design load", "design archive", "design uninstall")
WITH_TARGET: Final = {
    **{name: (NOWHERE,) for name in ("status", "check", "queues", "init", "doctor", "setup", "design bench")},
    **{name: (NOWHERE, "q") for name in QUEUE},
    "undo": (NOWHERE, "1"),
    "end-session": (NOWHERE, "1"),
    "operations": (NOWHERE,),
    "trash list": (NOWHERE,),
    "design install": (NOWHERE, "naive", "--schema", "q"),
}
ALONE: Final = {"design list": (), "targets": (), "help": ("recording",)}
SAVED: Final = ("replay", "export", "report incident")


@pytest.mark.parametrize("name", NAMES)
def test_each_shows_its_help(name: str) -> None:
    done = call(name, "--help")
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"Usage: qmon {name}" in done.stdout


@pytest.mark.parametrize("name", WITH_TARGET)
def test_without_a_server_each_says_so(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(*name.split(), *WITH_TARGET[name])
    assert done.exit_code == (3 if name == "check" else 1), done.output
    where = PostgresErrorText.HOST_PORT.render(host="127.0.0.1", port=1)
    assert has(done.output, PostgresErrorText.REFUSED, where=where)


def test_the_dashboard_asks_for_a_terminal() -> None:
    done = call("connect", NOWHERE)
    assert done.exit_code == 2
    assert has(done.stderr, TerminalText.NO_TERMINAL, stream="input")


@pytest.mark.parametrize("name", ALONE)
def test_what_needs_no_server_works(name: str) -> None:
    done = call(*name.split(), *ALONE[name])
    assert done.exit_code == 0
    assert done.stdout


@pytest.mark.parametrize("name", SAVED)
def test_what_reads_a_recording_says_that_there_is_none(name: str, tmp_path: Path) -> None:
    done = call(*name.split(), str(tmp_path), *(("--to", str(tmp_path / "new.qrec")) if name == "export" else ()))
    assert done.exit_code == 2
    assert "qmon: " in done.stderr or "Missing" in done.stderr


def test_every_command_is_here() -> None:
    tried = {name.split()[0] for name in (*WITH_TARGET, *ALONE, *SAVED)}
    assert {*tried, "connect", "record", "serve", "demo", "pipeline"} == set(NAMES)


def test_a_recording_begins_and_ends_without_a_server(tmp_path: Path) -> None:
    done = call("record", NOWHERE, "--to", str(tmp_path), "--for", "1s")
    assert done.exit_code == 0, done.output
    assert has(done.stderr, RecordingText.SEALED, snapshots="0 snapshots")


@pytest.mark.skipif(sys.platform == "win32", reason="the demo does not run here")
def test_the_demo_without_a_terminal_is_refused_before_anything_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    from qmon.demo import demo_runner

    begun: list[str] = []
    monkeypatch.setattr("sys.__stdin__", io.StringIO())
    monkeypatch.setattr(demo_runner, "EmbeddedServer", lambda **_: begun.append("a server"))
    done = call("demo")
    assert (done.exit_code, begun) == (2, [])
    assert has(done.stderr, TerminalText.NO_TERMINAL, stream="input", alternative=ConnectText.WITHOUT_TERMINAL)


@pytest.mark.skipif(sys.platform != "win32", reason="the demo runs here")
def test_the_demo_says_that_it_needs_posix() -> None:
    done = call("demo", "--for", "1s")
    assert done.exit_code == 2
    assert has(done.stderr, SystemText.NEEDS_POSIX, feature="qmon demo")
