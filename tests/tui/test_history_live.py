"""Screen 5 next to a real server that is polled and recorded, with an earlier recording."""

from __future__ import annotations

import os
import time
from pathlib import Path

from qmon.cli.dashboard_past import target_past
from qmon.config.config_file import Config
from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.open import open_poller
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.write.recorder import Recorder
from qmon.recording.write.recording_source import RecordingSource
from qmon.tui.app import QmonApp
from qmon.tui.history.history_panel import HistoryPanelText
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.lines import Lines
from tests.contract.watching import ROOMY, installed, target_of
from tests.recording.days import written
from tests.tui.driving import Driver
from tests.tui.histories import history, press
from tests.tui.scripted import Clock, Scripted
from tests.wordings import has


async def test_what_is_recorded_now_and_what_was_recorded_before(database: str, tmp_path: Path) -> None:
    installed(database, "status", "fifo")
    target = target_of(database)
    poller = open_poller(target, interval_s=0.5, budget=ROOMY)
    written(tmp_path, 0.05, target=target.name, begin_at=time.time() - 600.0)
    recorder = Recorder(tmp_path, target.name, interval_s=0.5)
    fold = TargetHistory()
    seen: list[View] = []

    def add(snapshot: Snapshot) -> View:
        seen.append(fold.record_snapshot(snapshot))
        return seen[-1]

    recorded = RecordingSource(poller, add, recorder)
    known = target_past(target.name, Config(Path(os.devnull)), tmp_path)
    app = QmonApp(DashboardTarget(recorded, recorded.fold, recorder=recorder, past=known), plain=False)
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            driver = Driver(app, Scripted(), Clock(), pilot)
            await driver.until(lambda: recorder.status.snapshots >= 6, "it is recorded")
            app.selected = "status"
            await press(driver, "5", "v")
            screen = history(driver)
            usual = "\n".join(screen.query_one("#usual", Lines).plain_lines)
            assert "depth 0 " in usual and has(usual, HistoryPanelText.AT)
            assert screen.past is not None and screen.past.queues == ("fifo", "mails", "orders", "status")
            assert any(step is not None for step in screen.past.steps["ready"])
            app.selected = "mails"
            await press(driver, "f", "F")
            assert screen.past.queue == "mails" and any(step is not None for step in screen.past.steps["gap"])
    finally:
        poller.close()
        recorder.close()
    assert target_past(target.name, Config(Path(os.devnull)), None).archive is None
