"""The text that qmon prints and sends to SQL Server, and that contract tests send, is T-SQL according to a parser.

All of it is parsed at once, because the parser takes longer to start than to parse.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import astuple, replace
from pathlib import Path
from typing import Final

import pytest

from tests import manual
from tests.contract import anywhere_sql as sql
from tests.contract import anywhere_tables as tables
from tests.contract.anywhere import WORDS
from tests.contract.anywhere_crowd import KILL, LEDGER, SESSIONS
from tests.contract.anywhere_server import FORMS, WAYS, named
from tests.unit.sent_tsql import (
    asked_of_libraries,
    columns_of_every_type,
    listed_probes,
    printed_designs,
    printed_setups,
)
from tests.workload.benching import sent_by_a_bench
from tests.workload.loading import sent_by_a_load

# A program that parses T-SQL files and exits with 0 if they have no errors; `.ci/run` sets it if it is installed.
PARSER: Final = os.environ.get("QMON_TSQL_CHECK", "")
BROKEN: Final = "CREATE PROCEDURE x SELECT 1"


def sent_by_the_contract() -> list[str]:
    """Return the statements that tests contain as they are sent, or nearly so."""
    texts = [named(text, "qmon_test_1", "x") for text in astuple(replace(WAYS["sqlserver"], alter=""))]
    made = (*LEDGER, tables.JOBS, *sql.WRITERS["sqlserver"], *tables.TABLES, *tables.ROWS, *sql.SECRETS)
    made += (sql.PLAIN, sql.DELETE_FIRST, sql.LOCK_NEXT["sqlserver"], *sql.MASKS, *sql.PARTITIONED)
    texts += [text.format(**WORDS["sqlserver"]) for text in made]
    texts += [*sql.BROKER, sql.WORDS_OF_XML, sql.UNQUOTED]
    texts += [
        named(WAYS["sqlserver"].alter, "qmon_test_1", option) for form in FORMS.values() for option in form.options
    ]
    texts += [text.format("x", "dbo") for text in (*sql.MAY_SELECT["sqlserver"], *sql.MAY_SEE_STATE["sqlserver"])]
    texts += [text.format(**WORDS["sqlserver"]) for text in (*sql.JOBS_WITH_OWNERS, sql.MASK)]
    texts += [SESSIONS["sqlserver"].format(name="consumer1"), KILL["sqlserver"].format(session=51)]
    texts += sql.KEPT_OUT["sqlserver"]
    texts += [text.format("x") for text in sql.WORKERS["sqlserver"]]
    texts += [text.format(table=1, status=2, trash=3) for text in sql.MISUSED]
    texts = [text for text in texts if text not in ("master", "dbo", "")]
    assert len(texts) > 60
    return texts


def shown_in_the_manual() -> list[str]:
    """The scripts for a DBA on the pages about SQL Server."""
    rights = manual.page("rights")
    texts = manual.snippets(manual.page("quickstart-sql-server"), "sql")
    texts += [
        each
        for part in ("watch", "act")
        for each in manual.snippets(manual.section(rights, f"SQL Server: {part}"), "sql")
    ]
    assert len(texts) > 3
    return texts


SOURCES: Final[tuple[Callable[[], list[str]], ...]] = (
    printed_designs,
    printed_setups,
    listed_probes,
    columns_of_every_type,
    asked_of_libraries,
    sent_by_a_load,
    sent_by_a_bench,
    sent_by_the_contract,
    shown_in_the_manual,
)


def joined(sources: tuple[Callable[[], list[str]], ...]) -> str:
    """Return all texts as batches; a line above each source's texts names it."""
    return "\nGO\n".join("\nGO\n".join((f"-- source: {source.__name__}", *source())) for source in sources)


def errors(text: str, place: Path) -> list[str]:
    """Return the parser's errors for a text: source, line and message of each."""
    place.write_text(text, encoding="utf-8")
    done = subprocess.run([PARSER, place], capture_output=True, text=True, check=False)
    lines, found = text.split("\n"), []
    for number, message in re.findall(rf"^\S*{place.name}:(\d+):\d+: (.*)$", done.stdout, re.MULTILINE):
        above = lines[: int(number)]
        source = next((line for line in reversed(above) if line.startswith("-- source: ")), "")
        found.append(f"{source}: {above[-1].strip()}: {message}")
    assert done.returncode == (1 if found else 0), done.stdout + done.stderr
    return found


@pytest.mark.skipif(not PARSER, reason="QMON_TSQL_CHECK names no parser")
def test_the_parser_takes_everything_that_is_sent_or_printed(tmp_path: Path) -> None:
    found = errors(joined(SOURCES), tmp_path / "all.sql")
    assert not found, "\n".join(found)


@pytest.mark.skipif(not PARSER, reason="QMON_TSQL_CHECK names no parser")
def test_one_that_is_broken_is_found_among_others(tmp_path: Path) -> None:
    def broken() -> list[str]:
        return ["SELECT 1", BROKEN]

    found = errors(joined((broken, columns_of_every_type)), tmp_path / "some.sql")
    assert found
    assert found[0].startswith(f"-- source: broken: {BROKEN}: ")
