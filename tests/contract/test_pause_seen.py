"""A pause is visible to all watchers, and ends by itself even if qmon is killed in the middle of it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from qmon.model.operation_records import OperationText, Side
from qmon.operate.actions.pause import prepare_pause, prepare_resume
from tests.contract.operating import applied, desk_at
from tests.contract.watching import watching
from tests.facts import query, wait_until
from tests.queues import ENGINE, made, routine
from tests.wordings import has

KILLED = """
import os, signal, sys
from pathlib import Path
from qmon.model.operation_records import Side
from qmon.operate.context import Permission
from qmon.operate.operator import Operator
from qmon.operate.install.install_queue import read_installed_layouts
from tests.contract.operating import desk_at
from tests.queues import ENGINE, opened

url, folder = sys.argv[1], Path(sys.argv[2])
with opened(url) as connection:
    layout = read_installed_layouts(connection, ENGINE)["orders"]
prepared = Operator(desk_at(url, folder)).pause(layout, Side.PRODUCERS, for_s=3)
prepared.apply(Permission("a test"), lambda progress: None, lambda: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_with_qmon_killed_a_pause_ends_at_its_end(database: str, tmp_path: Path) -> None:
    layout = made(database, "fifo")
    killed = subprocess.run([sys.executable, "-c", KILLED, database, str(tmp_path)], timeout=120, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert layout.switch is not None
    switch = ENGINE.quote(layout.switch.producers.parts)
    (holds,) = query(database, f"SELECT last_value > extract(epoch FROM clock_timestamp()) * 1000 FROM {switch}")
    assert holds == (True,)

    def pushed() -> bool:
        asked = f"DO $$ BEGIN PERFORM {routine(layout, 'push')}('x'); EXCEPTION WHEN SQLSTATE 'QM001' THEN NULL; END $$"
        query(database, asked)
        return query(database, f"SELECT count(*) FROM {ENGINE.quote(layout.table.parts)}") == [(1,)]

    assert not pushed()
    wait_until(pushed)
    assert query(database, f"SELECT id FROM {ENGINE.quote(layout.table.parts)}") == [(1,)]  # no number was drawn
    assert query(database, "SELECT state FROM qmon.operations") == [("running",)]


def test_a_pause_is_seen_by_whoever_watches_from_the_poll_after_the_next(database: str, tmp_path: Path) -> None:
    layout = made(database, "status", "[a]]b].[c d]")
    context = desk_at(database, tmp_path)
    with watching(database, [layout]) as watch:
        assert watch.view().pauses == ()
        applied(prepare_pause(context, layout, Side.PRODUCERS, 60))
        view = watch.view(lambda found: found.pauses)
        (pause,) = view.pauses
        assert (pause.side, pause.by, pause.reason) == (Side.PRODUCERS, "anna@app-7", "a test")
        verdict = view.queues[0].verdict
        assert (verdict.code, verdict.key) == ("paused", "p")
        assert has(verdict.proof, OperationText.PAUSED, side="producers", who="anna@app-7")
        applied(prepare_resume(context, layout, Side.PRODUCERS))
        over = watch.view(lambda found: not found.pauses)
        assert not [failure for failure in over.failures if "pause" in failure.probe]
