"""Each reason why a figure is unknown has its paragraph in the manual: those that the code can give are read there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).parents[2]
VERDICTS: Final = CHECKOUT / "docs" / "verdicts.md"
FILES: Final = [file for folder in ("monitor", "model") for file in (CHECKOUT / "qmon" / folder).rglob("*.py")]
# Where reasons are kept by the figure's name: `unknown["gap"] = …`.
KEPT: Final = frozenset({"unknown", "slow"})
# Expressions that give a reason which is not in the code, or was read where it is stored.
NOT_READ_OUT: Final = {
    "failed": "what the server said of a probe that failed",
    "failure.words": "the same, of a figure that stays as it was read last",
    "blind": "the same",
    "self.reason": "of an old figure that itself says since when it was not read",
    "reason": "why a queue is gone: the words of its failure",
    "q.elsewhere": "of a standby: one of the reasons that it stores itself",
    "self.slow['scheduled']": "stored under that name before",
    "self.unknown['gap']": "the same",
    "reasons[layout.queue]": "why a table cannot be watched: the words of its failure",
}

# What names stand for in one file; a function's results as `name()`.
Names = dict[str, list[ast.expr]]


@dataclass(frozen=True)
class Code:
    """One file."""

    path: str
    tree: ast.Module

    @property
    def functions(self) -> list[ast.FunctionDef]:
        """All of them, methods too."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.FunctionDef)]


@cache
def code() -> dict[str, Code]:
    """The files by their modules' names."""
    found = {}
    for file in FILES:
        path = file.relative_to(CHECKOUT)
        found[".".join(path.with_suffix("").parts)] = Code(str(path), ast.parse(file.read_text("utf-8")))
    return found


@cache
def results() -> Names:
    """What the functions of all files return, as ``name()``."""
    names: Names = {}
    for each in code().values():
        for function in each.functions:
            returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
            names.setdefault(f"{function.name}()", []).extend(returned)
    return names


@cache
def arguments() -> dict[str, list[ast.Call]]:
    """All calls by the name of what is called."""
    calls: dict[str, list[ast.Call]] = {}
    for each in code().values():
        for node in ast.walk(each.tree):
            if isinstance(node, ast.Call) and (name := called(node)):
                calls.setdefault(name, []).append(node)
    return calls


def called(node: ast.Call) -> str:
    """The last part of what is called."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def imported(tree: ast.Module) -> Names:
    """Constants of other modules."""
    names: Names = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module in code():
            theirs = assigned(code()[node.module].tree.body)
            names |= {a.asname or a.name: theirs[a.name] for a in node.names if a.name in theirs}
    return names


def assigned(nodes: Sequence[ast.AST]) -> Names:
    """The names that these statements give a value, also by going through a tuple of tuples."""
    names: Names = {}
    for node in nodes:
        for name, value in given(node):
            names.setdefault(name, []).append(value)
    return names


def given(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that a statement gives a value, with it."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target.id, value) for target in targets if isinstance(target, ast.Name))
            if isinstance(value, ast.Call) and isinstance(targets[0], ast.Tuple):
                for place, each in enumerate(targets[0].elts):
                    yield from ((each.id, part) for part in parts(value, place) if isinstance(each, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.For(target=ast.Tuple(elts=targets), iter=ast.Tuple(elts=rows)):
            for row in rows:
                pairs = zip(targets, row.elts if isinstance(row, ast.Tuple) else [], strict=False)
                yield from ((target.id, value) for target, value in pairs if isinstance(target, ast.Name))


def parts(call: ast.Call, place: int) -> Iterator[ast.expr]:
    """One part of the tuples that a function returns."""
    for value in results().get(f"{called(call)}()", []):
        if isinstance(value, ast.Tuple) and place < len(value.elts):
            yield value.elts[place]


def handed(function: ast.FunctionDef) -> Names:
    """What is handed to a function wherever it is called, by its parameters' names; and their defaults."""
    own = [each.arg for each in function.args.args]
    names: Names = {}
    for call in arguments().get(function.name, []):
        skip = 1 if own[:1] == ["self"] else 0
        for name, value in zip(own[skip:], call.args, strict=False):
            names.setdefault(name, []).append(value)
        for keyword in call.keywords:
            if keyword.arg is not None:
                names.setdefault(keyword.arg, []).append(keyword.value)
    return names


