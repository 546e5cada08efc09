"""The tables of ``sql/README.md``: no probe, no view of SQL Server and no name that a probe uses is missing there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from qmon.engines.base import EngineName
from qmon.engines.sql import queries
from qmon.model.queue_figures import QUEUE_FIGURES
from tests import share

README: Final = Path(__file__).parents[2] / "sql" / "README.md"
NAMES: Final = README.read_text("utf-8").partition("## The names that probes may use")[2].partition("\n## ")[0]
TABLE: Final = README.read_text("utf-8").partition("## What each figure is read from")[2]
ROWS: Final = [line for line in TABLE.splitlines() if line.startswith("| ")]
# They are sources of texts and reports, and have no figures.
HELPERS: Final = frozenset({"sys.dm_exec_connections", "sys.dm_xe_sessions"})


def named(name: str) -> bool:
    """Return whether the table names a probe, by its name or its beginning (``head*``)."""
    said = re.findall(r"`([\w*]+)`", TABLE)
    return any(name == each or (each.endswith("*") and name.startswith(each[:-1])) for each in said)


@pytest.mark.parametrize("engine", ["postgres", "sqlserver"])
def test_each_probe_is_named(engine: EngineName) -> None:
    probes = {f.name.removeprefix("probe/") for f in queries.all_files() if f.engine == engine and f.kind == "probe"}
    assert {probe for probe in probes if not named(probe)} == set()


def test_each_view_of_a_probe_on_sql_server_is_named() -> None:
    files = [f for f in queries.all_files() if f.engine == "sqlserver" and f.kind == "probe"]
    read = {
        view
        for f in files
        for view in re.findall(r"\b(?:FROM|JOIN) (sys\.dm_\w+)", re.sub(r"--[^\n]*", "", f.file.read_text("utf-8")))
    }
    assert len(read) >= 15
    assert {view for view in read - HELPERS if view not in TABLE} == set()


def test_each_figure_of_a_queue_is_named() -> None:
    named = {name.strip() for row in ROWS for name in row.split("|")[1].split(",")}
    assert {figure.screen_name for figure in QUEUE_FIGURES} - named == set()


def test_figures_that_a_probe_reads_directly_have_the_rows_of_their_files() -> None:
    assert README.read_text("utf-8") == share.sql_readme(), "run make share to write them"


def test_each_figure_has_both_engines_or_says_that_one_has_none() -> None:
    for row in ROWS:
        cells = [cell.strip() for cell in row.strip("|").replace("\\|", "").split("|")]
        assert len(cells) == 3, row
        assert all(cells), row


def test_each_name_that_probes_use_is_explained_and_no_other() -> None:
    text = "".join(f.file.read_text("utf-8") for f in queries.all_files() if f.kind == "probe")
    used = set(re.findall(r"^-- \{(\w+)", text, re.M))
    told = set(re.findall(r"\{(\w+)", NAMES))
    assert {"table", "head_index", "unread"} <= used
    assert told == used
