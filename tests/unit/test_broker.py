"""Service Broker: its signs, their start, the moment it is read, its recording and its report."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.cli.commands.status import status_rows
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sqlserver.sqlserver_engine import AZURE, SqlServer
from qmon.model.alerts.alert_rules import AlertRule, Cause
from qmon.model.alerts.latches import Alert, Latch, LatchKey, raised_alerts, record_view
from qmon.model.alerts.target_check import CheckState, check_target
from qmon.model.figure import Figure, Severity
from qmon.model.samples.broker_samples import (
    Broker,
    BrokerMonitorSample,
    BrokerQueueSample,
    ConversationsSample,
    TransmissionSample,
)
from qmon.model.samples.polled_samples import ServerSample
from qmon.model.service_broker import (
    BrokerQueue,
    BrokerText,
    BrokerView,
    Finding,
    conversations_finding,
    queue_finding,
    queue_state,
    sending_finding,
)
from qmon.model.snapshot import Snapshot
from qmon.model.status_report import status_object
from qmon.monitor.probes.broker_probes import BrokerReadings
from qmon.monitor.probes.probe_statements import Results, StatementCache
from qmon.monitor.probes.target_probes import TargetProbes
from qmon.monitor.state.broker_track import BrokerTrack
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.format.codec import decode, encode
from tests.wordings import has

QUEUE = BrokerQueueSample(501, "dbo", "Orders]Q", 12, True, True, True, "[dbo].[handle]", 5, True)
PLAIN = replace(QUEUE, activates=False, procedure="")
IDLE = BrokerMonitorSample(501, "INACTIVE", 4.0, 600.0, 0, 0)
SENT = TransmissionSample(True, 40, 40, 250.0, "//shop/billing", "")
POLL = Snapshot(
    "t", "sqlserver", "16.0", 1, 1000.0, 0.0, 1.0, 1.0, 0, 2.0, ServerSample(1000.0, 1.0, None, False, 5, 0, 0, 0)
)


def said(
    sample: BrokerQueueSample, monitor: BrokerMonitorSample | None = IDLE, *, enabled: bool = True
) -> Finding | None:
    return queue_finding(sample, monitor, monitored=True, enabled=enabled)


@pytest.mark.parametrize(
    ("sample", "proof"),
    [
        pytest.param(
            replace(QUEUE, receives=False, enqueues=False),
            BrokerText.OFF.render(
                what="receive and enqueue",
                are="are",
                cause=BrokerText.POISON,
                depth=BrokerText.QUEUED.render(depth=12),
                command=BrokerText.TURN_ON,
            ),
            id="both",
        ),
        pytest.param(
            replace(QUEUE, receives=False, poison_handling=False, depth=None),
            BrokerText.OFF.render(what="receive", are="is", cause="", depth="", command=BrokerText.TURN_ON),
            id="receive, by somebody",
        ),
        pytest.param(
            replace(PLAIN, enqueues=False, depth=0),
            BrokerText.OFF.render(what="enqueue", are="is", cause="", depth="", command=BrokerText.TURN_ON),
            id="enqueue",
        ),
    ],
)
def test_a_queue_that_is_off_is_said_at_once_with_what_turns_it_on(sample: BrokerQueueSample, proof: str) -> None:
    assert said(sample) == Finding("queue disabled", Severity.CRITICAL, 0.0, proof)


def test_activation_that_nobody_does_is_said_after_two_readings() -> None:
    for monitor in (None, replace(IDLE, state="DROPPED")):
        found = said(QUEUE, monitor)
        assert found is not None
        assert (found.code, found.severity, found.hold_s) == ("not activated", Severity.WARNING, 15.0)
        assert has(
            found.proof,
            BrokerText.ACTIVATION_WITHOUT_MONITOR,
            procedure="[dbo].[handle]",
            depth=BrokerText.QUEUED.render(depth=12),
        )
    assert queue_finding(QUEUE, None, monitored=False, enabled=True) is None, "some may exist unseen"
    assert said(PLAIN, None) is None


def test_a_procedure_that_was_started_and_does_not_receive_is_said() -> None:
    started = BrokerMonitorSample(501, "NOTIFIED", None, 130.0, 0, 0)
    found = said(QUEUE, started)
    assert found is not None
    assert found.proof == BrokerText.DOES_NOT_RECEIVE.render(
        procedure="[dbo].[handle]", age="2 m 10 s", depth=BrokerText.QUEUED.render(depth=12)
    )
    fine = (replace(started, activated_s=9.9), replace(started, tasks=1), replace(started, state="RECEIVES_OCCURRING"))
    assert [said(QUEUE, monitor) for monitor in (*fine, replace(started, activated_s=None))] == [None] * 4
    assert said(replace(QUEUE, depth=0), started) is None


def test_a_database_whose_service_broker_is_off_says_that_and_nothing_else() -> None:
    found = said(QUEUE, None, enabled=False)
    assert found is not None
    assert found.proof == BrokerText.ACTIVATION_WITHOUT_BROKER.render(
        depth=BrokerText.QUEUED.render(depth=12), command=BrokerText.ENABLE
    )
    assert found.hold_s == 0.0


@pytest.mark.parametrize(
    ("sample", "growth", "severity", "proof"),
    [
        pytest.param(
            replace(SENT, status="The target queue is disabled."),
            3.25,
            Severity.WARNING,
            BrokerText.NOT_DELIVERED.render(messages=BrokerText.MESSAGES.render(more="", count=40, plural="s"))
            + ": The target queue is disabled. (//shop/billing)"
            + BrokerText.GROWTH.render(rate=3.25)
            + BrokerText.WAITS.render(age="4 m 10 s"),
            id="why",
        ),
        pytest.param(
            SENT,
            0.05,
            Severity.NOTICE,
            BrokerText.NOT_DELIVERED.render(messages=BrokerText.MESSAGES.render(more="", count=40, plural="s"))
            + BrokerText.GROWTH.render(rate=0.1)
            + BrokerText.WAITS.render(age="4 m 10 s"),
            id="grows",
        ),
        pytest.param(
            replace(SENT, enabled=False, messages=1, oldest_s=None),
            None,
            Severity.CRITICAL,
            BrokerText.NOT_DELIVERED.render(messages=BrokerText.MESSAGES.render(more="", count=1, plural=""))
            + ": "
            + BrokerText.BROKER_OFF_HERE.render(command=BrokerText.ENABLE),
            id="broker off",
        ),
        pytest.param(
            replace(SENT, messages=None, counted=100, status="No route.", service=""),
            None,
            Severity.WARNING,
            BrokerText.NOT_DELIVERED.render(
                messages=BrokerText.MESSAGES.render(more=BrokerText.AT_LEAST, count=100, plural="s")
            )
            + ": No route."
            + BrokerText.WAITS.render(age="4 m 10 s"),
            id="not counted for us",
        ),
    ],
)
def test_what_is_not_delivered_is_said_with_the_reason(
    sample: TransmissionSample, growth: float | None, severity: Severity, proof: str
) -> None:
    found = sending_finding(sample, growth)
    assert found is not None
    assert (found.code, found.severity, found.proof) == ("not sent", severity, proof)


def test_messages_on_their_way_are_no_finding() -> None:
    assert sending_finding(SENT, 0.04) is None
    assert sending_finding(SENT, -5.0) is None
    assert sending_finding(replace(SENT, messages=0, status="old"), 1.0) is None


@pytest.mark.parametrize(
    ("sample", "monitor", "monitored", "word"),
    [
        pytest.param(replace(QUEUE, receives=False, enqueues=False), IDLE, True, "off", id="off"),
        pytest.param(replace(QUEUE, receives=False), IDLE, True, BrokerText.HALF_OFF, id="half"),
        pytest.param(QUEUE, IDLE, True, "idle", id="idle"),
        pytest.param(PLAIN, replace(IDLE, state="RECEIVES_OCCURRING"), True, "receiving", id="receiving"),
        pytest.param(QUEUE, replace(IDLE, state="NOTIFIED"), True, "notified", id="notified"),
        pytest.param(QUEUE, replace(IDLE, state="NEW WORD"), True, "new word", id="unheard of"),
        pytest.param(QUEUE, None, True, BrokerText.NO_MONITOR, id=BrokerText.NO_MONITOR),
        pytest.param(QUEUE, None, False, BrokerText.NOT_SEEN, id=BrokerText.NOT_SEEN),
        pytest.param(PLAIN, None, True, BrokerText.NO_ACTIVATION, id=BrokerText.NO_ACTIVATION),
    ],
)
def test_the_state_of_a_queue_in_a_word(
    sample: BrokerQueueSample, monitor: BrokerMonitorSample | None, monitored: bool, word: str
) -> None:
    assert queue_state(BrokerQueue(sample, monitor, Figure(0.0)), monitored=monitored) == word


def fold(track: BrokerTrack, at: float, broker: Broker | None) -> BrokerView | None:
    return track.record_poll(replace(POLL, sampled_at=at, broker=broker))


def test_a_sign_is_said_once_it_has_lasted_and_anew_when_it_was_gone() -> None:
    track, lone = BrokerTrack(), Broker(1000.0, (QUEUE,), ())
    codes = []
    for at, broker in (
        (1000.0, lone),
        (1014.9, lone),
        (1015.0, lone),
        (1016.0, replace(lone, monitors=(IDLE,))),
        (1020.0, lone),
        (1034.0, lone),
        (1035.0, lone),
    ):
        found = fold(track, at, broker)
        assert found is not None
        codes.append(found.queues[0].verdict and (found.queues[0].verdict.code, found.queues[0].verdict.since_at))
    assert codes == [None, None, ("not activated", 1000.0), None, None, None, ("not activated", 1020.0)]


@pytest.mark.parametrize(("away_s", "since"), [(30.0, 1000.0), (90.0, None)], ids=["a break", "too long"])
def test_what_was_wrong_goes_on_after_a_break(away_s: float, since: float | None) -> None:
    track, lone = BrokerTrack(), Broker(1000.0, (QUEUE,), ())
    for at in (1000.0, 1015.0):
        assert fold(track, at, lone) is not None
    assert fold(track, 1000.0 + away_s, None) is None, "not read yet on the new connection"
    back = fold(track, 1001.0 + away_s, replace(lone, read_at=1001.0 + away_s))
    assert back is not None
    verdict = back.queues[0].verdict
    assert (verdict and verdict.since_at) == since


def test_what_is_not_delivered_grows_by_so_many_a_second_of_the_last_minute() -> None:
    track, found = BrokerTrack(), list[BrokerView]()
    for step, messages in enumerate((100, 130, 160, 160, 160, 160, 160, 160, 100)):
        at = 1000.0 + 10 * step
        for poll in (at, at + 5.0):  # between two readings the last one is valid
            now = fold(track, poll, Broker(at, (QUEUE,), (), replace(SENT, messages=messages)))
            assert now is not None
            assert now.age_s == poll - at
            found.append(now)
    growths = [each.growth for each in found[1::2]]
    assert growths[:3] == [None, 3.0, 3.0]
    assert growths[-2:] == [pytest.approx(0.5), -1.0]
    assert found[-1].sending == Figure(100.0, estimated=True)


def test_the_worst_queue_is_first_then_the_deepest_and_unknown_depths_are_no_zero() -> None:
    queues = (
        replace(PLAIN, queue_id=1, queue="a", depth=5),
        replace(PLAIN, queue_id=2, queue="b", depth=None),
        replace(PLAIN, queue_id=3, queue="c", depth=9),
        replace(PLAIN, queue_id=4, queue="d", depth=0, enqueues=False),
    )
    found = fold(BrokerTrack(), 1000.0, Broker(1000.0, queues))
    assert found is not None
    assert [queue.name for queue in found.queues] == ["dbo.d", "dbo.c", "dbo.a", "dbo.b"]
    assert found.queues[-1].depth.value is None
    assert found.queues[1].depth == Figure(9.0, estimated=True)
    assert found.sending.value is None
    assert not found.monitored


def asked(probes: TargetProbes, now: float) -> list[str]:
    return [job.probe for job in probes.statements_for_poll(now) if job.probe.startswith("broker")]


def test_it_is_read_every_ten_seconds_and_the_rest_only_where_there_are_queues() -> None:
    probes, readings = TargetProbes(StatementCache(SqlServer(), (16, 0))), BrokerReadings()
    rest = {("", "broker_monitors"): (IDLE,), ("", "broker_transmission"): (SENT,)}

    def record(results: Results, now_at: float) -> Broker | None:
        probes.record_results(results, (), now_at)
        return readings.record_results(results, now_at)

    assert asked(probes, 0.0) == ["broker_queues"]
    assert record({("", "broker_queues"): ()}, 1000.0) is None
    assert asked(probes, 9.9) == []
    assert asked(probes, 10.0) == ["broker_queues"]
    assert record({("", "broker_queues"): (QUEUE,)}, 1010.0) == Broker(1010.0, (QUEUE,))
    first = ["broker_queues", "broker_monitors", "broker_transmission", "broker_conversations"]
    assert asked(probes, 11.0) == first
    whole = record({("", "broker_queues"): (QUEUE,), **rest}, 1011.0)
    assert whole == Broker(1011.0, (QUEUE,), (IDLE,), SENT)
    assert asked(probes, 12.0) == []
    assert record({}, 1071.0) == whole
    assert record({}, 1071.1) is None
    assert record({("", "broker_queues"): ()}, 1072.0) is None
    assert asked(probes, 21.0) == ["broker_queues"], "the other probes need a queue"
    assert record({("", "broker_queues"): (QUEUE,)}, 1082.0) == Broker(1082.0, (QUEUE,))
    assert asked(probes, 22.0) == first[:3], "all are read in the same poll"


def test_conversations_are_counted_every_minute_and_stand_in_between() -> None:
    probes, readings = TargetProbes(StatementCache(SqlServer(), (16, 0))), BrokerReadings()
    talks = ConversationsSample(7, 7, 0, 0)
    probes.record_results({("", "broker_queues"): (QUEUE,)}, (), 1000.0)
    assert "broker_conversations" in asked(probes, 0.0)
    readings.record_results({("", "broker_queues"): (QUEUE,), ("", "broker_conversations"): (talks,)}, 1000.0)
    assert "broker_conversations" not in asked(probes, 59.0)
    found = readings.record_results({("", "broker_queues"): (QUEUE,)}, 1059.0)
    assert found is not None
    assert found.conversations == talks
    assert "broker_conversations" in asked(probes, 69.0)


def test_conversations_that_nobody_ends_are_said_and_alerts_and_the_report_know_it() -> None:
    assert conversations_finding(ConversationsSample(4_999, 4_000, 999, 0)) is None
    left = conversations_finding(ConversationsSample(1_500, 400, 1_100, 0))
    assert left is not None
    assert left.proof == (
        BrokerText.END_CONVERSATIONS.render(
            conversations=BrokerText.CONVERSATIONS.render(more="", count=1500),
            sides="1,100 " + BrokerText.ENDED_BY_OTHER + ", 400 " + BrokerText.ENDED_BY_NEITHER,
        )
    )
    many = Broker(1000.0, (QUEUE,), (IDLE,), SENT, ConversationsSample(5_000, 0, 0, 5_000))
    found = fold(BrokerTrack(), 1000.0, many)
    assert found is not None
    (leak,) = found.verdicts["sys.conversation_endpoints"]
    assert (leak.code, leak.proof) == (
        "conversations leak",
        BrokerText.END_CONVERSATIONS.render(
            conversations=BrokerText.CONVERSATIONS.render(more=BrokerText.AT_LEAST, count=5000),
            sides="5,000 " + BrokerText.ENDED_BY_THIS,
        ),
    )
    view = TargetHistory().record_snapshot(replace(POLL, broker=many))
    rule = AlertRule("any", verdicts=("conversations leak",), severity=Severity.WARNING)
    (alert,) = raised_alerts(record_view([rule], view, {}))
    assert (alert.queue, alert.code) == ("sys.conversation_endpoints", "conversations leak")
    assert status_object(view)["service_broker"]["conversations"]["verdict"]["code"] == "conversations leak"
    assert [row[0] for row in status_rows(view)[1]][-1] == "sys.conversation_endpoints"


def test_that_the_last_queue_has_gone_is_said_once() -> None:
    probes = BrokerReadings()
    probes.record_results({("", "broker_queues"): (QUEUE,)}, 1000.0)
    assert probes.record_results({("", "broker_queues"): ()}, 1010.0) == Broker(1010.0, ())
    assert probes.record_results({}, 1012.0) == Broker(1010.0, ())
    assert probes.record_results({("", "broker_queues"): ()}, 1020.0) is None


def test_other_engines_are_not_asked() -> None:
    assert asked(TargetProbes(StatementCache(Postgres(), (18, 0))), 0.0) == []
    jobs = TargetProbes(StatementCache(SqlServer(), (AZURE, 0))).statements_for_poll(0.0)
    (job,) = (each for each in jobs if each.probe == "broker_queues")
    assert "sys." not in job.bound.statement.text, "Azure SQL Database has no Service Broker"


def test_a_recording_and_the_report_hold_it() -> None:
    poll = replace(POLL, broker=Broker(999.0, (QUEUE, replace(PLAIN, queue_id=2)), (IDLE,), SENT))
    read = decode(Snapshot, encode(poll))
    assert read.broker == poll.broker
    told = status_object(TargetHistory().record_snapshot(read))["service_broker"]
    assert told["read_seconds_ago"] == 1.0
    assert told["not_delivered"] == {"messages": 40.0, "verdict": None}
    assert [(q["name"], q["depth"], q["state"], q["tasks"]) for q in told["queues"]] == [
        ("dbo.Orders]Q", 12.0, "idle", 0),
        ("dbo.Orders]Q", 12.0, BrokerText.NO_ACTIVATION, None),
    ]
    assert "service_broker" not in status_object(TargetHistory().record_snapshot(POLL))


def test_the_status_in_text_has_a_row_for_each() -> None:
    sent = replace(SENT, status="No route.")
    broker = Broker(1000.0, (QUEUE, replace(PLAIN, queue_id=2, queue="Plain", depth=None)), (IDLE,), sent)
    _, rows = status_rows(TargetHistory().record_snapshot(replace(POLL, broker=broker)))
    assert [(row[0], row[1], row[2], row[-1]) for row in rows] == [
        ("dbo.Orders]Q", "service_broker", "~12", "idle"),
        ("dbo.Plain", "service_broker", "–", BrokerText.NO_ACTIVATION),
        (
            "sys.transmission_queue",
            "service_broker",
            "~40",
            "not sent"
            + ": "
            + BrokerText.NOT_DELIVERED.render(messages=BrokerText.MESSAGES.render(more="", count=40, plural="s"))
            + ": No route. (//shop/billing)"
            + BrokerText.WAITS.render(age="4 m 10 s"),
        ),
    ]
    assert status_rows(TargetHistory().record_snapshot(POLL))[1] == []


# ---------------------------------------------------------------------------------------------------------- alerts

OFF = replace(QUEUE, receives=False)
EVERY = AlertRule("any", verdicts=("*",))


def raised(rule: AlertRule, *brokers: Broker | None) -> list[list[Alert]]:
    """Return the raised alerts after each poll. Polls are two seconds apart, and each reads the broker again."""
    history, memory, out = TargetHistory(), dict[LatchKey, Latch](), []
    for step, broker in enumerate(brokers):
        at = 1000.0 + 2 * step
        broker = broker and replace(broker, read_at=at)
        view = history.record_snapshot(replace(POLL, sampled_at=at, taken_at=at, sequence=step, broker=broker))
        memory = record_view([rule], view, memory)
        out.append(list(raised_alerts(memory)))
    return out


def test_an_alert_is_raised_by_its_verdicts_and_cleared_when_they_are_over() -> None:
    fine = Broker(0.0, (QUEUE,), (IDLE,), replace(SENT, messages=0, counted=0))
    before, during, after = raised(EVERY, fine, replace(fine, queues=(OFF,)), fine)
    assert (before, after) == ([], [])
    (alert,) = during
    assert (alert.queue, alert.severity) == ("dbo.Orders]Q", Severity.CRITICAL)
    assert has(alert.text, BrokerText.OFF, what="receive", are="is")
    *_, unread, gone = raised(EVERY, replace(fine, queues=(OFF,)), None, replace(fine, queues=()))
    assert (len(unread), gone) == (1, [])
    assert raised(replace(EVERY, queues=("orders",)), replace(fine, queues=(OFF,))) == [[]]
    assert raised(AlertRule("deep", "ready", warn=1.0), replace(fine, queues=(OFF,))) == [[]]


def test_what_is_not_read_clears_nothing_and_a_queue_that_is_gone_is_forgotten() -> None:
    other = replace(PLAIN, queue_id=2, queue="b")
    off = Broker(0.0, (OFF, other), (IDLE,), replace(SENT, status="No route."))
    first, unread, gone = raised(EVERY, off, None, replace(off, queues=(other,)))
    assert [alert.queue for alert in first] == ["dbo.Orders]Q", "sys.transmission_queue"]
    assert unread == first
    assert [alert.queue for alert in gone] == ["sys.transmission_queue"]
    for blind in (replace(off, transmission=None), replace(off, transmission=replace(SENT, messages=None, counted=0))):
        assert [alert.queue for alert in raised(EVERY, off, blind)[1]] == ["dbo.Orders]Q", "sys.transmission_queue"]
    lone, code = Broker(0.0, (QUEUE,), ()), AlertRule("not started", verdicts=("not activated",))
    polls = [*[lone] * 9, replace(lone, monitors=None), replace(lone, monitors=(IDLE,))]
    assert [len(found) for found in raised(code, *polls)] == [0] * 8 + [1, 1, 0]


def test_service_broker_that_is_off_is_one_cause_for_all_its_queues() -> None:
    off = Broker(0.0, (QUEUE, replace(QUEUE, queue_id=2, queue="b")), (), replace(SENT, enabled=False))
    (found,) = raised(EVERY, off)
    assert {(alert.queue, alert.cause) for alert in found} == {
        ("dbo.Orders]Q", Cause("not activated", BrokerText.BROKER_IS_OFF)),
        ("dbo.b", Cause("not activated", BrokerText.BROKER_IS_OFF)),
        ("sys.transmission_queue", Cause("not sent", BrokerText.BROKER_IS_OFF)),
    }


def test_a_check_judges_them_too() -> None:
    off = Broker(1000.0, (OFF, replace(PLAIN, queue_id=2, queue="b")), (IDLE,), replace(SENT, messages=0, counted=0))

    def state_of(broker: Broker, *rules: AlertRule, wanted: tuple[str, ...] = ()) -> CheckState:
        return check_target(TargetHistory().record_snapshot(replace(POLL, broker=broker)), rules, wanted).state

    fine = replace(off, queues=(QUEUE,))
    assert state_of(off) is CheckState.CRITICAL
    assert state_of(off, replace(EVERY, severity=Severity.WARNING)) is CheckState.WARNING
    assert state_of(off, AlertRule("deep", "ready", warn=1.0)) is CheckState.OK, "only the rules' signs count"
    assert state_of(off, wanted=("dbo.b",)) is CheckState.OK
    assert state_of(fine) is CheckState.OK
    assert state_of(replace(fine, monitors=None)) is CheckState.UNKNOWN
    assert state_of(replace(fine, transmission=None), EVERY) is CheckState.UNKNOWN
    assert state_of(fine, wanted=("dbo.c",)) is CheckState.UNKNOWN
