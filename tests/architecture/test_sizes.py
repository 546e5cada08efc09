"""Functions stay short enough to be read in one go."""

from __future__ import annotations

import ast
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
LONGEST_FUNCTION = 80
SOURCES = sorted((CHECKOUT / "qmon").rglob("*.py"))


def test_no_function_is_too_long() -> None:
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
                length = node.end_lineno - node.lineno + 1
                if length > LONGEST_FUNCTION:
                    found.append(f"{path.relative_to(CHECKOUT)}:{node.lineno} {node.name}: {length} lines")
    assert found == []
