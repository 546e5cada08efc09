"""Each verdict, from polls: overview, report, event log, recording and check agree on its start and its text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from math import ceil
from pathlib import Path

import pytest

from qmon.model.alerts.target_check import check_target as check
from qmon.model.figure import Severity, Verdict
from qmon.model.formatting import duration
from qmon.model.status_report import iso, status_object
from qmon.model.verdicts import RULES, Rule, RuleInput
from qmon.model.view import View
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.recording.history.recording_archive import live_archive
from qmon.recording.history.timeline import EventKind, TimelineEvent
from qmon.recording.history.timeline_query import recorded_events
from qmon.recording.write.recorder import Recorder
from qmon.tui.overview.overview_lines import TargetLineText, why_lines
from qmon.tui.overview.queue_rows import COLUMNS, rows_for
from tests.facts import wait_until
from tests.unit.polls import COUNTERS, fifo, moved, poll

pytestmark = pytest.mark.unit

BEGIN, EVERY_S = 1_780_000_000.0, 2.0
# Before the evidence arrives, and while it is missing for a moment.
QUIET_S, LULL_S = 20.0, 4.0


@dataclass
class Watched:
    """History, event log and recorder with one clock; the server's clock is ``ahead_s`` ahead of it."""

    root: Path
    ahead_s: float

    def __post_init__(self) -> None:
        self.now, self.number = BEGIN, 0
        self.history = TargetHistory()
        self.memory = InMemoryHistory(lambda: self.now)
        self.recorder = Recorder(self.root, "t", interval_s=EVERY_S, clock=lambda: self.now)

    def poll(self) -> View:
        """Return one poll of a queue that keeps up."""
        self.number, self.now = self.number + 1, self.now + EVERY_S
        counters = moved(COUNTERS, 20 * self.number, 20 * self.number)
        given = fifo(counters, last_id=20 + 20 * self.number)
        snapshot = poll(self.number, self.now + self.ahead_s, given)
        view = self.memory.wrap_fold(self.history.record_snapshot)(snapshot)
        self.recorder.record_snapshot(snapshot, view)
        if self.number % 100 == 0:  # the recorder drops polls that arrive faster than it can write
            wait_until(lambda: self.recorder.status.snapshots >= self.number)
        return view

    def recorded(self) -> list[TimelineEvent]:
        """Return the recording's event log, the oldest event first."""
        self.recorder.close()
        archive = live_archive(self.root, "t", "UTC", clock=lambda: self.now)
        return of_verdicts([each for events in recorded_events(archive, self.now + 1) for each in events][::-1])


def of_verdicts(events: Sequence[TimelineEvent]) -> list[TimelineEvent]:
    return [event for event in events if event.kind is EventKind.VERDICT]


@pytest.mark.parametrize("ahead_s", [0.0, 3600.0, -3600.0])
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_all_agree(rule: Rule, ahead_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lasts_s = rule.hold_s + 16.0
    first_s, end_s = QUIET_S, QUIET_S + lasts_s
    raised_s = first_s + EVERY_S * ceil(rule.hold_s / EVERY_S)
    lull_s = first_s + rule.hold_s + 6.0

    def has_evidence(seconds: float) -> bool:
        return first_s <= seconds < end_s and not lull_s <= seconds < lull_s + LULL_S

    def proof(given: RuleInput) -> str | None:
        assert given.snapshot is not None
        return "9 of 12" if has_evidence(given.snapshot.sampled_at - BEGIN - ahead_s) else None

    stub = replace(rule, proof=proof, cause=lambda _: "", keys={}, unread=lambda _: False, refuted=lambda _: False)
    judge = import_module("qmon.model.verdicts.judge")
    for name, of_target in (("QUEUE_RULES", False), ("TARGET_RULES", True)):
        monkeypatch.setattr(judge, name, (stub,) if rule.of_target is of_target else ())
    watched = Watched(tmp_path, ahead_s)
    since_at = BEGIN + ahead_s + first_s
    view = watched.poll()
    while (seconds := watched.now + EVERY_S - BEGIN) < end_s + 20:
        view = watched.poll()
        verdict = view.queues[0].verdict
        held = has_evidence(seconds) and seconds - first_s >= rule.hold_s
        assert (verdict.code == rule.code) == held, seconds
        if held:
            assert (verdict.since_at, verdict.proof, verdict.severity) == (since_at, "9 of 12", rule.severity)
            assert_shown(view, verdict)
    events = of_verdicts(watched.memory.events())
    assert sorted(watched.recorded(), key=at) == sorted(events, key=at)
    began, ended = (event for event in sorted(events, key=at) if event.about == rule.code.replace("_", " "))
    assert (began.change, began.text, began.at) == ("began", "9 of 12", BEGIN + raised_s)
    (past,) = (each for each in view.queues[0].past if each.code == rule.code)
    assert (past.since_at, past.proof, past.severity) == (since_at, "9 of 12", rule.severity)
    assert (ended.change, ended.at) == ("ended", past.until_at - ahead_s)
    assert ended.text == f"after {duration(past.until_at - since_at)}: 9 of 12"


def at(event: TimelineEvent) -> tuple[float, str, str]:
    return event.at, event.about, event.change


def assert_shown(view: View, verdict: Verdict) -> None:
    """Overview, report and check contain the text of the verdict and its start."""
    (queue,), (row,) = view.queues, rows_for(view.queues, 200)
    cells = {column.key: cell[0] for column, cell in zip(COLUMNS, row.cells, strict=True)}
    assert verdict.code in cells["verdict"]
    assert cells["proof"] == verdict.proof
    lasted = TargetLineText.HELD_FOR.render(duration=duration(view.sampled_at - (verdict.since_at or 0.0)))
    said = "".join(words for line in why_lines(view, view.queues, queue, 200, 3) for words, _ in line)
    assert f"{verdict.code}{lasted}: {verdict.proof}" in said or not (view.sampled_at - (verdict.since_at or 0))
    reported = status_object(view)["queues"][0]["verdicts"][0]
    assert (reported["code"], reported["proof"], reported["since"]) == (
        verdict.code,
        verdict.proof,
        iso(verdict.since_at or 0.0),
    )
    if verdict.severity >= Severity.WARNING:
        (problem,) = check(view, ()).problems
        assert problem.text == f"{verdict.code}: {verdict.proof}"
