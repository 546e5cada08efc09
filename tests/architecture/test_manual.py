"""The README is short, links and names in the manual exist, and each verdict has a section."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

from qmon.engines.postgres.postgres_engine import MIN_MAJOR
from qmon.model.figure import Severity
from qmon.model.service_broker import DISABLED, LEAK, NOT_ACTIVATED, NOT_SENT
from qmon.model.verdicts import CANNOT_TELL, EMPTY, HEALTHY, RULES
from qmon.model.verdicts.access_verdicts import UNREACHABLE

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
PAGES = sorted([CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", CHECKOUT / "SECURITY.md", *DOCS.glob("*.md")])
REFERENCES = [CHECKOUT / "sql" / "README.md", CHECKOUT / "qmon" / "recording" / "FORMAT.md"]
MOST_LINES = 150

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
MODULE = re.compile(r"`(qmon(?:\.[a-z_]+)+)`")
DEFINED_IN = re.compile(r"`(\w+)` in `(qmon/[\w/]+)\.py`")
PATH = re.compile(r"`((?:qmon|sql|tests|docs|screenshots|\.ci|\.github)/[\w./-]*[\w/])`")


def without_code(text: str) -> str:
    """Return the page without its code blocks."""
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def headings(page: Path) -> list[str]:
    """Return the headings of a page."""
    return re.findall(r"^#+ (.*)", without_code(page.read_text("utf-8")), re.M)


def anchor(heading: str) -> str:
    """Return the link target that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_readme_is_short() -> None:
    assert len((CHECKOUT / "README.md").read_text("utf-8").splitlines()) <= MOST_LINES


def test_the_manual_names_the_oldest_supported_version() -> None:
    assert f"PostgreSQL {MIN_MAJOR} to" in (CHECKOUT / "README.md").read_text("utf-8")
    assert f"Versions {MIN_MAJOR} to" in (DOCS / "connecting.md").read_text("utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_relative_link_exists(page: Path) -> None:
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
def test_every_module_and_path_in_a_page_exists(page: Path) -> None:
    text = page.read_text("utf-8")
    packages = {path.stem for path in (CHECKOUT / "qmon").iterdir()}  # qmon.toml, and qmon.operations in a database
    modules = {
        name: CHECKOUT / name.replace(".", "/") for name in MODULE.findall(text) if name.split(".")[1] in packages
    }
    lost = [name for name, path in modules.items() if not (path.is_dir() or path.with_suffix(".py").is_file())]
    assert lost + [name for name in PATH.findall(text) if not (CHECKOUT / name).exists()] == []


@pytest.mark.parametrize("page", (*PAGES, *REFERENCES), ids=lambda page: page.name)
def test_every_class_is_defined_in_the_module_that_the_page_names(page: Path) -> None:
    said = [(name, path.replace("/", ".")) for name, path in DEFINED_IN.findall(page.read_text("utf-8"))]
    modules = {(name, module): getattr(import_module(module), name).__module__ for name, module in said}
    assert {each: where for each, where in modules.items() if where != each[1]} == {}


def test_the_readme_links_to_the_index_and_the_index_lists_every_page_once() -> None:
    assert "docs/index.md" in LINK.findall((CHECKOUT / "README.md").read_text("utf-8"))
    listed = re.findall(r"^\d+\. \[[^\]]+\]\(([^)]+)\): ", (DOCS / "index.md").read_text("utf-8"), re.M)
    assert sorted([*listed, "index.md"]) == sorted(page.name for page in DOCS.glob("*.md"))


WITHOUT_RULE = {CANNOT_TELL, EMPTY, HEALTHY, UNREACHABLE}


def test_every_verdict_has_a_section() -> None:
    codes = {rule.code for rule in RULES} | WITHOUT_RULE | {DISABLED, LEAK, NOT_ACTIVATED, NOT_SENT}
    assert codes <= set(headings(DOCS / "verdicts.md"))


def test_the_runbook_has_every_critical_verdict_and_no_unknown_one() -> None:
    rows = [line.split("|") for line in (DOCS / "runbook.md").read_text("utf-8").splitlines() if line[:2] == "| "]
    named = {code for row in rows for code in re.findall(r"`([a-z ]+)`", row[2])}
    critical = {rule.code for rule in RULES if rule.severity is Severity.CRITICAL}
    assert critical | {UNREACHABLE, CANNOT_TELL} <= named <= {rule.code for rule in RULES} | WITHOUT_RULE


def test_the_table_of_verdicts_matches_the_rules() -> None:
    text = (DOCS / "verdicts.md").read_text("utf-8")
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:3] == "| ["]
    rows = {code: rest for first, *rest in lines for code in re.findall(r"\[`([^`]+)`\]", first)}
    rules = {r.code: [r.severity.name.lower(), f"{r.hold_s:g}"] for r in RULES}
    assert {code: row[:2] for code, row in rows.items() if code in rules} == rules
    keys = {r.code: " ".join(f"`{key}`" for key in r.keys if " " not in key) for r in RULES if r.keys}
    keys[CANNOT_TELL] = "`n`"
    assert {code: row[3] for code, row in rows.items() if row[3]} == keys
    assert rows.keys() - rules.keys() == WITHOUT_RULE
