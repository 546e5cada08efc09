"""Input of the rules for verdicts: a healthy queue, pauses, owners and sessions."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.defect_guard import DefectGuard
from qmon.model.figure import Figure
from qmon.model.layout.layout import Layout, ObjectName, OwnerColumn, StateColumn
from qmon.model.operation_records import Side
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.message_samples import OwnerSample
from qmon.model.samples.polled_samples import PauseSample, ServerSample
from qmon.model.snapshot import Snapshot
from qmon.model.verdicts import RuleInput
from qmon.model.verdicts.judge import EvidenceSpan, Spans, judge_target

FINE = RuleInput(
    ready=Figure(10),
    in_progress=Figure(2),
    stuck=Figure(0),
    oldest=Figure(0.1),
    push_rate=Figure(50.0),
    pop_rate=Figure(50.0),
    net_rate=0.0,
    fill=Figure.unknown("not a ring"),
    timeout_s=300,
)
LAYOUT = Layout(
    "mails",
    "status",
    ObjectName("dbo", "mails"),
    id="id",
    state=StateColumn("st", 1, 2),
    owner=OwnerColumn("o", "session", held_while_working=True),
)
POLL = Snapshot(
    "t", "postgres", "18.6", 1, 1000.0, 0.0, 1.0, 1.0, 0, 2.0, ServerSample(1000.0, 1.0, None, False, 5, 0, 0, 0)
)


def with_target_judged(
    given: RuleInput, at: float, spans: Spans | None = None
) -> tuple[RuleInput, dict[str, EvidenceSpan]]:
    """Return the input with the verdicts about its target, and the spans of their evidence."""
    of_target = RuleInput(timeout_s=0.0, snapshot=given.snapshot, target=given.target)
    judged, seen = judge_target(of_target, at, spans or {}, DefectGuard(str))
    return replace(given, target=replace(given.target, judged=judged)), seen


def paused(side: Side) -> tuple[PauseSample, ...]:
    return (PauseSample("orders", "", side, 1_799_999_000.0, 1_800_000_000.0, "anna@app-7", "[deploy]", "switch"),)


def owner(
    id: str, state: str, age_s: float = 400.0, whose: str | None = "812/5", attempts: int | None = 1
) -> OwnerSample:
    return OwnerSample(id, whose, state, attempts, age_s)


def client(session: int, begun_s: float) -> ProgramSessionSample:
    return ProgramSessionSample(session, 5.2, "mailer", "app", "idle", begun_s, begun_s, "Client", "SELECT pop()")
