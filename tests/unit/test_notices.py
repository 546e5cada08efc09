"""Notices: which changes cause one, when it is sent, and its format for each receiver."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from qmon.model.alerts.alert_rules import AlertRule, Cause
from qmon.model.alerts.latches import Alert, AlertEvent, Latch, LatchKey, raised_alerts, record_view
from qmon.model.alerts.notice_formats import (
    MAX_SUMMARY_LENGTH,
    NoticeText,
    alertmanager_alerts,
    notice_headline,
    notice_report,
    pagerduty_event,
    slack_message,
    teams_message,
)
from qmon.model.alerts.notices import Notice, SentNotice, notices_for, select_due_notices
from qmon.model.figure import Severity, Verdict
from qmon.model.view import QueueView
from qmon.monitor.alerting import Alerting
from qmon.monitor.notify.notifier import Notifier
from tests.tui.scripted import NASTY, Clock, queue, view

WARNING, CRITICAL = Severity.WARNING, Severity.CRITICAL
EVERY = AlertRule("any verdict", verdicts=("*",))
DEEP = AlertRule("deep", "ready", warn=100.0, crit=1_000.0)
LOCKED = Verdict(
    "everything locked", "session 61 (idle in transaction) holds all 50 messages", CRITICAL, cause="session 61"
)
SESSION_61: Final = Cause("everything locked", "session 61")
WALL: Final = 1_780_000_000.0
MANUAL = Path(__file__).parents[2] / "docs" / "alerts-and-checks.md"


def alert(queue: str = "orders", severity: Severity = WARNING, rule: str = "deep", **more: Any) -> Alert:
    return Alert(rule, queue, severity, 50.0, "depth 500, above 100", 500.0, **more)


def notices(*found: Alert) -> dict[str, Notice]:
    return notices_for("shop", found, 60.0, WALL)


class Teller:
    """Records alerts at given moments."""

    def __init__(self, wait_s: float = 0.0) -> None:
        self.told: dict[str, SentNotice] = {}
        self.wait_s = wait_s

    def at(self, now: float, *found: Alert) -> list[tuple[str, str, tuple[str, ...]]]:
        self.told, out = select_due_notices(self.told, notices_for("shop", found, now, WALL), now, WALL, self.wait_s)
        return [(each.event.value, each.severity.name, each.queues) for each in out]


# ----------------------------------------------------------------------------------------------------- what is one


def test_one_transaction_behind_eleven_queues_is_one_notice() -> None:
    names = [f"q{number:02}" for number in range(11)]
    queues = tuple(queue(name, ready=5_000, verdict=LOCKED) for name in names)
    memory = record_view((EVERY, DEEP), view(queues, at=1.0), {})
    (notice,) = notices_for("shop", raised_alerts(memory), 60.0, WALL).values()
    assert (notice.name, notice.cause, notice.queues) == ("everything locked", "session 61", tuple(names))
    assert notice_headline(notice).startswith(f"■ CRITICAL shop: {NoticeText.QUEUES.render(count=11)}: ")
    other = queue("q99", verdict=replace(LOCKED, cause="session 62"))
    apart = notices_for("shop", raised_alerts(record_view((EVERY,), view((*queues, other), at=1.0), {})), 60.0, WALL)
    assert sorted(len(each.queues) for each in apart.values()) == [1, 11]


def test_the_cause_of_a_figure_is_that_of_the_moment_it_was_raised_of_a_verdict_that_of_now() -> None:
    def after(*polls: QueueView) -> list[tuple[str, Cause | None]]:
        memory: dict[LatchKey, Latch] = {}
        for second, each in enumerate(polls):
            memory = record_view((EVERY, DEEP), view((each,), at=float(second)), memory)
        return sorted((each.rule, each.cause) for each in raised_alerts(memory))

    first, second = SESSION_61, Cause("everything locked", "session 62")
    free, locked = queue("q", ready=5_000), queue("q", ready=5_000, verdict=LOCKED)
    moved = queue("q", ready=5_000, verdict=replace(LOCKED, cause="session 62"))
    assert after(locked, moved) == [("any verdict", second), ("deep", first)]
    assert after(free, locked) == [("any verdict", first), ("deep", None)]
    assert after(locked, free) == [("deep", first)]


def test_a_verdict_is_over_when_it_is_gone_itself_and_not_hidden_by_another() -> None:
    fine = {"healthy": Severity.FINE, "cannot tell": Severity.NOTICE}

    def holding(*codes: str) -> QueueView:
        found = tuple(Verdict(code, "", fine.get(code, CRITICAL)) for code in codes)
        return replace(queue("q", verdict=found[0]), verdicts=found)

    def names(*polls: QueueView) -> list[str]:
        memory: dict[LatchKey, Latch] = {}
        for second, each in enumerate(polls):
            memory = record_view(
                (EVERY, replace(EVERY, name="the same again")), view((each,), at=float(second)), memory
            )
        return sorted(each.name for each in notices_for("shop", raised_alerts(memory), 60.0, WALL).values())

    stuck, stopped = holding("stuck in progress"), holding("no pops")
    assert names(stuck) == ["stuck in progress"], "two rules about it make one notice"
    assert names(stuck, holding("everything locked", "stuck in progress")) == ["everything locked", "stuck in progress"]
    assert names(stuck, holding("everything locked")) == ["everything locked"]
    assert names(stopped, holding("everything locked")) == ["everything locked", "no pops"], "it merely follows now"
    assert names(stopped, holding("everything locked"), holding("healthy")) == []
    assert names(stopped, holding("cannot tell")) == ["no pops"]


def test_the_key_is_the_same_from_every_qmon_and_tells_alerts_apart() -> None:
    (one,) = notices(alert())
    (same,) = notices_for("shop", [replace(alert(), since_at=1.0, text="other", severity=CRITICAL)], 9e9, 5.0)
    assert one == same == "6ea4da1ad266864e36595f0fc9fa4159"
    keys = [
        *notices(alert()),
        *notices(alert("mails")),
        *notices(alert(rule="old")),
        *notices(alert(cause=SESSION_61)),
        *notices(alert("")),
        *notices_for("shop-2", [alert()], 60.0, WALL),
    ]
    assert len(set(keys)) == 6
    assert [*notices(alert(cause=SESSION_61))] == [*notices(alert("mails", rule="old", cause=SESSION_61))]


# -------------------------------------------------------------------------------------------------- when it is told


def test_it_is_told_when_it_turns_and_not_at_each_poll() -> None:
    teller = Teller()
    assert teller.at(60.0, alert()) == [("raised", "WARNING", ("orders",))]
    assert teller.at(61.0, alert()) == []
    assert teller.at(62.0, alert(severity=CRITICAL)) == [("worse", "CRITICAL", ("orders",))]
    assert teller.at(63.0, alert()) == [("better", "WARNING", ("orders",))]
    assert teller.at(64.0) == [("cleared", "WARNING", ("orders",))]
    assert teller.at(65.0) == []


def test_it_waits_for_others_of_its_cause_and_what_is_over_by_then_is_never_told() -> None:
    a, b, c = (alert(name, cause=SESSION_61) for name in "abc")
    teller = Teller(wait_s=10.0)
    assert teller.at(60.0, a) == []
    assert teller.at(69.9, a, b) == []
    assert teller.at(70.0, a, b) == [("raised", "WARNING", ("a", "b"))]
    assert teller.at(71.0, a, b, c) == []
    assert teller.at(80.0, a, b, c) == [("more", "WARNING", ("a", "b", "c"))]
    assert teller.at(99.0, a) == []
    assert [teller.at(at, *found) for at, found in ((100.0, ()), (105.0, (a,)), (106.0, ()), (115.9, ()))] == [[]] * 4
    assert teller.at(116.0) == [("cleared", "WARNING", ("a", "b", "c"))]
    assert [teller.at(at, *found) for at, found in ((201.0, (a,)), (205.0, ()), (300.0, (a,)))] == [[], [], []]


def test_what_is_over_is_told_at_the_end_and_what_is_new_is_not() -> None:
    sent: list[Notice] = []

    class Kept(Notifier):
        def send(self, notice: Notice) -> None:
            sent.append(notice)

    clock = Clock(60.0)
    alerting = Alerting({"shop": [DEEP]}, notifier=Kept([]), group_wait_s=10.0, clock=clock)
    for at, a, b in ((60.0, 500, 5), (75.0, 500, 5), (76.0, 5, 500)):
        clock.now = at
        alerting.record_event(view((queue("a", ready=a), queue("b", ready=b)), at=at))
    assert [(each.event.value, each.queues) for each in sent] == [("raised", ("a",))]
    alerting.close(0.0)
    assert [(each.event.value, each.queues) for each in sent[1:]] == [("cleared", ("a",))]


def test_who_hears_of_critical_ones_alone_hears_of_their_end() -> None:
    raised = Notice(AlertEvent.RAISED, "shop", "deep", "", ("orders",), WARNING, "", None, WALL, WALL)
    worse = replace(raised, event=AlertEvent.WORSE, severity=CRITICAL, was=WARNING)
    better = replace(raised, event=AlertEvent.BETTER, was=CRITICAL)
    heard = [
        each.for_min_severity(CRITICAL) for each in (raised, worse, better, replace(raised, event=AlertEvent.CLEARED))
    ]
    assert [each and (each.event.value, each.severity.name) for each in heard] == [
        None,
        ("raised", "CRITICAL"),
        ("cleared", "CRITICAL"),
        None,
    ]
    assert [each.for_min_severity(WARNING) for each in (raised, worse, better)] == [raised, worse, better]


# ------------------------------------------------------------------------------------------------------------ shapes

RAISED: Final = Notice(
    AlertEvent.RAISED,
    "shop",
    "everything locked",
    "session 61",
    ("mails", "orders"),
    CRITICAL,
    "everything locked: session 61 (idle in transaction, app-7) holds all 50 messages",
    None,
    WALL - 42.0,
    WALL,
)
SINGLE: Final = replace(
    RAISED, name="deep", cause="", queues=("orders",), severity=WARNING, text="depth 500, above 100"
)
OVER: Final = replace(RAISED, event=AlertEvent.CLEARED, at=WALL + 60.0)


def test_the_manual_shows_each_shape_as_it_is_sent() -> None:
    shown = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", MANUAL.read_text("utf-8"), re.DOTALL)]
    assert shown == [
        slack_message(RAISED),
        teams_message(RAISED),
        pagerduty_event(RAISED, "…"),
        pagerduty_event(OVER, "…"),
        alertmanager_alerts([RAISED], WALL, 240.0),
        notice_report(RAISED),
    ]


def test_alertmanager_knows_an_alert_by_its_labels_so_what_is_no_longer_as_bad_ends() -> None:
    (raised,) = alertmanager_alerts([SINGLE], WALL, 240.0)
    assert raised["labels"] == {"alertname": "deep", "target": "shop", "queue": "orders", "severity": "warning"}
    assert raised["endsAt"] == "2026-05-28T20:30:40.000Z"
    worse = replace(SINGLE, event=AlertEvent.WORSE, severity=CRITICAL, was=WARNING)
    now, before = alertmanager_alerts([worse], WALL, 240.0)
    assert (now["labels"]["severity"], before["labels"]) == ("critical", raised["labels"])
    assert before["endsAt"] == "2026-05-28T20:26:40.000Z"
    (over,) = alertmanager_alerts([OVER], WALL + 999.0, 240.0)
    assert over["endsAt"] == "2026-05-28T20:27:40.000Z"
    (target,) = alertmanager_alerts([replace(SINGLE, queues=())], WALL, 240.0)
    assert "queue" not in target["labels"]
    assert all(each["startsAt"] <= each["endsAt"] for each in (raised, now, before, over))


HOSTILE: Final = replace(
    SINGLE, target="<!channel>", queues=("[a]]b].[c d] <@U1> [x](http://evil)",), text=f"{NASTY} & " + "long " * 2_000
)


def test_no_name_mentions_anybody_or_steers_anything() -> None:
    message = slack_message(HOSTILE)
    assert "<" not in message["text"]
    assert message["text"].startswith("▲ WARNING &lt;!channel&gt;: [a]]b].[c d] &lt;@U1&gt;")
    assert all(block["text"]["type"] == "plain_text" for block in message["blocks"])
    (attachment,) = teams_message(HOSTILE)["attachments"]
    assert {run["type"] for block in attachment["content"]["body"] for run in block["inlines"]} == {"TextRun"}
    assert notice_headline(HOSTILE).isprintable()


@pytest.mark.parametrize("many", [1, 5_000])
def test_everything_stays_within_what_receivers_take(many: int) -> None:
    notice = replace(
        HOSTILE, queues=tuple(f"queue {number} " + "x" * 100 for number in range(many)), cause="session 61"
    )
    for block in slack_message(notice)["blocks"]:
        assert 0 < len(block["text"]["text"]) <= 3_000
    assert len(pagerduty_event(notice, "k")["payload"]["summary"]) <= MAX_SUMMARY_LENGTH
    assert len(json.dumps(teams_message(notice))) < 28_000
    assert len(json.dumps(pagerduty_event(notice, "k"))) < 512_000
