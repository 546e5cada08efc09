"""The checkout, and the syntax trees of the modules in it."""

from __future__ import annotations

import ast
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]


def modules(root: Path) -> dict[str, ast.Module]:
    """Return the syntax tree of every module of the package at ``root``, by dotted name."""
    return {
        ".".join(file.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            file.read_text(encoding="utf-8")
        )
        for file in root.rglob("*.py")
    }
