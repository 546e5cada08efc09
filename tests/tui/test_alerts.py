"""Alerts in the dashboard: banner, bell, acknowledging, muting, and a command run for real."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from qmon.config.receivers import Receiver
from qmon.model.alerts.alert_rules import AlertRule
from qmon.model.view import View
from qmon.monitor.alerting import Alerting
from qmon.monitor.notify.command import CommandDelivery
from qmon.monitor.notify.notifier import Notifier
from qmon.monitor.notify.sender import DeliveryText
from qmon.monitor.source import Phase
from qmon.tui.app import AppText, QmonApp
from qmon.tui.shared.banner import BannerText
from tests.schemas import valid
from tests.tui.driving import Driver, dashboard
from tests.tui.pictures import Compare, Shot
from tests.tui.scripted import Clock, queue, view
from tests.wordings import has

DEEP = AlertRule("deep", "ready", warn=100.0, crit=1000.0)
STUCK = AlertRule("anything stuck", "stuck", crit=5.0)
LOST = AlertRule("lost", verdicts=("unreachable",))
RULES = (DEEP, STUCK, LOST)


def alerting(*rules: AlertRule, notifier: Notifier | None = None, bell: bool = True) -> Callable[[Clock], Alerting]:
    return lambda clock: Alerting({"orders-prod": rules}, notifier=notifier, bell=bell, clock=clock)


def depth(ready: float, sequence: int, *, stuck: float = 0.0) -> View:
    return view((queue("orders", ready=ready, stuck=stuck),), sequence=sequence, at=float(sequence))


def bells(app: QmonApp, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with each bell."""
    rung: list[int] = []
    monkeypatch.setattr(app, "bell", lambda: rung.append(1))
    return rung


def raised(d: Driver) -> bool:
    return bool(d.app.screen.query_one("#alert").display)


async def test_without_rules_there_is_no_banner_and_the_keys_say_so() -> None:
    async with dashboard() as d:
        await d.give()
        assert not raised(d)
        await d.press("a")
        assert has(d.said(), AppText.NO_ALERT_RULES)
        await d.press("m")
        assert not raised(d)


async def test_the_banner_names_the_worst_and_the_bell_rings_once_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard(alerting=alerting(*RULES)) as d:
        rung = bells(d.app, monkeypatch)
        await d.give(depth(50, 1))
        assert not raised(d)
        await d.give(depth(500, 2))
        assert raised(d)
        assert d.lines("alert").startswith(" ▲ WARNING  orders  depth 500, above 100")
        await d.give(depth(501, 3))
        assert len(rung) == 1
        assert "depth 501" in d.lines("alert")
        await d.give(depth(5000, 4, stuck=7))
        assert len(rung) == 2
        assert "■ CRITICAL  orders  depth 5,000, above 1,000" in d.lines("alert")
        assert has(d.lines("alert"), BannerText.MORE_ALERTS, count=1)
        for screen in ("2", "6", "1"):
            await d.press(screen)
            assert "CRITICAL" in d.lines("alert")
        await d.give(depth(5, 5))
        assert not raised(d)
        assert len(rung) == 2


async def test_a_bell_that_is_off_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard(alerting=alerting(*RULES, bell=False)) as d:
        rung = bells(d.app, monkeypatch)
        await d.give(depth(500, 1))
        assert raised(d)
        assert rung == []


async def test_acknowledged_ones_step_back_until_they_get_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard(alerting=alerting(*RULES)) as d:
        rung = bells(d.app, monkeypatch)
        await d.give(depth(500, 1, stuck=7))
        assert "stuck 7" in d.lines("alert")
        await d.press("a")
        assert "▲ WARNING  orders  depth 500" in d.lines("alert")
        await d.press("a")
        assert has(d.lines("alert"), BannerText.ACKNOWLEDGED, alerts="2 alerts")
        assert "orders: stuck 7" in d.lines("alert")
        await d.press("a")
        assert has(d.said(), AppText.NO_ALERT)
        await d.give(depth(5000, 2, stuck=8))
        assert "■ CRITICAL  orders  depth 5,000" in d.lines("alert")
        assert len(rung) == 2
        await d.press("a")
        await d.give(depth(5, 3))
        assert not raised(d)
        await d.give(depth(500, 4))
        assert "▲ WARNING" in d.lines("alert"), "a cleared alert that is raised again is new"


async def test_muting_lasts_longer_each_time_ends_by_itself_and_can_be_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard(alerting=alerting(*RULES)) as d:
        rung = bells(d.app, monkeypatch)
        await d.give(depth(5, 1))
        await d.press("m")
        await d.give(depth(500, 2))
        assert has(d.lines("alert"), BannerText.MUTED, duration="15 m 00 s")
        assert has(d.lines("alert"), BannerText.RAISED, count=1)
        assert rung == []
        await d.wait(890.0)
        assert raised(d)
        assert "WARNING" not in d.lines("alert")
        await d.wait(901.0)
        assert "▲ WARNING" in d.lines("alert")
        for said in ("15 m 00 s", "1 h 00 m", "4 h 00 m"):
            await d.press("m")
            assert has(d.lines("alert"), BannerText.MUTED, duration=said)
        await d.press("m")
        assert "▲ WARNING" in d.lines("alert")


