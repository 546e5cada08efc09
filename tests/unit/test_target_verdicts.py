"""Verdicts about the whole target are judged once. Its queues share them, and each alert on them is one alert."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.alerts.alert_rules import AlertRule
from qmon.model.alerts.latches import raised_alerts, record_view
from qmon.model.alerts.notices import notices_for
from qmon.model.alerts.target_check import CheckState, check_target
from qmon.model.figure import Severity
from qmon.model.samples.server_state_samples import LogSample, ServerState
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.verdicts import server_health_verdicts
from qmon.model.verdicts.judge import CANNOT_TELL, TARGET_CODES
from qmon.model.view import View
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import COUNTERS, fifo, poll

FULL = ServerState(log=LogSample(100, 99, 100, "", None, None), read_at={"log": 1000.0})
EVERY = AlertRule("every", verdicts=("*",))


def three() -> tuple[QueueSamples, ...]:
    sample = fifo(COUNTERS)
    return tuple(replace(sample, layout=replace(sample.layout, queue=name)) for name in ("mails", "orders", "refunds"))


def polled(state: ServerState | None = FULL) -> Snapshot:
    return replace(poll(1, 1000.0, *three()), server_state=state)


def seen(state: ServerState | None = FULL) -> View:
    return TargetHistory().record_snapshot(polled(state))


def test_a_rule_about_the_target_runs_once_for_all_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[LogSample] = []
    read = server_health_verdicts.log_share_used

    def count(log: LogSample) -> float | None:
        runs.append(log)
        return read(log)

    monkeypatch.setattr(server_health_verdicts, "log_share_used", count)
    TargetHistory().record_snapshot(replace(polled(), queues=three()[:1]))
    of_one_queue = len(runs)
    view = seen()
    assert [each.code for each in view.server.verdicts] == ["log full"]
    assert len(runs) == 2 * of_one_queue, "the poll with three queues runs them as often"
    assert {id(queue.verdict) for queue in view.queues} == {id(view.server.verdicts[0])}


def test_a_verdict_about_the_target_lasts_while_it_is_not_read() -> None:
    history = TargetHistory()
    history.record_snapshot(polled())
    later = replace(poll(2, 1002.0, *three()), server_state=None)
    view = history.record_snapshot(later)
    assert view.server.verdicts == ()
    assert {"log full", "log filling"} <= view.server.undecided
    assert all({"log full", "log filling"} <= queue.undecided for queue in view.queues)


def test_a_rule_that_fails_leaves_no_queue_healthy_and_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: LogSample) -> float:
        raise ValueError("broken")

    monkeypatch.setattr(server_health_verdicts, "log_share_used", fail)
    view = seen()
    assert {queue.verdict.code for queue in view.queues} == {CANNOT_TELL}
    assert sorted(each.probe for each in view.failures) == ["fault: rule log filling", "fault: rule log full"]
    assert not any(queue.failures for queue in view.queues)


@pytest.mark.parametrize(
    ("queues", "count"), [(("*",), 1), (("orders", "mails"), 1), (("other*",), 0)], ids=["all", "two", "none"]
)
def test_an_alert_on_it_is_one_alert_about_the_target(queues: tuple[str, ...], count: int) -> None:
    view = seen()
    alerts = raised_alerts(record_view((replace(EVERY, queues=queues),), view, {}))
    assert [(each.queue, each.code, each.severity) for each in alerts] == [("", "log full", Severity.CRITICAL)] * count
    found = notices_for("shop", alerts, 0.0, 0.0).values()
    assert [(each.name, each.cause, each.queues) for each in found] == [("log full", "the log", ())] * count


def test_an_alert_on_it_ends_with_the_verdict_and_not_while_it_is_unread() -> None:
    raised = record_view((EVERY,), seen(), {})
    unread = replace(seen(None), taken_at=seen().taken_at + 10)
    assert [each.code for each in raised_alerts(record_view((EVERY,), unread, raised))] == ["log full"]
    empty = seen(replace(FULL, log=LogSample(100, 5, 100, "", None, None)))
    assert raised_alerts(record_view((EVERY,), replace(empty, taken_at=unread.taken_at), raised)) == ()


@pytest.mark.parametrize("rules", [(), (EVERY,)], ids=["by severity", "by a rule"])
def test_a_check_has_one_problem_about_the_target(rules: tuple[AlertRule, ...]) -> None:
    result = check_target(seen(), rules)
    assert result.state is CheckState.CRITICAL
    assert [problem.queue for problem in result.problems if problem.state is CheckState.CRITICAL] == [""]


def test_a_check_of_one_queue_also_has_it() -> None:
    result = check_target(seen(), (), ["orders"])
    assert result.problems[0].queue == ""
    assert result.problems[0].state is CheckState.CRITICAL


def test_rules_about_queues_are_not_about_the_target() -> None:
    assert {"log full", "failed over", "replica behind"} <= TARGET_CODES
    assert not TARGET_CODES & {"no pops", "everything locked", "plan regressed"}
