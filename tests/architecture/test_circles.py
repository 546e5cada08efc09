"""No module needs itself: neither as it is imported nor through the names that only the type checker needs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.architecture.test_imports import CHECKOUT


def modules(root: Path) -> dict[str, ast.Module]:
    """Every module of the package at ``root`` by its dotted name."""
    return {
        ".".join(file.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__"): ast.parse(
            file.read_text(encoding="utf-8")
        )
        for file in root.rglob("*.py")
    }


def imported(body: list[ast.stmt]) -> Iterator[tuple[str, ...]]:
    """What is imported at module level, in branches too: each the names that it may have, the longest first."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from ((alias.name,) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((f"{node.module}.{alias.name}", node.module) for alias in node.names)
        elif isinstance(node, ast.If | ast.Try):
            yield from imported([*node.body, *node.orelse])


def needs(found: Mapping[str, ast.Module]) -> dict[str, set[str]]:
    """By module, the modules of the same package that it needs."""
    return {
        name: {
            next(each for each in names if each in found) for names in imported(tree.body) if found.keys() & set(names)
        }
        for name, tree in found.items()
    }


def circle(root: Path) -> list[str]:
    """The modules of a circle of imports, empty where there is none."""
    try:
        TopologicalSorter(needs(modules(root))).prepare()
    except CycleError as problem:
        return list(problem.args[1])
    return []


def test_no_module_needs_itself() -> None:
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
def test_a_circle_is_found(tmp_path: Path, back: str, found: bool) -> None:
    package = tmp_path / "qmon"
    package.mkdir()
    for name, text in {"__init__": "", "a": "import qmon.b", "b": "from qmon import c", "c": back}.items():
        (package / f"{name}.py").write_text(text)
    assert set(circle(package)) == ({"qmon.a", "qmon.b", "qmon.c"} if found else set())
