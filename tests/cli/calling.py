"""Call qmon in this process or as a separate program, without the user's own configuration."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import typer.main
import typer.testing
from typer.testing import CliRunner, Result

from qmon.cli import app

ROOT: Final = Path(__file__).resolve().parents[2]

# Otherwise each call builds all commands and their options again, which takes two thirds of its time.
typer.testing._get_command = functools.cache(typer.main.get_command)  # type: ignore[attr-defined]


def call(*arguments: str, environment: Mapping[str, str] | None = None) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(app, list(arguments), env=dict(environment or {}))


def surroundings(**more: str) -> dict[str, str]:
    """Return the environment of a program: ours without colours, passwords and qmon's own variables."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("QMON_", "PG")) and name not in ("NO_COLOR", "FORCE_COLOR", "TERM")
    }
    return kept | {"PYTHONPATH": python_path(), "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"} | more


def python_path() -> str:
    """Return ``PYTHONPATH`` of programs that import this checkout, followed by this process's own."""
    return os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))


def program(*arguments: str) -> list[str]:
    """Return the command line of qmon as a separate program."""
    return [sys.executable, "-m", "qmon", *arguments]


def run(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run qmon as a separate program without a terminal, and wait for it."""
    return subprocess.run(
        program(*arguments),
        env=surroundings(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def recording(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Start ``qmon record`` and kill it at the end."""
    with subprocess.Popen(
        program("record", *arguments, "--to", str(folder)),
        env=surroundings(),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            yield child
        finally:
            child.kill()
