"""Textual calls an ``on_`` handler for each class that defines it, so that a call by qmon would be one too many."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon import tui

_FILES = sorted(Path(tui.__file__).parent.rglob("*.py"))


def handlers_called(text: str) -> Iterator[str]:
    """Yield the handlers that a module calls on ``super()``."""
    for node in ast.walk(ast.parse(text)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if ast.unparse(node.func.value).startswith("super(") and node.func.attr.lstrip("_").startswith("on_"):
            yield node.func.attr


def test_no_handler_calls_that_of_its_base_class() -> None:
    assert {str(file): found for file in _FILES if (found := [*handlers_called(file.read_text("utf-8"))])} == {}


@pytest.mark.parametrize("handler", ["on_mount", "_on_key"])
def test_such_a_call_is_found(handler: str) -> None:
    assert [*handlers_called(f"class A:\n    def {handler}(self):\n        super().{handler}()")] == [handler]
