"""Names: no one-letter parameters, no function called ``of``, and no two modules of one name."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

import pytest

from tests.architecture.sources import CHECKOUT, modules

# Coordinates.
_LETTERS: Final = frozenset({"x", "y"})
# Prepositions, pronouns, adverbs and participles.
_BARE: Final = re.compile(
    "after|again|all|at|aged|before|below|between|beyond|both|by|changed|do|done|each|ended|for|found|from|given|gone|here"
    "|how|in|into|it|kept|known|left|least|made|more|moved|named|none|nothing|now|of|off|on|one|opened|other|others|out"
    "|over|own|past|quietly|same|seen|shown|since|so|some|such|taken|that|then|there|these|this|through|to|told|under"
    "|until|used|wanted|what|when|where|which|who|whose|why|with|within|without|words|yet"
)

# Module names that occur twice: a command and the module that it runs, or two applications.
_SHARED: Final = frozenset({"__init__", "__main__", "app", "replay"})


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    """Yield all functions and lambdas of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node


def unclear_names(tree: ast.Module) -> list[str]:
    """Return the names of a module that are too short or too vague."""
    found = []
    for function in functions(tree):
        arguments = function.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            # A lone underscore is a parameter that is not used.
            if len(each.arg.strip("_")) == 1 and each.arg not in _LETTERS:
                found.append(f"{each.arg} in line {function.lineno}")
        if not isinstance(function, ast.Lambda) and _BARE.fullmatch(function.name.removeprefix("_")):
            found.append(f"{function.name}()")
    return found


def test_names_say_what_they_name() -> None:
    found = {name: unclear_names(tree) for name, tree in modules(CHECKOUT / "qmon").items()}
    assert {name: unclear for name, unclear in found.items() if unclear} == {}


def test_module_names_are_unique() -> None:
    counts = Counter(path.stem for path in (CHECKOUT / "qmon").rglob("*.py"))
    assert {name for name, count in counts.items() if count > 1} <= _SHARED


@pytest.mark.parametrize(
    ("code", "unclear"),
    [
        ("def of(layout): ...", ["of()"]),
        ("class A:\n    def _named(self): ...", ["_named()"]),
        ("def read(s): ...", ["s in line 1"]),
        ("lambda q: q.name", ["q in line 1"]),
        ("def render_line(self, y): ...", []),
        ("lambda _: None", []),
    ],
)
def test_unclear_names_are_found(code: str, unclear: list[str]) -> None:
    assert unclear_names(ast.parse(code)) == unclear
