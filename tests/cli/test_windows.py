"""qmon without POSIX, see ``tests.as_windows``: each command's start, recording, the log, and load on a real queue."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from qmon.cli.commands.design.load import LoadResultText
from qmon.recording.read.recording_paths import list_segments
from tests.cli.calling import ROOT, surroundings
from tests.wordings import has

pytestmark = pytest.mark.server


AS_WINDOWS: Final = ("pytest", "-q", "-n", "0", "-p", "tests.as_windows", "-p", "no:cacheprovider")
ONE_EACH: Final = ("--producers", "1", "--consumers", "1")


def run(*arguments: str, home: Path) -> subprocess.CompletedProcess[str]:
    """Run a module as on Windows, with a separate home folder."""
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=surroundings(HOME=str(home)),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def qmon(*arguments: str, home: Path) -> str:
    """Return a command's output. Fail with all of its output."""
    done = run("tests.as_windows", "qmon", *arguments, home=home)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_test_is_imported_commands_start_and_files_are_locked_renamed_and_rotated(tmp_path: Path) -> None:
    """Import all modules that Windows runs, and run these files' tests."""
    files = (
        *("test_starts.py", "test_serve_access.py", "test_recorder.py"),
        *("test_log.py", "test_notify_command.py", "test_metrics.py"),
    )
    done = run(*AS_WINDOWS, "-o", "timeout_method=thread", "-k", " or ".join(files), home=tmp_path)
    assert done.returncode == 0, done.stdout[-20_000:]


def test_a_queue_is_installed_loaded_recorded_and_shown_again(database: str, tmp_path: Path) -> None:
    qmon("design", "install", database, "naive", "--schema", "public", home=tmp_path)
    done = qmon("design", "load", database, "naive", *ONE_EACH, "--for", "1s", home=tmp_path)
    assert has(done, LoadResultText.RESULT, queue="naive")
    assert not has(done, LoadResultText.RESULT, pushed=0) and not has(done, LoadResultText.FAILED)
    assert ",naive,naive," in qmon("status", database, "--output", "csv", home=tmp_path).splitlines()[1]
    qmon("record", database, "--to", str(tmp_path / "kept"), "--every", "500ms", "--for", "1500ms", home=tmp_path)
    (sealed,) = list_segments(tmp_path / "kept")
    assert not sealed.name.startswith("_")
    assert "naive" in qmon("replay", str(tmp_path / "kept"), "--output", "json", home=tmp_path)
