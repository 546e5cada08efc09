"""The catalog of libraries: the files of qmon and the files in the user's configuration folder."""

from __future__ import annotations

import importlib.resources
import tomllib
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path

import platformdirs

from qmon.errors import BadInput
from qmon.libraries.library import Library, library_from_dict
from qmon.model.texts import Text


class LibraryCatalogText(Text):
    """Why the file of a library cannot be used."""

    UNREADABLE = "{path}: cannot be read: {problem}"
    INVALID = "{path}: {problem}"


def own_folder() -> Path:
    """Return the folder of the user's own library files, which override qmon's files with the same name."""
    return platformdirs.user_config_path("qmon") / "libraries"


def all_libraries(folder: Path | None = None) -> tuple[Library, ...]:
    """Return all libraries, keyed by name and engine.

    ``folder``: the user's folder of libraries. Raises ``BadInput`` for an invalid file in this folder.
    """
    found = {(library.name, library.engine): library for library in built_in_libraries()}
    own = own_folder() if folder is None else folder
    for path in sorted(own.glob("*.toml")):
        library = _read_library(path, str(path), own=True)
        found[library.name, library.engine] = library
    return tuple(found[key] for key in sorted(found))


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
