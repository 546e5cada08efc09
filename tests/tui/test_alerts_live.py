"""From a growing queue on a real server to the banner, the bell, and a notified program."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from qmon.config.config_file import parse_config
from qmon.config.receivers import Receiver
from qmon.model.alerts.alert_rules import rules_for_target
from qmon.monitor.alerting import Alerting
from qmon.monitor.notify.command import CommandDelivery
from qmon.monitor.notify.notifier import Notifier
from qmon.monitor.open import open_poller
from qmon.monitor.state.target_history import TargetHistory
from qmon.tui.app import QmonApp
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.lines import Lines
from tests.contract.watching import ROOMY, installed, target_of
from tests.facts import query
from tests.schemas import valid
from tests.tui.driving import Driver
from tests.tui.scripted import Clock, Scripted

CONFIG = """
[[alert]]
name = "deep"
queue = "fif*"
figure = "depth"
warn = 20
crit = 200
[[alert]]
name = "not moving"
verdict = "*"
"""
KEEP = "import sys; out = open(sys.argv[1], 'a'); out.write(sys.stdin.read())"


def push(url: str, rows: int) -> None:
    query(url, f"SELECT count(public.fifo_push('x'::bytea)) FROM generate_series(1, {rows})")


async def test_a_queue_that_grows_is_told_of_and_so_is_its_end(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(database, "fifo")
    said = tmp_path / "said"

    def told() -> list[dict[str, Any]]:
        return [valid(line, "notice") for line in said.read_text().splitlines()] if said.exists() else []

    target = target_of(database)
    poller = open_poller(target, interval_s=0.5, budget=ROOMY)
    receiver = Receiver("keep", command=(sys.executable, "-c", KEEP, str(said)), timeout_s=20.0)
    notifier = Notifier([(receiver, CommandDelivery(receiver))])
    rules = rules_for_target(parse_config(CONFIG, Path("qmon.toml")).alerts, target.name)
    app = QmonApp(
        DashboardTarget(poller, TargetHistory().record_snapshot),
        alerting=Alerting({target.name: rules}, notifier=notifier),
    )
    rung: list[int] = []
    monkeypatch.setattr(app, "bell", lambda: rung.append(1))
    try:
        async with app.run_test(size=(120, 40)) as pilot:
            d = Driver(app, Scripted(), Clock(), pilot)
            await d.until(lambda: app.shown.view is not None, "figures")
            assert not app.screen.query_one("#alert", Lines).display
            push(database, 50)
            await d.until(lambda: "▲ WARNING  fifo  depth 50, above 20" in d.lines("alert"), "the warning")
            push(database, 500)
            await d.until(lambda: "■ CRITICAL  fifo  depth 550, above 200" in d.lines("alert"), "critical")
            query(database, "DELETE FROM public.fifo")
            await d.until(lambda: not app.screen.query_one("#alert", Lines).display, "the end of the alert")
            await d.until(lambda: len(told()) >= 3, "three turns")
    finally:
        poller.close()
        notifier.close(10.0)
    turns = [(event["event"], event["severity"]) for event in told() if event["name"] == "deep"]
    assert turns == [("raised", "warning"), ("worse", "critical"), ("cleared", "critical")]
    assert {event["target"] for event in told()} == {target.name}
    assert len(rung) == 2
