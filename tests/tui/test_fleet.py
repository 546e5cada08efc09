"""Several targets: their overview, all their queues, navigation between them, and their independence of each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input

from qmon.config.preferences import ALL_TARGETS
from qmon.model.alerts.alert_rules import AlertRule
from qmon.model.figure import Severity, Verdict
from qmon.monitor.alerting import Alerting
from qmon.monitor.source import ReadScope
from qmon.recording.history.recording_archive import live_archive
from qmon.tui.action_runner import ActionRunner
from qmon.tui.actions.action_dialog import ActionDialog, ConfirmationText, DialogStep
from qmon.tui.app import AppText
from qmon.tui.fleet.target_health import HealthSummaryText
from qmon.tui.past_reader import KnownPast
from qmon.tui.shared.banner import BannerText
from qmon.tui.shared.header import HeaderText
from qmon.tui.timeline.timeline_screen import TimelineText
from qmon.tui.watched_target import Health
from tests.recording.days import BEGIN, ZONE, written
from tests.tui.asking import reach
from tests.tui.fleet import NAMES, FleetDriver, Named, crm, fleet, fleet_app
from tests.tui.histories import HOUR, history
from tests.tui.scripted import SAMPLED_AT, Clock, queue, snapshot
from tests.tui.scripted_acting import Script, ScriptedOffice, operation, typed_plan
from tests.wordings import has

CRITICAL = Verdict("stuck in progress", "3 in progress for more than 5 m", Severity.CRITICAL)


async def test_the_overview_has_the_worst_first_with_sums_and_what_is_worst() -> None:
    async with fleet((160, 40)) as d:
        await d.three()
        assert d.grid.row_keys == ("orders-prod", "billing", "crm")
        assert has(d.lines("header"), HealthSummaryText.TARGETS, count=3)
        assert "■ 1 critical" in d.lines("header")
        assert "✕ 1 lost" in d.lines("header")
        assert has(
            d.lines("summary"), HealthSummaryText.SOME_TARGETS, count=1, total=3, state=HealthSummaryText.ONE_CRITICAL
        )
        assert has(d.lines("summary"), HealthSummaryText.ALSO, count=1, state=HealthSummaryText.LOST)
        assert ": orders-prod, " in d.lines("summary")
        orders, billing, crm_row = d.text().splitlines()[3:6]
        assert "PROD" in orders
        assert "PostgreSQL 18.6" in orders
        assert "≥" in orders, "payroll cannot be read, so the sum is a lower bound"
        assert HeaderText.LOST in billing
        assert "no route to host; " in billing
        assert "15" in crm_row, "12 + 3 ready"
        assert HealthSummaryText.ALL_FINE in crm_row
        await d.press("down")
        assert "no route to host" in d.lines("why")


async def test_a_target_that_comes_back_is_no_longer_lost_and_one_that_is_silent_is() -> None:
    async with fleet() as d:
        await d.three()
        billing = d.app.members["billing"]
        assert billing.health(d.clock.now) is Health.LOST
        await d.wait(30)
        assert d.app.members["crm"].health(d.clock.now) is Health.LOST, "no data for half a minute"
        await d.tell("billing", [queue("letters", verdict=CRITICAL)], at=30)
        assert billing.health(d.clock.now) is Health.CRITICAL
        assert has(d.text(), HealthSummaryText.WORST_QUEUE, queue="letters", verdict="stuck in progress", more="")


async def test_from_any_screen_to_a_queue_of_another_target_in_two_keys_beside_the_letters() -> None:
    async with fleet() as d:
        await d.three()
        for screen in "0", "8", "1", "2", "3", "4", "5", "6", "7":
            await d.app.go_to_target("orders-prod")
            await d.press(screen)
            await d.press(":", *"crm/mai", "enter")
            assert (d.app.current.name, d.app.selected) == ("crm", "mails"), screen
            assert "crm" in d.lines("header"), screen
            assert d.app.screen.NAME == "queue", screen  # type: ignore[attr-defined]


async def test_each_target_has_screens_of_its_own_and_escape_leads_up_to_all() -> None:
    async with fleet() as d:
        await d.three()
        await d.press("enter", "slash", *"inv", "enter", "enter")
        assert d.app.selected == "invoices"
        await d.app.go_to_target("crm", "mails")
        await d.settle()
        assert "mails" in d.text()
        assert "invoices" not in d.text()
        await d.press("escape")
        assert set(d.grid.row_keys) == {"oban/default", "oban/mails", "mails"}, "no filter here"
        await d.press("escape")
        assert d.grid.cursor == "crm", "the target we came from"
        await d.app.go_to_target("orders-prod")
        await d.settle()
        assert d.grid.row_keys == ("invoices",), "the filter is still there"


async def test_what_is_not_on_the_screen_is_polled_less_often_and_its_waits_are_sampled_less() -> None:
    async with fleet(names=[f"t{n}" for n in range(30)]) as d:
        for name in d.sources:
            await d.tell(name, [queue("jobs")])
        assert {source.interval_s for source in d.sources.values()} == {10.0}
        await d.app.go_to_target("t3", "jobs")
        await d.settle()
        assert d.sources["t3"].interval_s == 2.0
        assert d.sources["t3"].focus.rows_of == "jobs"
        assert not d.sources["t3"].focus.away
        assert all(
            source.interval_s == 10.0 and source.focus.away for name, source in d.sources.items() if name != "t3"
        )
        await d.press("plus")
        assert d.sources["t3"].interval_s == 1.0
        await d.app.go_to_target("t4")
        await d.settle()
        assert d.sources["t3"].focus == ReadScope(away=True)
        assert (d.sources["t3"].interval_s, d.sources["t4"].interval_s) == (10.0, 2.0)


async def test_few_targets_are_polled_as_often_as_one() -> None:
    async with fleet() as d:
        assert {source.interval_s for source in d.sources.values()} == {2.0}


async def test_a_fault_of_ours_about_one_target_is_shown_there_and_the_others_go_on() -> None:
    async with fleet() as d:
        await d.tell("crm", crm())
        sink = d.sources["billing"].sink
        assert sink is not None
        sink(replace(snapshot(99), target="billing"))  # its fold has no view with that number
        await d.settle()
        assert d.app.members["billing"].health(d.clock.now) is Health.LOST
        await d.tell("crm", crm(), at=1)
        assert d.app.members["crm"].shown.newest_at > 5_000


async def test_all_queues_are_one_table_and_enter_opens_the_one_under_the_cursor() -> None:
    async with fleet((160, 40)) as d:
        await d.three()
        await d.press("8")
        assert len(d.grid.row_keys) == 15
        assert d.grid.row_keys[0] == "orders-prod\0invoices"
        await d.press("slash", *"crm mails", "enter")
        assert d.grid.row_keys == ("crm\0mails",)
        await d.press("enter")
        assert (d.app.current.name, d.app.selected) == ("crm", "mails")
        await d.press("8")
        assert d.grid.cursor == "crm\0mails"


async def test_frozen_nothing_moves_until_it_goes_on() -> None:
    async with fleet() as d:
        await d.three()
        await d.press("z")
        assert "frozen" in d.lines("header")
        await d.tell("crm", [queue("late", verdict=CRITICAL)], at=1)
        assert "late" not in d.text()
        await d.press("z")
        assert has(d.text(), HealthSummaryText.WORST_QUEUE, queue="late", verdict="stuck in progress", more="")


@pytest.mark.parametrize("size", [(80, 24), (60, 10)])
async def test_a_small_terminal_keeps_targets_state_and_what_is_worst(size: tuple[int, int]) -> None:
    async with fleet(size) as d:
        await d.three()
        assert {"TARGET", "STATE", "WORST"} <= set(d.grid.visible_titles)


async def test_acting_from_all_queues_names_the_target_also_in_what_is_typed() -> None:
    script = Script(make=typed_plan)
    async with fleet(runners={"orders-prod": ScriptedOffice(script), "crm": ScriptedOffice(read_only="not here")}) as d:
        await d.three()
        await d.press("8", "slash", *"crm mails", "enter", "r")
        assert "not here" in d.said(), "the target under the cursor decides what is allowed"
        await d.press("escape", "g", "r")
        await d.until(
            lambda: isinstance(d.app.screen, ActionDialog) and d.app.screen.step is DialogStep.CONFIRM, "a plan"
        )
        assert "orders-prod" in d.lines("act-title")
        assert "type orders-prod/invoices" in d.text()
        typed, reason = (d.app.screen.query_one(f"#act-{name} Input", Input) for name in ("typed", "reason"))
        typed.value, reason.value = "invoices", "a test"
        await reach(d, "act-do")
        await d.press("enter")
        assert has(d.lines("act-problem"), ConfirmationText.TYPE_NAME, name="orders-prod/invoices")
        typed.value = "orders-prod/invoices"
        await reach(d, "act-do")
        await d.press("enter")
        script.goes.set()
        await d.until(lambda: d.app.screen.step is DialogStep.ENDED, "the end")  # type: ignore[attr-defined]
        assert d.sources["orders-prod"].asked[-1] == ("poll_now", "invoices")
        assert [(p.reason, p.typed) for p in script.permissions] == [("a test", "invoices")]


async def test_alerts_of_all_targets_are_on_every_screen() -> None:
    rules = (AlertRule("deep", "ready", warn=100.0, targets=("crm",)), AlertRule("lost", verdicts=("unreachable",)))
    clock = Clock()
    alerting = Alerting(dict.fromkeys(NAMES, rules), bell=False, clock=clock)
    async with fleet(alerting=alerting) as d:
        await d.three()
        assert "billing" in d.lines("alert")
        await d.tell("crm", [queue("mails", ready=500)], at=1)
        await d.press("a")
        assert has(d.said(), AppText.ACKNOWLEDGED, queue="billing", rule="lost")
        await d.app.go_to_target("orders-prod")
        await d.settle()
        assert "crm/mails" in d.lines("alert")
        await d.press("m")
        assert has(d.lines("alert"), BannerText.MUTED)


async def test_each_target_has_columns_and_an_order_of_its_own() -> None:
    async with fleet((200, 50)) as d:
        await d.three()
        await d.press("enter", "C")
        d.grid.select("dead")
        await d.press("space", "escape", "s")
        assert d.grid.visible_titles[-1] == "DEAD"
        await d.press("0", "end", "enter")
        assert d.app.shown.target == "crm"
        assert "DEAD" not in d.grid.visible_titles
        assert "VERDICT▾" in d.text()
        assert d.app.preferences.target_preferences("orders-prod").sort == ("queue", False)
        assert d.app.preferences.target_preferences("crm").columns == ()
        await d.press("t", *"nord", "enter", "8")
        assert d.app.theme == "nord"
        assert "DEAD" not in d.grid.visible_titles, "all queues have columns of their own"
        await d.press("C")
        d.grid.select("dead")
        await d.press("space", "escape", "s")
        assert (d.grid.visible_titles[0], d.grid.visible_titles[-1]) == ("TARGET", "DEAD")
        remembered = d.app.preferences.target_preferences(ALL_TARGETS)
        assert (remembered.columns[-1], remembered.sort) == ("dead", ("target", False))
        row = d.grid.cursor_row
        assert row is not None
        assert (row.key, row.cells[-1][0]) == ("crm\0oban/default", "0")
        await d.press("minus")
        assert d.app.preferences.target_preferences("crm").interval_s == 5.0
        assert d.app.preferences.target_preferences("orders-prod").interval_s is None


async def test_the_event_log_has_the_events_of_all_targets_and_enter_goes_to_one() -> None:
    clock = Clock()
    rules = (AlertRule("deep", "ready", warn=100.0),)
    alerting = Alerting(dict.fromkeys(NAMES, rules), bell=False, clock=clock)
    async with fleet(alerting=alerting) as d:
        await d.press("7")
        assert has(d.text(), TimelineText.NONE)
        await d.three()
        await d.tell("crm", [queue("payslips", ready=500)], at=1)
        await d.press("enter", "7")
        assert has(d.lines("header"), HealthSummaryText.TARGETS, count=3), "also from a screen of one target"
        assert d.grid.visible_titles[:2] == ("WHEN", "TARGET")
        for words in (
            ("billing", "connection lost"),
            ("orders-prod", "stuck in progress began"),
            ("crm", "deep raised", "depth 500, above 100"),
        ):
            assert any(all(word in line for word in words) for line in d.text().splitlines()), words
        await d.press("slash", *"crm", "enter")
        assert d.grid.rows
        assert {row.cells[1][0] for row in d.grid.rows} == {"crm"}
        await d.press("escape", "slash", *"stuck in progress began", "enter", "enter")
        assert d.app.current.name == "orders-prod"
        assert d.app.current_mode == "history orders-prod"
        await d.press("7", "escape", "escape")
        assert d.app.current_mode == "targets"


async def test_the_event_log_has_new_events_of_a_target_that_is_not_the_current_one() -> None:
    async with fleet() as d:
        await d.three()
        await d.press("7")
        before = set(d.grid.row_keys)
        await d.lose("crm", "server closed the connection", at=2)
        await d.wait(2)
        [new] = set(d.grid.row_keys) - before
        assert new.startswith("crm ")
        await d.press("z")
        await d.tell("billing", [queue("letters", verdict=CRITICAL)], at=3)
        await d.wait(3)
        assert len(d.grid.row_keys) == len(before) + 1, "a frozen display does not change"
        await d.press("z")
        assert len(d.grid.row_keys) == len(before) + 2


async def test_the_event_log_reads_the_operations_of_all_targets() -> None:
    of = {"orders-prod": (operation(1),), "crm": (operation(2, reason="ticket 4711"), operation(3))}
    runners: dict[str, ActionRunner] = {name: ScriptedOffice(Script(history=found)) for name, found in of.items()}
    async with fleet(runners=runners) as d:
        await d.three()
        for member in d.app.members.values():
            assert member.target.memory is not None
            member.target.memory.clock = lambda: SAMPLED_AT
        await d.press("7")
        await d.until(lambda: "ticket 4711" in d.text(), "the operations of crm")
        rows = [row for row in d.grid.rows if row.cells[2][0] == "operation"]
        assert [row.cells[1][0] for row in rows] == ["orders-prod", "crm", "crm"], "sorted by time"


async def test_the_event_log_has_the_recorded_events_of_all_targets(tmp_path: Path) -> None:
    known: dict[str, KnownPast] = {}
    for name, hours in (("orders-prod", 14.0), ("crm", 8.0)):
        written(tmp_path, hours, target=name)
        known[name] = KnownPast(live_archive(tmp_path, name, ZONE))
    async with fleet(known=known) as d:
        for member in d.app.members.values():
            assert member.target.memory is not None
            member.target.memory.begins_at = BEGIN + 24 * HOUR
        await d.press("7")
        await d.until(lambda: has(d.lines("timeline-heading"), TimelineText.SINCE), "all events are read")
        found = [row.cells[1][0] for row in d.grid.rows]
        assert found.count("orders-prod") == 7
        assert 0 < found.count("crm") < 7
        assert found != sorted(found) and found != sorted(found, reverse=True), "sorted by time"
        await d.press("slash", *"crm", "enter", "G", "enter")
        assert d.app.current.name == "crm"
        assert history(d).cursor_at is not None


@pytest.mark.parametrize("lost", [False, True])
async def test_the_first_target_connects_alone_until_its_figures_are_there_or_it_is_lost(
    lost: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qmon.tui.fleet.fleet_app.FIRST_ALONE_S", 300.0)
    clock, sources = Clock(), {name: Named(name) for name in NAMES}
    app = fleet_app(clock, sources)
    async with app.run_test() as pilot:
        await pilot.pause()
        d = FleetDriver(app, sources["orders-prod"], clock, pilot, sources)
        assert [name for name, source in sources.items() if source.sink is not None] == ["orders-prod"]
        await (d.lose("orders-prod") if lost else d.tell("orders-prod"))
        await d.until(lambda: all(source.sink is not None for source in sources.values()), "all are connecting")


async def test_the_others_do_not_wait_long_for_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qmon.tui.fleet.fleet_app.FIRST_ALONE_S", 0.01)
    clock, sources = Clock(), {name: Named(name) for name in NAMES}
    app = fleet_app(clock, sources)
    async with app.run_test() as pilot:
        d = FleetDriver(app, sources["orders-prod"], clock, pilot, sources)
        await d.until(lambda: all(source.sink is not None for source in sources.values()), "all are connecting")
        assert app.shown.view is None, "the first has no figures yet"
