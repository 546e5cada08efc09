"""Oban on a Python its package refuses: it requires 3.12, because of the syntax of one line, and a compiler."""

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
    """Make oban importable in the block.

    The package that encodes results for Erlang exists only as C sources. No job here has a result.
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
