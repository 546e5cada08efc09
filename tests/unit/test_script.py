"""The printed SQL for SQL Server: batches, names, and a check with Microsoft's parser if it is installed."""

from __future__ import annotations

import re
from typing import Final

import pytest

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sql import queries
from qmon.errors import BadInput
from qmon.model.layout.layout_io import layout_to_json
from qmon.operate.install import control_setup
from qmon.operate.install.control_setup import RoleText
from qmon.operate.install.install_queue import REGISTER_FILE, prepare_install
from qmon.operate.install.install_script import SCRIPT_HEADERS, install_script, newest_file_version
from tests.unit.sent_tsql import DESIGNS, ENGINE, HOSTILE, design_script, printed_designs, printed_setups, setup_script
from tests.wordings import pattern

VERSIONS: Final = (11, 12, 13, newest_file_version("sqlserver"), 17)


def batches(text: str) -> list[str]:
    return [each.strip() for each in re.split(r"^GO$", text, flags=re.MULTILINE)]


@pytest.mark.parametrize("major", VERSIONS)
@pytest.mark.parametrize("design", DESIGNS)
def test_each_file_is_a_batch_between_guards_in_one_transaction(design: str, major: int) -> None:
    first, begin, *middle, commit, off, end = batches(design_script(design, major))
    settings = [line for line in first.split("\n") if line and not line.startswith("--")]
    assert settings[:2] == ["SET QUOTED_IDENTIFIER ON;", "SET ANSI_NULLS ON;"]
    assert "SET XACT_ABORT ON;" in settings
    assert (begin, commit, off, end) == ("BEGIN TRANSACTION;", "COMMIT TRANSACTION;", "SET NOEXEC OFF;", "")
    files, guards = middle[::2], middle[1::2]
    assert set(guards) == {"IF @@TRANCOUNT = 0 SET NOEXEC ON;"}
    assert len(files) == len(guards) == len(queries.design_files("sqlserver", design, (major, 0))) + 3
    for text in files:
        # A statement that must be alone in its batch is preceded by comments only.
        code = "\n".join(line for line in text.split("\n") if not line.startswith("--"))
        assert code.startswith("CREATE PROCEDURE") or "CREATE PROCEDURE" not in code
    assert ("ISJSON" in design_script(design, major)) == (major >= 13)


@pytest.mark.parametrize("major", VERSIONS)
def test_a_quote_in_the_registered_layout_stays_in_its_literal(major: int) -> None:
    ready = prepare_install(ENGINE, (major, 0), "ring", schema="dbo", queue="it's", ring_size=64)
    record = batches(install_script(ENGINE, (major, 0), ready))[-5]
    assert f"N'{layout_to_json(ready.layout)}'".replace("it's", "it''s") in record
    assert "?" not in record and ":layout" not in record


def test_what_tells_tables_apart_in_the_registry_is_in_every_layout() -> None:
    assert '"table": ' in queries.load_query("sqlserver", REGISTER_FILE, (11, 0)).text
    for design in DESIGNS:
        for queue in (*HOSTILE, 'x", "design": "y', 'x", '):
            layout = prepare_install(ENGINE, (11, 0), design, schema="dbo", queue=queue).layout
            text = layout_to_json(layout)
            begin, end = text.index('"table": '), text.index(', "design": ')
            assert text[begin:end].startswith('"table": "') and text[begin:end].endswith('"')
            assert text.count('"table": ') == text.count(', "design": ') == 1


def test_servers_before_2016_get_nothing_that_they_do_not_know() -> None:
    later = {"ISJSON": 13, "JSON_VALUE": 13, "OPENJSON": 13, "DATEDIFF_BIG": 13, "STRING_SPLIT": 13, "STRING_AGG": 14}
    names = {file.name for file in queries.all_files() if file.engine == "sqlserver"}
    seen = 0
    for major in (11, 12, 13, 14, 16):
        for name in sorted(name for name in names if name.startswith(("control/", "catalog/", "action/", "design/"))):
            if queries.has_query("sqlserver", name, (major, 0)):
                text = re.sub(r"--[^\n]*", "", queries.load_query("sqlserver", name, (major, 0)).text)
                for word, since in later.items():
                    found = re.search(rf"\b{word}\s*\(", text)
                    seen += found is not None
                    assert not found or major >= since, (name, major, word)
    assert seen


@pytest.mark.parametrize("major", [*VERSIONS, 100])
def test_what_setup_prints_for_sql_server_is_a_batch_each(major: int) -> None:
    header, *steps, end = batches(setup_script(major))
    assert header == SCRIPT_HEADERS["sqlserver"].removesuffix("\nGO\n")
    assert end == ""
    assert len(steps) > 20
    for step in steps:
        code = "\n".join(line for line in step.split("\n") if not line.startswith("--")).strip()
        assert "ALTER PROCEDURE" not in code or code.startswith("/* qmon control/0"), step
    with pytest.raises(BadInput, match=pattern(RoleText.LINE_GO)):
        setup_script(major, "a\nGO\nb")


def without_comments(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line and not line.startswith("--"))


def test_every_printed_script_begins_with_the_same_header() -> None:
    printed = [*printed_designs(), *printed_setups()]
    assert len(printed) > 2 * len(DESIGNS)
    for text in printed:
        assert without_comments(text).startswith(SCRIPT_HEADERS["sqlserver"])
        assert "\nSET QUOTED_IDENTIFIER ON;\nSET ANSI_NULLS ON;\n" in f"\n{without_comments(text)}"
    step = control_setup.SetupStep("Why.", "SELECT 1")
    assert without_comments(control_setup.setup_script(Postgres(), [step])) == f"{SCRIPT_HEADERS['postgres']}SELECT 1;"
