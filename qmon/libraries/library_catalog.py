"""The catalog of libraries: the files of qmon, and the user's files next to a configuration file."""

from __future__ import annotations

import importlib.resources
import tomllib
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

import platformdirs

from qmon.errors import BadInput
from qmon.libraries.library import Library, library_from_dict
from qmon.texts import Text


class LibraryCatalogText(Text):
    """Why the file of a library cannot be used."""

    UNREADABLE = "{path}: cannot be read: {problem}"
    INVALID = "{path}: {problem}"


_FOLDER: Final = "libraries"

# The folders of the configuration files that this process has read.
_config_folders: dict[Path, None] = {}


def add_config_folder(folder: Path) -> None:
    """Also use the library files in the folder ``libraries`` next to a configuration file in this folder."""
    _config_folders.setdefault(folder / _FOLDER)


def own_folders() -> tuple[Path, ...]:
    """Return the folders with the user's own library files. Files in later folders override files in earlier ones."""
    return (platformdirs.user_config_path("qmon") / _FOLDER, *_config_folders)


def all_libraries(folder: Path | None = None) -> tuple[Library, ...]:
    """Return all libraries, sorted by name and engine.

    ``folder``: the only folder of the user's libraries; default: ``own_folders``. A library in such a folder replaces
    all versions of qmon's library with the same name and engine. Raises ``BadInput`` for an invalid file.
    """
    paths = [path for each in ((folder,) if folder else own_folders()) for path in sorted(each.glob("*.toml"))]
    own = [_read_library(path, str(path), own=True) for path in dict.fromkeys(paths)]
    replaced = {(library.name, library.engine) for library in own}
    kept = [library for library in built_in_libraries() if (library.name, library.engine) not in replaced]
    by_title = {(library.name, library.engine, library.version): library for library in (*kept, *own)}
    return tuple(by_title[key] for key in sorted(by_title))


@cache
def built_in_libraries() -> tuple[Library, ...]:
    """Return the libraries that come with qmon."""
    files = importlib.resources.files("qmon.libraries").iterdir()
    return tuple(_read_library(file, f"libraries/{file.name}") for file in files if file.name.endswith(".toml"))


def _read_library(file: Traversable | Path, where: str, *, own: bool = False) -> Library:
    try:
        raw = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeError) as problem:
        raise BadInput(LibraryCatalogText.UNREADABLE.render(path=where, problem=problem)) from None
    except (ValueError, RecursionError) as problem:
        raise BadInput(LibraryCatalogText.INVALID.render(path=where, problem=problem)) from None
    return library_from_dict(raw, where, own=own)