async def test_a_frozen_display_still_raises_alerts(monkeypatch: pytest.MonkeyPatch) -> None:
    async with dashboard(alerting=alerting(*RULES)) as d:
        rung = bells(d.app, monkeypatch)
        await d.give(depth(5, 1))
        await d.press("z")
        await d.give(depth(5000, 2))
        assert rung == [1]
        assert "depth 5,000" in d.lines("alert")


async def test_a_target_that_is_lost_for_long_enough_raises_an_alert(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = AlertRule("lost", verdicts=("unreachable",), hold_s=30.0)
    async with dashboard(alerting=alerting(rule)) as d:
        rung = bells(d.app, monkeypatch)
        await d.give(depth(5, 1))
        await d.wait(2.0)
        await d.say(Phase.LOST, "connection refused", at=2.0)
        await d.wait(20.0)
        await d.say(Phase.CONNECTING, at=20.0)
        assert not raised(d)
        await d.wait(33.0)
        assert d.lines("alert").startswith(" ■ CRITICAL  target  unreachable: connection refused")
        assert rung == [1]
        d.clock.now += 1
        await d.give(depth(5, 40))
        assert not raised(d)


async def test_a_target_that_was_never_there_raises_one_too() -> None:
    async with dashboard(alerting=alerting(LOST)) as d:
        await d.say(Phase.LOST, "connection refused", at=0.0)
        await d.settle()
        assert "■ CRITICAL  target  unreachable: connection refused" in d.text()


KEEP = "import sys; out = open(sys.argv[1], 'a'); out.write(sys.stdin.read())"


def commanding(*command: str) -> Notifier:
    """Return a notifier that passes alerts to a command."""
    receiver = Receiver("page-me", command=command, timeout_s=20.0)
    return Notifier([(receiver, CommandDelivery(receiver))])


async def test_a_command_hears_of_turns_only_and_never_holds_up_a_key(tmp_path: Path) -> None:
    said = tmp_path / "said"
    notifier = commanding(sys.executable, "-c", KEEP, str(said))

    def told() -> list[dict[str, Any]]:
        return [valid(line, "notice") for line in said.read_text().splitlines()] if said.exists() else []

    async with dashboard(alerting=alerting(*RULES, notifier=notifier)) as d:
        polls = ((5, 0), (500, 1), (510, 1), (520, 1), (5000, 2), (5100, 2), (500, 3), (5, 4))
        for sequence, (ready, turns) in enumerate(polls, 1):
            if sequence == 4:
                await d.press("a")
            d.clock.now = view(at=float(sequence)).taken_at
            await d.give(depth(ready, sequence))
            await d.until(lambda turns=turns: len(told()) == turns, "its turn")  # type: ignore[misc]
    assert notifier.close(10.0) == []
    events = told()
    assert [event["event"] for event in events] == ["raised", "worse", "better", "cleared"]
    assert [event["severity"] for event in events] == ["warning", "critical", "warning", "warning"]
    assert {(e["target"], *e["queues"], e["name"], e["schema"]) for e in events} == {
        ("orders-prod", "orders", "deep", 1)
    }
    assert events[1]["words"] == "depth 5,000, above 1,000"
    assert events[0]["since"] <= events[0]["at"] < events[3]["at"]


async def test_a_command_that_fails_is_said_once_and_the_screen_goes_on() -> None:
    notifier = commanding("/nonexistent/page-me")
    async with dashboard(alerting=alerting(*RULES, notifier=notifier)) as d:
        for sequence, ready in enumerate((500, 5, 500, 5), 1):
            await d.give(depth(ready, sequence))
        await d.until(lambda: "page-me" in d.said(), "the failure")
        dropped = DeliveryText.DROPPED.render(problem=DeliveryText.CANNOT_RUN)
        assert d.said().count(DeliveryText.LINE.render(receiver="page-me", what=dropped)) == 1
        await d.press("2", "1")
        assert d.app.current_mode == "overview"
    notifier.close(10.0)


@pytest.mark.parametrize("cells", [40, 60, 80, 200])
async def test_the_banner_fits_one_line_at_every_width(cells: int) -> None:
    async with dashboard((cells, 24), alerting=alerting(*RULES)) as d:
        name = "[red]x[/] \x1b[31m" + "long name " * 5
        await d.give(view((queue(name, ready=5000, stuck=9), queue("b", ready=500)), sequence=1, at=1.0))
        line = d.lines("alert")
        assert len(line) <= cells
        assert "\x1b" not in line
        assert "CRITICAL" in line
        if cells >= 80:
            assert has(line, BannerText.MORE_ALERTS, count=2)
            assert has(line, BannerText.ACKNOWLEDGE_KEY)


def test_picture_of_the_banner(snap_compare: Compare) -> None:
    shot = Shot()
    rules = (AlertRule("deep", "ready", warn=1_000.0, crit=10_000.0), STUCK, AlertRule("any", verdicts=("*",)))
    shot.app.alerting = Alerting({"orders-prod": rules}, clock=shot.clock)
    assert snap_compare(shot.app, terminal_size=(80, 24), run_before=shot.ready)
