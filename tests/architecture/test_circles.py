"""Modules import each other without cycles, including imports for the type checker only."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.architecture.sources import CHECKOUT, modules


def imported(body: list[ast.stmt]) -> Iterator[tuple[str, ...]]:
    """Yield the imports at module level, in branches too: the possible module names of each, the longest first."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node.module) for alias in node.names)
        elif isinstance(node, ast.If | ast.Try):
            yield from imported([*node.body, *node.orelse])


def needs(found: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """Return for each module the modules of the same package that it imports."""
    return {
        name: {
            next(each for each in names if each in found) for names in imported(tree.body) if found.keys() & set(names)
        }
        for name, tree in found.items()
    }


def circle(root: Path) -> list[str]:
    """Return the modules of an import cycle, or an empty list."""
    try:
        TopologicalSorter(needs(modules(root))).prepare()
    except CycleError as problem:
        return list(problem.args[1])
    return []


def test_imports_have_no_cycle() -> None:
    assert circle(CHECKOUT / "qmon") == []


@pytest.mark.parametrize(
    ("back", "found"),
    [
        ("from qmon.a import first", True),
        ("from qmon import a", True),
        ("if TYPE_CHECKING:\n    import qmon.a", True),
        ("def late():\n    import qmon.a", False),
    ],
)
def test_an_import_cycle_is_found(tmp_path: Path, back: str, found: bool) -> None:
    package = tmp_path / "qmon"
    package.mkdir()
    for name, text in {"__init__": "", "a": "import qmon.b", "b": "from qmon import c", "c": back}.items():
        (package / f"{name}.py").write_text(text)
    assert set(circle(package)) == ({"qmon.a", "qmon.b", "qmon.c"} if found else set())