def said_by(node: ast.expr, names: Names) -> Iterator[str]:
    """Every text that an expression can give, with ``*`` for what is filled in; nothing where that is not in sight."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=values):
            yield from map("".join, product(*(list(filled(part, names)) or ["*"] for part in values)))
        case ast.IfExp(body=one, orelse=other):
            yield from any_of([one, other], names)
        case ast.BoolOp(values=values):
            yield from any_of(values, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            more = list(said_by(right, names)) or ["*"]
            yield from (one + other for one in said_by(left, names) for other in more)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="format")) if name in names:
            yield from (re.sub(r"\{\w*\}", "*", text) for text in any_of(names[name], names))
        case ast.Call(func=ast.Attribute(attr="get") | ast.Name(id="next"), args=[_, default]):
            yield from said_by(default, names)
        case ast.Name(id=name) if name in names:
            yield from any_of(names[name], {other: values for other, values in names.items() if other != name})
        case ast.Call() if (name := f"{called(node)}()") in names:
            yield from any_of(names[name], {other: values for other, values in names.items() if other != name})


def filled(part: ast.expr, names: Names) -> Iterator[str]:
    """What a part of a text can be; nothing where it is computed."""
    inner = part.value if isinstance(part, ast.FormattedValue) else part
    return iter(()) if isinstance(inner, ast.Call) else said_by(inner, names)


def any_of(nodes: Sequence[ast.expr], names: Names) -> Iterator[str]:
    """What each of them can give."""
    for node in nodes:
        yield from said_by(node, names)


def told_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions by which a node says why a figure is unknown."""
    match node:
        case ast.Call(func=ast.Attribute(attr="unknown")):
            yield from node.args[:1]
        case ast.Call(func=ast.Attribute(value=where, attr="setdefault")) if kept(where):
            yield from node.args[1:]
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                if isinstance(target, ast.Subscript) and kept(target.value):
                    yield value
                elif kept(target):
                    yield from values_of(value)
        case ast.AugAssign(target=target, value=value) if kept(target):
            yield from values_of(value)
        case ast.keyword(arg="unknown", value=value):
            yield from values_of(value)


def kept(node: ast.expr) -> bool:
    """Whether reasons are kept there."""
    return (isinstance(node, ast.Attribute) and node.attr in KEPT) or (isinstance(node, ast.Name) and node.id in KEPT)


def values_of(node: ast.expr) -> Iterator[ast.expr]:
    """The values of a dictionary."""
    match node:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                yield from [value] if key is not None else values_of(value)
        case ast.Call(func=ast.Attribute(attr="fromkeys"), args=[_, value]):
            yield value


def reasons() -> tuple[dict[str, str], dict[str, str]]:
    """Every reason that the code gives for an unknown figure; and the expressions of which none is in sight.

    Both with the file.
    """
    found: dict[str, str] = {}
    unseen: dict[str, str] = {}
    for each in code().values():
        shared = results() | imported(each.tree) | assigned(each.tree.body)
        for function in each.functions:
            nodes = list(ast.walk(function))
            names = shared | handed(function) | assigned(nodes)
            for told in (told for node in nodes for told in told_in(node)):
                texts = [text for text in said_by(told, names) if text]
                found |= dict.fromkeys(texts, each.path)
                if not texts:
                    unseen[ast.unparse(told)] = each.path
    return found, unseen


def test_every_reason_for_an_unknown_figure_has_its_paragraph() -> None:
    known = [part for line in re.findall(r"^#+ (.*)", VERDICTS.read_text("utf-8"), re.M) for part in line.split(" · ")]
    patterns = [part.replace("…", "*") for part in known]
    told, unseen = reasons()
    assert {"no message is ready", "the table has no id", "last read * ago"} <= told.keys()
    lost = {text: file for text, file in told.items() if not any(fnmatchcase(text, pattern) for pattern in patterns)}
    assert lost == {}
    assert {each: file for each, file in unseen.items() if each not in NOT_READ_OUT} == {}
