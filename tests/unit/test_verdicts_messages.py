"""Distinct owners, failures at the head, messages delivered twice, holes and orphans: sign, no sign, and boundary."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.evidence import Crashes, DoubleDelivery, QueueEvidence, Repeated, RingLoss
from qmon.model.figure import Figure
from qmon.model.layout.layout import OwnerColumn
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.message_samples import DrawerSample, MessageDiagnostics, SweepSample, TriedSample
from qmon.model.samples.polled_samples import HeadSample, HeldSample, WriterSample
from qmon.model.sessions.owners import OwnerText, count_owners
from qmon.model.snapshot import QueueSamples
from qmon.model.verdicts import RuleInput, judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.model.verdicts.message_verdicts import MessageVerdictText
from qmon.monitor.state.message_faults import CRASHED_S, CrashTrack, DoubleDeliveryTrack, TriesTrack
from qmon.monitor.state.ring_tracks import RingTrack
from tests.unit.rule_inputs import FINE, LAYOUT, POLL, client, owner


def said(signs: RuleInput, seconds: float = 0.0) -> dict[str, str]:
    _, since = judge_queue(signs, 100.0, {})
    return {v.code: v.proof for v in judge_queue(signs, 100.0 + seconds, since)[0]}


def signs(**readings: object) -> RuleInput:
    return replace(FINE, queue=replace(QueueEvidence(), **readings))  # type: ignore[arg-type]


def test_dead_owners_are_said_at_once_and_told_apart_from_living_and_unknown_ones() -> None:
    diagnostics = MessageDiagnostics(
        owners=(
            owner("7", "dead"),
            owner("8", "dead", 5.0),
            owner("9", "alive"),
            owner("10", "alive", 5.0),
            owner("11", "unknown", whose=None),
        ),
        owners_limit=100,
        proof=OwnerText.SHARED_SESSIONS,
    )
    found = count_owners(diagnostics, 300.0)
    assert found is not None
    assert (found.dead, found.alive, found.unknown, found.lost, found.at_least) == (2, 1, 1, 1, False)
    proof = said(replace(signs(owners=found), stuck=Figure(3)))["stuck in progress"]
    assert proof == (
        FlowText.LATE.render(count="3", longer=FlowText.LATE_BY_TIMEOUT.render(timeout="5 m 00 s"))
        + ": "
        + FlowText.DEAD_OWNER.render(
            more="",
            count=2,
            owner=FlowText.MESSAGE_OF_OWNER.render(
                whose=FlowText.OWNER_HAS_HAD.render(owner="812/5"),
                message="7",
                since=FlowText.FOR.render(age="6 m 40 s"),
            ),
        )
        + "; "
        + FlowText.LIVE_OWNER.render(
            more="",
            count=1,
            owner=FlowText.MESSAGE_OF_OWNER.render(
                whose=FlowText.OWNER_HAS_HAD.render(owner="812/5"),
                message="9",
                since=FlowText.FOR.render(age="6 m 40 s"),
            ),
        )
        + "; "
        + FlowText.UNKNOWN_OWNER.render(
            more="",
            count=1,
            owner=FlowText.MESSAGE_OF_OWNER.render(whose="", message="11", since=FlowText.FOR.render(age="6 m 40 s")),
            why=": " + OwnerText.SHARED_SESSIONS,
        )
    )
    early = count_owners(MessageDiagnostics(owners=(owner("8", "dead", 5.0),)), 300.0)
    assert said(signs(owners=early)) == {
        "stuck in progress": FlowText.DEAD_OWNER.render(
            more="",
            count=1,
            owner=FlowText.MESSAGE_OF_OWNER.render(
                whose=FlowText.OWNER_HAS_HAD.render(owner="812/5"), message="8", since=FlowText.FOR.render(age="5.0 s")
            ),
        )
    }
    assert "stuck in progress" not in said(
        signs(owners=count_owners(MessageDiagnostics(owners=(owner("9", "alive", 299.0),)), 300.0))
    )
    assert count_owners(MessageDiagnostics(), 300.0) is None


def died(*polls: tuple[float, list[tuple[str, str, float]]]) -> Crashes | None:
    """Return the finding after polls with dead owners: owner, message, and seconds since the pop."""
    track, found = CrashTrack(), None
    for at, rows in polls:
        dead = tuple(owner(message, "dead", age_s, whose) for whose, message, age_s in rows)
        found = track.record_poll(LAYOUT, MessageDiagnostics(owners=dead), at)
    return found


def test_consumers_that_die_one_after_the_other_are_named_with_their_message() -> None:
    loop = [(100.0, [("1/90", "7", 1.0)]), (110.0, [("2/100", "8", 5.0)]), (120.0, [("3/106", "7", 5.0)])]
    found = died(*loop)
    assert found == Crashes(3, 2, 21.0, "3/106", "7")
    verdict, *_ = judge_queue(signs(crashes=found), 100.0, {})[0]
    which = MessageVerdictText.SEVERAL.render(count=2, owner="3/106", message="7")
    assert verdict.proof == MessageVerdictText.CRASHES.render(count=3, time="21 s", which=which)
    assert (verdict.code, verdict.key) == ("consumers crash", "")
    (same, *_), _ = judge_queue(signs(crashes=replace(found, messages=1)), 100.0, {})
    assert same.key == "2"
    assert MessageVerdictText.ALWAYS_ONE.render(message="7", owner="3/106") in same.proof
    assert died(*loop, (120.0 + CRASHED_S, [])) == found
    assert died(*loop, (121.0 + CRASHED_S, [])) is None, "they died a while ago"


def test_consumers_that_a_deployment_ends_do_not_crash() -> None:
    rolling = [(100.0 + 10 * n, [(f"{n}/50", str(n), 1.0)]) for n in range(9)]
    assert died(*rolling) is None, "all had connected before the first one was ended"
    again = [(200.0 + 10 * n, [(f"{n}/150", str(n), 1.0)]) for n in range(9)]
    assert died(*rolling, *again) is None, "a second deployment"
    left = [(100.0, [("1/90", "7", 1.0)]), (110.0, [("2/100", "8", 1.0)]), (120.0, [("2/100", "8", 11.0)])]
    assert died(*left) is None, "the same consumer"
    assert died(*((at, [("61", "7", 1.0)]) for at in (100.0, 110.0, 120.0))) is None, "its start is unknown"
    expired = MessageDiagnostics(owners=(owner("7", "dead", 1.0),))
    assert CrashTrack().record_poll(replace(LAYOUT, owner=OwnerColumn("until", "lease")), expired, 100.0) is None


def test_a_cut_list_of_owners_is_a_lower_bound() -> None:
    found = count_owners(MessageDiagnostics(owners=(owner("7", "dead"), owner("8", "dead")), owners_limit=2), 300.0)
    assert said(signs(owners=found))["stuck in progress"].startswith(
        FlowText.DEAD_OWNER.render(more=FlowText.AT_LEAST, count=2, owner="")
    )


def test_where_a_transaction_holds_the_messages_its_session_is_named() -> None:
    held = QueueSamples(LAYOUT, held=(HeldSample("700", 3, True), HeldSample("701", 1, True)))
    writers = (
        WriterSample("700", 61, 900.0, "idle in transaction", "app-7"),
        WriterSample("701", 62, 5.0, "active", "b"),
    )
    held_up = replace(FINE, stuck=Figure(3), samples=held, snapshot=replace(POLL, writers=writers))
    assert said(held_up)["stuck in progress"] == (
        FlowText.LATE.render(count="3", longer=FlowText.LATE_BY_TIMEOUT.render(timeout="5 m 00 s"))
        + ": "
        + FlowText.SESSION_HOLDER.render(session=61, text="idle in transaction, app-7", age="15 m 00 s")
    )


def test_a_message_that_fails_twice_within_two_seconds_or_more_is_poison_after_its_hold() -> None:
    bad = Repeated("88", 2, 2.0, 4)
    assert said(signs(repeated=bad), 3.0) == {
        "poison message at the head": MessageVerdictText.GIVEN_BACK.render(
            message="88", failures=2, time="2.0 s", tries=MessageVerdictText.ATTEMPTS.render(count=4)
        )
    }
    assert said(signs(repeated=bad), 2.9).keys() == {"cannot tell"}
    for fine in (replace(bad, failures=1), replace(bad, seconds=1.9)):
        assert said(signs(repeated=fine), 60.0).keys() == {"healthy"}
    assert "attempts" not in said(signs(repeated=replace(bad, attempts=None)), 3.0)["poison message at the head"]


def test_the_proof_of_a_poison_message_contains_its_last_error_without_values() -> None:
    bad = Repeated("88", 2, 2.0, 4, "order 4711 of 'bob' failed")
    given_back = said(signs(repeated=replace(bad, error=None)), 3.0)["poison message at the head"]
    error = "order <n> of <text> failed"
    assert said(signs(repeated=bad), 3.0)["poison message at the head"] == MessageVerdictText.WITH_ERROR.render(
        given_back=given_back, error=error
    )
    tries = TriesTrack()
    tries.record_poll(MessageDiagnostics(owners=(replace(owner("88", "alive", attempts=2), error="first"),)), 10.0)
    tries.record_poll(MessageDiagnostics(tried=TriedSample("88", 3, "", "second")), 12.0)
    found = tries.record_poll(MessageDiagnostics(owners=(owner("88", "alive", attempts=4),)), 14.0)
    assert found == Repeated("88", 2, 4.0, 4, "second"), "the newest error that was read"


def test_attempts_that_rise_are_failures_ready_or_in_progress_and_a_new_head_is_another_message() -> None:
    tries = TriesTrack()
    assert tries.record_poll(MessageDiagnostics(tried=TriedSample("88", 1, "")), 10.0) is None
    assert tries.record_poll(MessageDiagnostics(owners=(owner("88", "alive", attempts=2),)), 12.0) == Repeated(
        "88", 1, 2.0, 2
    )
    assert tries.record_poll(MessageDiagnostics(tried=TriedSample("88", 3, ""), owners=()), 14.0) == Repeated(
        "88", 2, 4.0, 3
    )
    assert tries.record_poll(MessageDiagnostics(tried=TriedSample("90", 3, "")), 16.0) == Repeated("88", 2, 6.0, 3)
    assert tries.record_poll(MessageDiagnostics(tried=TriedSample("90", 3, "")), 18.0) is None


def test_a_message_is_followed_from_its_second_attempt_on() -> None:
    tries = TriesTrack()
    found = [
        tries.record_poll(MessageDiagnostics(owners=(owner("88", "alive", attempts=n),)), float(n)) for n in (1, 2, 3)
    ]
    assert found == [None, None, Repeated("88", 1, 1.0, 3)]


@pytest.mark.parametrize(("back_at", "found"), [(36.0, Repeated("5", 1, 36.0, None)), (36.1, None)])
def test_a_message_that_is_away_while_it_is_popped_may_come_back(back_at: float, found: Repeated | None) -> None:
    """The server hides rows that are being popped, and a transaction may hold the message."""
    tries, there = TriesTrack(), MessageDiagnostics(tried=TriedSample("5", None, "0"))
    for at in (0.0, 6.0):
        assert tries.record_poll(there, at) is None
    for at in (8.0, 10.0, back_at - 0.01 if found else back_at):
        assert tries.record_poll(MessageDiagnostics(), at, head=HeadSample("6", 1.0, 9), none_held=False) is None
    assert tries.record_poll(there, back_at) == found


def test_marks_that_change_while_the_head_stays_are_failures() -> None:
    tries = TriesTrack()
    marks = ["0", "700", "700", "701", "702"]
    *_, found = [
        tries.record_poll(MessageDiagnostics(tried=TriedSample("5", None, mark)), float(at))
        for at, mark in enumerate(marks)
    ]
    assert found == Repeated("5", 2, 4.0, None)
    assert tries.record_poll(MessageDiagnostics(tried=TriedSample("6", None, "0")), 5.0) == replace(found, seconds=5.0)
    assert tries.record_poll(MessageDiagnostics(tried=TriedSample("6", None, "0")), 6.0) is None


def hands(
    track: DoubleDeliveryTrack, at: float, whose: str, age_s: float, *clients: ProgramSessionSample
) -> tuple[DoubleDelivery, ...]:
    diagnostics = MessageDiagnostics(owners=(owner("7", "alive", age_s, whose),))
    return track.record_poll(replace(POLL, sampled_at=at, clients=clients), LAYOUT, diagnostics)


def test_a_message_popped_again_while_its_first_owner_is_silent_since_is_in_two_hands() -> None:
    track = DoubleDeliveryTrack()
    assert hands(track, 100.0, "61/5", 10.0, client(61, 10.0), client(62, 1.0)) == ()
    found = hands(track, 102.0, "62/5", 1.0, client(61, 12.0), client(62, 1.0))
    assert found == (DoubleDelivery("7", "61/5", "62/5", 12.0),)
    assert said(signs(twice=found), 1.9).keys() == {"cannot tell"}
    assert said(signs(twice=found), 2.0) == {
        "delivered twice": MessageVerdictText.POPPED_TWICE.render(
            message="7", second="62/5", first="61/5", age="12 s", more=""
        )
    }
    assert hands(track, 104.0, "62/5", 3.0, client(61, 14.0), client(62, 3.0)) != ()
    assert hands(track, 106.0, "62/5", 5.0, client(61, 0.5), client(62, 5.0)) == ()


def test_an_owner_that_has_run_something_since_or_is_gone_or_another_session_may_have_given_it_back() -> None:
    for first in ((), (client(61, 3.0),), (replace(client(61, 12.0), started_at=9.0),)):
        track = DoubleDeliveryTrack()
        hands(track, 100.0, "61/5", 10.0, client(61, 10.0))
        assert hands(track, 102.0, "62/5", 1.0, *first, client(62, 1.0)) == ()


def sweep(hole: int | None = None, orphan: int | None = None, pop_last: int = 90, start: int = 0) -> SweepSample:
    return SweepSample(
        start, 120, pop_last, int(hole is not None), hole, int(orphan is not None), orphan, orphan and 40.0
    )


def test_a_hole_is_one_that_consumers_have_drawn_and_its_drawer_is_named_while_there_is_one() -> None:
    ring = RingTrack()
    producer = DrawerSample(9, 61, "shop", "idle in transaction", 30.0)
    assert ring.record_poll(MessageDiagnostics(sweep=sweep(hole=91)), 1000, 10.0) == RingLoss(swept=1.0)
    ring.record_poll(MessageDiagnostics(sweep=sweep(hole=80), push_drawers=(producer,)), 1000, 12.0)
    loss = ring.record_poll(MessageDiagnostics(sweep=sweep(hole=80), push_drawers=(producer,)), 1000, 18.0)
    assert loss == RingLoss(80, 6.0, producer, swept=1.0)
    assert said(signs(ring_loss=loss), 5.0)["ring hole"] == (
        MessageVerdictText.MAY_PUSH.render(
            waited=MessageVerdictText.NUMBER_WITHOUT_MESSAGE.render(number=80, age="6.0 s"),
            drawer=MessageVerdictText.SESSION.render(session=61) + " (idle in transaction, shop)",
        )
    )
    proven = ring.record_poll(
        MessageDiagnostics(sweep=sweep(hole=80), push_drawers=(replace(producer, transaction_s=1.0),)), 1000, 20.0
    )
    assert said(signs(ring_loss=proven), 5.0)["ring hole"] == MessageVerdictText.NO_TRANSACTION.render(
        waited=MessageVerdictText.NUMBER_WITHOUT_MESSAGE.render(number=80, age="8.0 s")
    )
    assert said(signs(ring_loss=proven), 4.9).keys() == {"cannot tell"}
    assert ring.record_poll(MessageDiagnostics(sweep=sweep()), 1000, 22.0) == RingLoss(swept=1.0)
    assert ring.record_poll(MessageDiagnostics(), 1000, 24.0) is None


def test_an_orphan_must_be_seen_in_two_sweeps_of_its_slots() -> None:
    ring = RingTrack()
    first = ring.record_poll(MessageDiagnostics(sweep=sweep(orphan=70)), 2000, 10.0)
    assert first == RingLoss(swept=0.5)
    ring.record_poll(MessageDiagnostics(sweep=sweep(start=1000)), 2000, 12.0)
    loss = ring.record_poll(MessageDiagnostics(sweep=sweep(orphan=70)), 2000, 14.0)
    assert loss == RingLoss(orphans=1, orphan=70, orphan_s=40.0, swept=1.0)
    assert said(signs(ring_loss=loss), 5.0) == {
        "ring orphans": MessageVerdictText.ORPHANS.render(
            count=MessageVerdictText.ONE_MESSAGE,
            number=70,
            age=MessageVerdictText.PUSHED.render(age="40 s"),
            swept="",
            waits="",
        )
    }
    consumer = DrawerSample(10, 77, "mailer", "idle in transaction", 50.0)
    held = ring.record_poll(MessageDiagnostics(sweep=sweep(orphan=70), pop_drawers=(consumer,)), 2000, 15.0)
    assert said(signs(ring_loss=held), 5.0)["ring orphans"].endswith(
        MessageVerdictText.PUSHED.render(age="40 s")
        + MessageVerdictText.MAY_POP.render(
            drawer=MessageVerdictText.SESSION.render(session=77) + " (idle in transaction, mailer)"
        )
    )
    assert ring.record_poll(MessageDiagnostics(sweep=sweep(orphan=75)), 2000, 16.0) == RingLoss(swept=1.0)
