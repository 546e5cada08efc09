"""Runs the programs of PostgreSQL as the server's account."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qmon.demo.account import Account
from qmon.errors import BadInput
from qmon.redact import environment_without_secrets


@dataclass(frozen=True, slots=True)
class Programs:
    """An installation of PostgreSQL and the account that its server runs as.

    Started programs have their own session, so that they do not receive the terminal's signals. They do not inherit our
    open files.
    """

    bin_dir: Path
    account: Account

    def start_initdb(self, data: Path, superuser: str, options: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start initdb for a data folder. Its messages are on its standard output."""
        return self._start_program("initdb", ["-D", str(data), "-U", superuser, *options], subprocess.PIPE)

    def start_postgres(self, data: Path, mark: str, log: Path) -> subprocess.Popen[bytes]:
        """Start a server whose processes all have the mark on their command lines. Its messages go to the log."""
        with log.open("ab") as file:
            return self._start_program("postgres", ["-D", str(data), "-c", f"cluster_name={mark}"], file.fileno())

    def _start_program(self, program: str, arguments: Sequence[str], output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [str(self.bin_dir / program), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            cwd="/",
            env=_program_environment(),
            umask=0o077,
            **self.account.run_as,
        )

    def run_tool(self, program: str, arguments: Sequence[str]) -> None:
        """Run a client program as our account and wait for it. If it fails, raises ``BadInput`` with its message."""
        done = subprocess.run(
            [str(self.bin_dir / program), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=_program_environment(),
            cwd="/",
            check=False,
        )
        if done.returncode:
            raise BadInput(f"{program} failed: {last_lines(done.stderr)}")


def _program_environment() -> dict[str, str]:
    """Return our environment without libpq's variables, and without a locale that may not exist on this machine."""
    known = environment_without_secrets(os.environ)
    kept = {name: value for name, value in known.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return kept | {"LC_ALL": "C", "PGCLIENTENCODING": "UTF8"}


def append_settings(data: Path, settings: Mapping[str, str]) -> None:
    """Append settings to postgresql.conf. They override earlier settings."""
    with (data / "postgresql.conf").open("a", encoding="utf-8") as conf:
        for name, value in settings.items():
            quoted = value.replace("\\", "\\\\").replace("'", "''")
            conf.write(f"{name} = '{quoted}'\n")


def is_accepting_connections(data: Path, pid: int) -> bool:
    """Return true if the postmaster with this id has written in ``postmaster.pid`` that it is ready."""
    try:
        lines = (data / "postmaster.pid").read_text().splitlines()
    except OSError:
        return False
    return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"


def last_lines(output: bytes) -> str:
    """Return the last three lines of a program's output as one line."""
    lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-3:]) or "it printed no message"
