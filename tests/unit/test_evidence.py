"""Evidence: data that a poll left out keeps its previous value for a while."""

from __future__ import annotations

from dataclasses import fields, replace

from qmon.model.evidence import DoubleDelivery, QueueEvidence
from qmon.model.figure import Figure
from qmon.model.layout.layout import ObjectName, Ring
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.message_samples import MessageDiagnostics, SweepSample
from qmon.model.samples.polled_samples import HeadSample
from qmon.model.sessions.clients import SessionIndex
from qmon.model.sessions.owners import Owners
from qmon.model.snapshot import ProbeFailure, QueueSamples, Snapshot
from qmon.model.waits.queue_lock import QueueLockText
from qmon.monitor.state.diagnosis import EVIDENCE_PROBES, QueueDiagnosis
from tests.unit.blocking import waiting
from tests.unit.polls import COUNTERS
from tests.unit.rule_inputs import LAYOUT, POLL, client, owner

DONE = Figure.unknown("nothing is done")
FULL = replace(POLL, clients=(client(61, 1.0),))
SEEN = SessionIndex(FULL.clients or ())
READ = QueueSamples(LAYOUT, diagnostics=MessageDiagnostics(owners=(owner("7", "dead", 5.0),)))
LEFT = QueueSamples(LAYOUT, left_out=("owners",))


def test_what_was_left_out_is_what_it_was_and_who_is_connected_for_half_a_minute() -> None:
    evidence = QueueDiagnosis()
    first = evidence.record_poll(FULL, READ, DONE, SEEN)
    assert first.owners is not None
    assert first.consumers is not None
    later = evidence.record_poll(replace(POLL, sampled_at=1020.0), LEFT, DONE, None)
    assert (later.owners, later.consumers) == (first.owners, first.consumers)
    gone = evidence.record_poll(replace(POLL, sampled_at=1031.0), LEFT, DONE, None)
    assert (gone.owners, gone.consumers) == (first.owners, None)
    assert evidence.record_poll(replace(FULL, sampled_at=1032.0), QueueSamples(LAYOUT), DONE, SEEN).owners is None


def test_what_fails_to_be_read_is_what_it_was_for_half_a_minute_and_goes_on_when_it_is_read_again() -> None:
    evidence = QueueDiagnosis()
    first = evidence.record_poll(FULL, READ, DONE, SEEN)
    assert first.owners is not None

    def failing(at: float) -> Owners | None:
        poll = replace(FULL, sampled_at=at, failures=(ProbeFailure("owners", "no answer", LAYOUT.queue),))
        return evidence.record_poll(poll, QueueSamples(LAYOUT), DONE, SEEN).owners

    assert failing(1010.0) == first.owners
    assert failing(1039.0) == first.owners
    assert failing(1041.0) is None, "old is not fresh"
    assert evidence.record_poll(replace(FULL, sampled_at=1042.0), READ, DONE, SEEN).owners == first.owners


def test_each_field_says_which_probes_it_comes_from_so_that_it_is_forgotten_when_they_fail_for_long() -> None:
    # the first three are forgotten with the sessions, the others with their source figures
    by_other_means = {"producers", "consumers", "use", "rise", "slower", "silence", "due_later", "failed_pushes"}
    assert {field.name for field in fields(QueueEvidence)} == EVIDENCE_PROBES.keys() | by_other_means


def at(seconds: float, *failed: str, **more: object) -> Snapshot:
    """Return a poll this number of seconds after the first, in which these probes of the target fail."""
    failures = tuple(ProbeFailure(probe, "no answer") for probe in failed)
    given = {"blocking": (), **more}
    return replace(FULL, sampled_at=1000.0 + seconds, failures=failures, **given)  # type: ignore[arg-type]


