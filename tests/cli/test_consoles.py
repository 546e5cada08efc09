"""Consoles with few characters: no command fails because of a missing one, and machine-readable output is complete."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.calling import program, surroundings


def run(encoding: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program whose standard streams have this encoding."""
    environment = surroundings(PYTHONIOENCODING=encoding)
    return subprocess.run(command, env=environment, capture_output=True, encoding=encoding, timeout=120, check=False)


@pytest.mark.parametrize("encoding", ["cp437", "latin-1", "ascii"])
def test_signs_have_a_fallback(encoding: str) -> None:
    manual = run(encoding, *program("help", "screens"))
    assert manual.returncode == 0, manual.stderr
    signs = "△▽◌"
    assert all(sign in run("utf-8", *program("help", "screens")).stdout for sign in signs)
    assert not any(sign in manual.stdout for sign in signs)
    assert "\\u" not in manual.stdout


def test_other_characters_are_shown_by_their_numbers() -> None:
    done = run("ascii", *program("help", "ку…"))
    assert done.returncode == 2
    assert "\\u043a\\u0443..." in done.stderr


def test_json_says_the_same_in_any_encoding() -> None:
    script = "from qmon.cli.output import print_report; print_report('json', {'name': 'ку…'}, dict)"
    for encoding in ("utf-8", "cp437"):
        assert json.loads(run(encoding, sys.executable, "-c", script).stdout) == {"name": "ку…"}
