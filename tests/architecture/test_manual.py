"""The README is short, links of the manual lead somewhere, and each verdict and reason has its paragraph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import product
from pathlib import Path

import pytest

from qmon.engines.postgres.engine import MIN_MAJOR
from qmon.model.broker import DISABLED, NOT_ACTIVATED, NOT_SENT
from qmon.model.verdicts import CANNOT_TELL, EMPTY, HEALTHY, RULES
from qmon.model.verdicts.access import UNREACHABLE

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
PAGES = sorted([CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", CHECKOUT / "SECURITY.md", *DOCS.glob("*.md")])
MOST_LINES = 150

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
MODULE = re.compile(r"`(qmon(?:\.[a-z_]+)+)`")
PATH = re.compile(r"`((?:qmon|sql|tests|docs|screenshots|\.ci|\.github)/[\w./-]*[\w/])`")


def without_code(text: str) -> str:
    """The page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def headings(page: Path) -> list[str]:
    """The headings of a page."""
    return re.findall(r"^#+ (.*)", without_code(page.read_text("utf-8")), re.M)


def anchor(heading: str) -> str:
    """What a heading is called in a link, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_readme_is_short() -> None:
    assert len((CHECKOUT / "README.md").read_text("utf-8").splitlines()) <= MOST_LINES


def test_the_oldest_version_is_the_one_that_is_asked_for() -> None:
    assert f"PostgreSQL {MIN_MAJOR} to" in (CHECKOUT / "README.md").read_text("utf-8")
    assert f"Versions {MIN_MAJOR} to" in (DOCS / "connecting.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_leads_to_something(page: Path) -> None:
    lost = []
    for link in LINK.findall(without_code(page.read_text("utf-8"))):
        if "://" in link:
            continue
        name, _, place = link.partition("#")
        file = page.parent / name if name else page
        if not file.is_file() or (place and place not in map(anchor, headings(file))):
            lost.append(link)
    assert lost == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_module_and_path_that_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    packages = {path.stem for path in (CHECKOUT / "qmon").iterdir()}  # qmon.toml, and qmon.operations in a database
    modules = {
        name: CHECKOUT / name.replace(".", "/") for name in MODULE.findall(text) if name.split(".")[1] in packages
    }
    lost = [name for name, path in modules.items() if not (path.is_dir() or path.with_suffix(".py").is_file())]
    assert lost + [name for name in PATH.findall(text) if not (CHECKOUT / name).exists()] == []


def test_the_readme_leads_to_every_page() -> None:
    linked = LINK.findall((CHECKOUT / "README.md").read_text("utf-8"))
    assert {f"docs/{page.name}" for page in DOCS.glob("*.md")} <= set(linked)


WITHOUT_RULE = {CANNOT_TELL, EMPTY, HEALTHY, UNREACHABLE}


def test_every_verdict_has_its_paragraph() -> None:
    codes = {rule.code for rule in RULES} | WITHOUT_RULE | {DISABLED, NOT_ACTIVATED, NOT_SENT}
    assert codes <= set(headings(DOCS / "verdicts.md"))


def test_the_table_of_verdicts_is_that_of_the_rules() -> None:
    text = (DOCS / "verdicts.md").read_text("utf-8")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:3] == "| ["]
    rows = {code: rest for first, *rest in lines for code in re.findall(r"\[`([^`]+)`\]", first)}
    rules = {r.code: [r.severity.name.lower(), f"{r.hold_s:g}", f"`{r.key}`" if r.key else ""] for r in RULES}
    assert {code: [row[0], row[1], row[3]] for code, row in rows.items() if code in rules} == rules
    assert rows.keys() - rules.keys() == WITHOUT_RULE


# ------------------------------------------------------------------------------ why a figure is unknown


Names = dict[str, list[ast.expr]]
"""What names stand for in one file."""


def said_by(node: ast.expr, names: Names) -> Iterator[str]:
    """Every text that an expression can give, with ``*`` for what is filled in; nothing where that is not in sight."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            each = [part.value if isinstance(part, ast.FormattedValue) else part for part in parts]
            yield from map("".join, product(*(list(said_by(part, names)) or ["*"] for part in each)))
        case ast.IfExp(body=one, orelse=other):
            yield from any_of([one, other], names)
        case ast.BoolOp(values=values):
            yield from any_of(values, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            more = list(said_by(right, names)) or ["*"]
            yield from (one + other for one in said_by(left, names) for other in more)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="format")) if name in names:
            yield from (re.sub(r"\{\w*\}", "*", text) for text in any_of(names[name], names))
        case ast.Call(func=ast.Attribute(attr="get"), args=[_, default]):
            yield from said_by(default, names)
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)) if called(node, name) in names:
            name = called(node, name)
            yield from any_of(names[name], {other: values for other, values in names.items() if other != name})


def any_of(nodes: Sequence[ast.expr], names: Names) -> Iterator[str]:
    """What each of them can give."""
    for node in nodes:
        yield from said_by(node, names)


def called(node: ast.expr, name: str) -> str:
    """How what a function returns is kept among the names."""
    return f"{name}()" if isinstance(node, ast.Call) else name


def reasons() -> dict[str, str]:
    """Every reason that the code gives for an unknown figure, with the file that gives it."""
    found: dict[str, str] = {}
    for folder in ("monitor", "model"):
        for file in (CHECKOUT / "qmon" / folder).rglob("*.py"):
            tree = ast.parse(file.read_text("utf-8"))
            functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
            shared = assigned(tree.body)
            for function in functions:
                returned = [node.value for node in ast.walk(function) if isinstance(node, ast.Return) and node.value]
                shared.setdefault(f"{function.name}()", []).extend(returned)
            for function in functions:
                nodes = list(ast.walk(function))
                names = shared | assigned(nodes)
                for told in (told for node in nodes for told in told_in(node)):
                    found |= {text: str(file.relative_to(CHECKOUT)) for text in said_by(told, names) if text}
    return found


def assigned(nodes: Sequence[ast.AST]) -> Names:
    """The names that these statements give a value, also by going through a tuple of tuples."""
    names: Names = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    if isinstance(target, ast.Name):
                        names.setdefault(target.id, []).append(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                names.setdefault(name, []).append(value)
            case ast.For(target=ast.Tuple(elts=targets), iter=ast.Tuple(elts=rows)):
                for row in rows:
                    for target, value in zip(targets, row.elts if isinstance(row, ast.Tuple) else [], strict=False):
                        if isinstance(target, ast.Name):
                            names.setdefault(target.id, []).append(value)
    return names


def told_in(node: ast.AST) -> Iterator[ast.expr]:
    """The expressions by which a node says why a figure is unknown."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "unknown":
        yield from node.args[:1]
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(".unknown.setdefault"):
        yield from node.args[1:]
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Attribute | ast.Name):
                name = target.value.attr if isinstance(target.value, ast.Attribute) else target.value.id
                if name in ("unknown", "slow"):
                    yield node.value


def test_every_reason_for_an_unknown_figure_has_its_paragraph() -> None:
    known = [part for heading in headings(DOCS / "verdicts.md") for part in heading.split(" · ")]
    patterns = [part.replace("…", "*") for part in known]
    told = reasons()
    assert {"no message is ready", "the table has no id", "last read * ago"} <= told.keys()
    lost = {text: file for text, file in told.items() if not any(fnmatchcase(text, pattern) for pattern in patterns)}
    assert lost == {}