def test_who_locks_everything_is_who_it_was_while_that_is_not_read_for_half_a_minute() -> None:
    q = QueueSamples(LAYOUT)
    for failed, blocking in (("counters", ()), ("waits", None), ("head_state", ())):
        evidence = QueueDiagnosis()
        found = evidence.locking_session(at(0.0, blocking=waiting()), q)
        assert found is not None
        assert found.holder == QueueLockText.SESSION.render(session=61)
        assert evidence.locking_session(at(29.0, failed, blocking=blocking), q) == found
        assert evidence.locking_session(at(31.0, failed, blocking=blocking), q) is None, "old is not fresh"
    evidence = QueueDiagnosis()
    evidence.locking_session(at(0.0, blocking=waiting()), q)
    assert evidence.locking_session(at(1.0), replace(q, left_out=("head_state",))) is not None
    assert evidence.locking_session(at(2.0), replace(q, left_out=("unseen_state",))) is None, (
        "read seldom while all move"
    )
    evidence.locking_session(at(3.0, blocking=waiting()), q)
    assert evidence.locking_session(at(4.0), q) is None, "it is over"


def test_a_head_that_could_not_be_read_does_not_stand_still_meanwhile() -> None:
    evidence, q = QueueDiagnosis(), QueueSamples(LAYOUT, head=HeadSample("1", None, 54), head_limit=1001)

    def still(seconds: float, *failed: str) -> float | None:
        read = QueueSamples(LAYOUT) if failed else q
        motion = evidence.record_poll(at(seconds, *failed), read, DONE, SEEN).motion
        return None if motion is None else motion.still_s

    assert (still(0.0), still(100.0)) == (0.0, 100.0)
    assert still(101.0, "head_state") is None
    assert (still(140.0), still(150.0)) == (0.0, 10.0)


def test_a_ring_that_is_not_swept_in_a_poll_has_lost_what_it_had() -> None:
    sequence = ObjectName("dbo", "s")
    ring = replace(LAYOUT, design="ring", state=None, owner=None, ring=Ring(100, sequence, sequence))
    swept = QueueSamples(ring, diagnostics=MessageDiagnostics(sweep=SweepSample(0, 9, 9, 1, 7, 0, None, None)))
    evidence = QueueDiagnosis()
    lost = evidence.record_poll(at(0.0), swept, DONE, SEEN).ring_loss
    assert lost is not None
    assert evidence.record_poll(at(1.0), QueueSamples(ring), DONE, SEEN).ring_loss == lost
    assert evidence.record_poll(at(29.0, "slot_sweep"), QueueSamples(ring), DONE, SEEN).ring_loss == lost
    assert evidence.record_poll(at(31.0, "slot_sweep"), QueueSamples(ring), DONE, SEEN).ring_loss is None


def test_what_was_done_and_who_has_it_twice_stay_while_another_probe_hides_them() -> None:
    evidence, done = QueueDiagnosis(), Figure(500.0)
    counted = QueueSamples(LAYOUT, counters=COUNTERS)
    before = evidence.record_poll(at(0.0), counted, done, SEEN).archiving
    assert before is not None
    assert evidence.record_poll(at(2.0, "head_state"), counted, DONE, SEEN).archiving == before
    assert evidence.record_poll(at(33.0, "head_state"), counted, DONE, SEEN).archiving is None
    evidence, (first, then) = QueueDiagnosis(), (client(61, 10.0), client(62, 1.0))

    def seen(
        seconds: float, whose: str, *failed: str, clients: tuple[ProgramSessionSample, ...] | None
    ) -> tuple[DoubleDelivery, ...]:
        row = MessageDiagnostics(owners=(owner("7", "alive", 1.0, whose),))
        return evidence.record_poll(
            at(seconds, *failed, clients=clients), QueueSamples(LAYOUT, diagnostics=row), DONE, None
        ).twice

    seen(0.0, "61/5", clients=(replace(first, begun_s=1.0), then))
    twice = seen(2.0, "62/5", clients=(replace(first, begun_s=3.0), then))
    assert twice
    assert seen(4.0, "62/5", "clients", clients=None) == twice
    assert seen(35.0, "62/5", "clients", clients=None) == ()
