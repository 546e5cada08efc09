"""Oban on a Python that its package refuses: it asks for 3.12, whose syntax one line of it has, and for a compiler."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Final

_LINE: Final = b"type Result[T] = "
_BEFORE_3_12: Final = b"import typing; T = typing.TypeVar('T'); Result = "


@contextmanager
def oban_importable() -> Iterator[None]:
    """Where oban can be imported.

    What it packs results in for Erlang comes as C sources alone; no job here has a result.
    """
    sys.modules.setdefault("erlpack", ModuleType("erlpack"))
    if sys.version_info >= (3, 12):
        yield
        return
    read = SourceFileLoader.get_data

    def translated(self: SourceFileLoader, path: str) -> bytes:
        data = read(self, path)
        return data.replace(_LINE, _BEFORE_3_12) if path.endswith("/oban/job.py") else data

    SourceFileLoader.get_data = translated  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        SourceFileLoader.get_data = read  # type: ignore[method-assign]
