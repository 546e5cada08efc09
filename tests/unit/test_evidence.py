"""Evidence: what a poll has left out is what it was before, for a while."""

from __future__ import annotations

from dataclasses import fields, replace

from qmon.model.evidence import QueueEvidence
from qmon.model.figure import Figure
from qmon.model.samples.messages import MessageDiagnostics
from qmon.model.sessions.clients import Sessions
from qmon.model.sessions.owners import Owners
from qmon.model.snapshot import ProbeFailure, QueueSamples
from qmon.monitor.state.diagnosis import READ_BY, QueueDiagnosis
from tests.unit.test_verdicts_messages import LAYOUT, POLL, client, owner

DONE = Figure.unknown("nothing is done")
FULL = replace(POLL, clients=(client(61, 1.0),))
SEEN = Sessions(FULL.clients or ())
READ = QueueSamples(LAYOUT, diagnostics=MessageDiagnostics(owners=(owner("7", "dead", 5.0),)))
LEFT = QueueSamples(LAYOUT, left_out=("owners",))


def test_what_was_left_out_is_what_it_was_and_who_is_connected_for_half_a_minute() -> None:
    evidence = QueueDiagnosis()
    first = evidence.add(FULL, READ, DONE, SEEN)
    assert first.owners is not None
    assert first.poppers is not None
    later = evidence.add(replace(POLL, sampled_at=1020.0), LEFT, DONE, None)
    assert (later.owners, later.poppers) == (first.owners, first.poppers)
    gone = evidence.add(replace(POLL, sampled_at=1031.0), LEFT, DONE, None)
    assert (gone.owners, gone.poppers) == (first.owners, None)
    assert evidence.add(replace(FULL, sampled_at=1032.0), QueueSamples(LAYOUT), DONE, SEEN).owners is None


def test_what_fails_to_be_read_is_what_it_was_for_half_a_minute_and_goes_on_when_it_is_read_again() -> None:
    evidence = QueueDiagnosis()
    first = evidence.add(FULL, READ, DONE, SEEN)
    assert first.owners is not None

    def failing(at: float) -> Owners | None:
        poll = replace(FULL, sampled_at=at, failures=(ProbeFailure("owners", "no answer", LAYOUT.queue),))
        return evidence.add(poll, QueueSamples(LAYOUT), DONE, SEEN).owners

    assert failing(1010.0) == first.owners
    assert failing(1039.0) == first.owners
    assert failing(1041.0) is None, "old is not fresh"
    assert evidence.add(replace(FULL, sampled_at=1042.0), READ, DONE, SEEN).owners == first.owners


def test_each_field_says_which_probes_it_comes_from_so_that_it_is_forgotten_when_they_fail_for_long() -> None:
    by_other_means = {"pushers", "poppers", "use"}  # forgotten with the sessions; figures have an age of their own
    assert {field.name for field in fields(QueueEvidence)} == READ_BY.keys() | by_other_means
