"""The T-SQL in the contract's own tests is T-SQL, as far as a parser can tell."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path
from typing import Final

import pytest

from tests.contract import test_anywhere_actions as actions
from tests.contract import test_anywhere_looks as looks
from tests.contract import test_anywhere_roles as roles
from tests.contract.anywhere import WORDS
from tests.contract.anywhere_crowd import KILL, LEDGER, SESSIONS
from tests.contract.anywhere_server import WAYS

PARSER: Final = os.environ.get("QMON_TSQL_CHECK", "")
"""A program that parses T-SQL files and ends with 0 where they hold no error; ``.ci/run`` names one where it has it."""


def texts() -> Iterator[str]:
    """The statements that are written down as they are sent, or nearly so."""
    yield from (text.format("qmon_test_1", "x") for text in astuple(WAYS["sqlserver"]))
    made = (*LEDGER, actions.JOBS, *actions.WRITERS["sqlserver"], *looks.TABLES, *looks.ROWS, *roles.SECRETS)
    yield from (text.format(**WORDS["sqlserver"]) for text in made)
    yield from looks.BROKER
    yield SESSIONS["sqlserver"].format(name="popper1")
    yield KILL["sqlserver"].format(session=51)
    yield from roles.KEPT_OUT["sqlserver"]
    yield from (text.format("x") for text in roles.WORKERS["sqlserver"])
    yield from (text.format(table=1, status=2, trash=3) for text in roles.MISUSED)


@pytest.mark.skipif(not PARSER, reason="QMON_TSQL_CHECK names no parser")
def test_the_parser_takes_what_the_contract_sends(tmp_path: Path) -> None:
    batches = [text for text in texts() if text not in ("master", "dbo", "")]
    assert len(batches) > 60
    place = tmp_path / "contract.sql"
    place.write_text("\nGO\n".join(batches), encoding="utf-8")
    done = subprocess.run([PARSER, place], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
