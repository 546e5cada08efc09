"""Install hints never name the package index's `qmon`, which is a different program."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tests.architecture.installing import EXTRA, strangers

CHECKOUT = Path(__file__).parents[2]
SAYING = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "Containerfile", "Makefile", "constraints.txt")
FOLDERS = ("qmon", "sql", "docs", ".ci", ".github")


def said() -> dict[str, str]:
    """Return every text for users, by its path."""
    files = [CHECKOUT / name for name in SAYING]
    for folder in FOLDERS:
        files += (CHECKOUT / folder).rglob("*")
    texts = {}
    for path in files:
        if path.is_file() and "__pycache__" not in path.parts:
            texts[path.relative_to(CHECKOUT).as_posix()] = path.read_text(errors="replace")
    return texts


@pytest.mark.parametrize(
    "line",
    [
        "pip install qmon",
        "    pip install 'qmon[sqlserver]'    # with the driver",
        "env/bin/pip install qmon 'pyarrow>=18'",
        "pip3 install --user -U qmon-sql",
        "uv tool install qmon",
        "uvx qmon connect",
        "pipx run qmon",
        "no PostgreSQL to run: install qmon[demo]",
        "needs Spark: qmon[pipeline]",
        "the folder is missing; install qmon again",
    ],
)
def test_the_search_finds_every_form_of_the_command(line: str) -> None:
    assert strangers(line) == [line.strip()]


@pytest.mark.parametrize(
    "line",
    [
        "pipx install .",
        "pipx uninstall qmon-sql",
        "pip install '.[demo]'",
        "pip install ./qmon_sql-0.1.0-py3-none-any.whl",
        "qmon design install shop ring",
    ],
)
def test_the_search_accepts_our_own_commands(line: str) -> None:
    assert strangers(line) == []


def test_no_text_installs_the_qmon_of_the_index() -> None:
    texts = said()
    assert {"README.md", "qmon/engines/sqlserver/sqlserver_engine.py", "sql/README.md"} <= texts.keys()
    assert {path: lines for path, text in texts.items() if (lines := strangers(text))} == {}


def test_every_extra_in_a_hint_exists() -> None:
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {name for text in said().values() for found in EXTRA.findall(text) for name in found.split(",")}
    assert {"demo", "pipeline", "sqlserver"} <= named <= extras.keys()
