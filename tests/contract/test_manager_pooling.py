"""unixODBC with Pooling=Yes: each connection is its own session, without the settings of a closed one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
from qmon.engines.base import Session
from tests.contract.engines import opened, sql
seen = []
for number in range(4):
    with opened(sys.argv[1], Session("poll")) as connection:
        seen.append(connection.session_id)
        rows = connection.fetch(sql("SELECT current_setting('qmon.left', true) AS left", "left")).rows
        print(connection.session_id, rows[0][0] or "nothing")
        connection.fetch(sql("SELECT set_config('qmon.left', 'behind', false) AS done", "done"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="odbcinst.ini of unixODBC")
def test_no_connection_gets_a_session_that_another_has_closed(database: str, tmp_path: Path) -> None:
    drivers = Path("/etc/odbcinst.ini").read_text(encoding="utf-8")
    pooled = re.sub(r"(?m)^(\[PostgreSQL.*\])$", r"\1\nCPTimeout=60", drivers)
    (tmp_path / "odbcinst.ini").write_text(f"[ODBC]\nPooling=Yes\n{pooled}", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, database],
        env={**os.environ, "ODBCSYSINI": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    sessions, left = zip(*(line.split() for line in done.stdout.splitlines()), strict=True)
    assert len(set(sessions)) == 4
    assert set(left) == {"nothing"}
