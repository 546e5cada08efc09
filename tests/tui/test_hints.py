"""The key next to a verdict: one for its screen, one that works there, and one that solves the problem."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from qmon.model.evidence import QueueEvidence, RingLoss
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.layout.layout import LayoutSource
from qmon.model.operation_records import OperationKind, Side
from qmon.model.reasons import Reason
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.message_samples import DrawerSample
from qmon.model.samples.polled_samples import PauseSample
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.sessions.owners import Owners
from qmon.model.snapshot import Snapshot
from qmon.model.verdicts import CANNOT_TELL, RULES, RuleInput, judge_queue
from qmon.model.waits.horizon_holders import HolderText
from qmon.model.waits.queue_lock import QueueLock
from qmon.tui import keys
from qmon.tui.actions.availability import verdict_keys
from tests.tui.driving import dashboard
from tests.tui.scripted import SAMPLED_AT, queue, snapshot, view
from tests.tui.scripted_acting import Script, ScriptedOffice
from tests.unit.rule_inputs import FINE
from tests.unit.upkeep import HOLDER

pytestmark = pytest.mark.unit

# The action that solves each verdict: see the holder, requeue, repair, resume, or read now.
DOES = {
    "everything locked": {"4": "screen('blocking')", "3": "screen('waits')"},
    "poison message at the head": {"2": "screen('queue')"},
    "consumers crash": {"2": "screen('queue')"},
    "ring hole": {"R": "act('repair')"},
    "ring orphans": {"R": "act('repair')"},
    "consumers not claiming": {"4": "screen('blocking')"},
    "stuck in progress": {"2": "screen('queue')", "r": "act('requeue')"},
    "cleanup held back": {"3": "screen('waits')"},
    "cleanup behind": {"3": "screen('waits')"},
    "log-bound": {"3": "screen('waits')"},
    "latch-bound": {"3": "screen('waits')"},
    "log full": {"3": "screen('waits')"},
    "log filling": {"3": "screen('waits')"},
    "replica not synchronizing": {"3": "screen('waits')"},
    "replica behind": {"3": "screen('waits')"},
    "tempdb filling": {"3": "screen('waits')"},
    "at its limit": {"3": "screen('waits')"},
    "duplicates": {"2": "screen('queue')"},
    "wrong clock": {"2": "screen('queue')"},
    "kept awake": {"q": "quit"},
    "plan regressed": {"3": "screen('waits')"},
    "failed over": {"7": "screen('timeline')"},
    "deadlocks": {"4": "screen('blocking')"},
    "paused": {"p": "act('pause')", "P": "act('pause-consumers')"},
    "cannot tell": {"n": "poll_now"},
}
OPEN = DrawerSample(22, 61, "app-7", "idle in transaction", 120.0)


def pause(side: Side) -> PauseSample:
    """Return a pause in force."""
    return PauseSample("mails", "", side, SAMPLED_AT, SAMPLED_AT + 600, "bob", "why", "switch")


def given(**evidence: Any) -> RuleInput:
    """Return a queue with these facts over time."""
    return replace(FINE, queue=replace(QueueEvidence(), **evidence))


HOLDER_NAME = HolderText.SESSION.render(session=61)


def held(by: str, waited_for: bool) -> RuleInput:
    """Return a locked queue; session 61 holds the horizon."""
    now: Snapshot = replace(snapshot(7), horizon=(HOLDER,))
    return replace(FINE, locked=QueueLock(by, "proof", waited_for), snapshot=now)


def consumer(wait_kind: str) -> ClientsSeen:
    """Return one waiting consumer."""
    return ClientsSeen(
        1, 1, "table", ProgramSessionSample(71, 5.0, "mailer-1", "app", "active", 45.0, 45.0, wait_kind, "")
    )


@pytest.mark.parametrize("screen", [keys.OVERVIEW, keys.QUEUE_SCREEN], ids=["overview", "queue"])
def test_each_key_is_one_of_the_screen_and_does_what_answers_the_verdict(screen: list[Any]) -> None:
    does = {
        key: each.action for each in keys.bindings_in([*keys.APP, *screen, *keys.GRID]) for key in each.key.split(",")
    }
    table = {rule.code: {key for keys_ in rule.keys for key in keys_.split()} for rule in RULES if rule.keys}
    table[CANNOT_TELL] = {"n"}
    assert {code: {key: does.get(key) for key in found} for code, found in table.items()} == DOES


@pytest.mark.parametrize(
    ("code", "evidence", "key"),
    [
        ("paused", replace(FINE, pauses=(pause(Side.PRODUCERS),)), "p"),
        ("paused", replace(FINE, pauses=(pause(Side.CONSUMERS),)), "P"),
        ("paused", replace(FINE, pauses=(pause(Side.CONSUMERS), pause(Side.PRODUCERS))), "p P"),
        ("everything locked", held(HOLDER_NAME, waited_for=True), "4"),
        ("everything locked", held(HOLDER_NAME, waited_for=False), "3"),
        ("everything locked", held("session 62", waited_for=False), ""),
        ("ring hole", given(ring_loss=RingLoss(hole=7)), "R"),
        ("ring hole", given(ring_loss=RingLoss(hole=7, drawer=OPEN)), ""),
        ("ring orphans", given(ring_loss=RingLoss(orphans=1)), "R"),
        ("ring orphans", given(ring_loss=RingLoss(orphans=1, consumer=OPEN)), ""),
        ("consumers not claiming", given(consumers=consumer("Lock")), "4"),
        ("consumers not claiming", given(consumers=consumer("Client")), ""),
        ("stuck in progress", given(owners=Owners(dead=3, alive=1)), "r"),
        ("stuck in progress", given(owners=Owners(alive=2)), "2"),
        ("stuck in progress", given(owners=Owners(unknown=2, alive=1)), "r"),
        ("stuck in progress", FINE, "r"),
        ("no consumers", FINE, ""),
    ],
)
def test_the_evidence_decides(code: str, evidence: RuleInput, key: str) -> None:
    assert next(rule for rule in RULES if rule.code == code).key_for(evidence) == key


def test_what_is_throttled_can_be_read_now() -> None:
    unread = replace(Figure.unknown(Reason.NOT_READ_SINCE.render(time="04:12:00 UTC")), throttled=True)
    for ready, key in ((unread, "n"), (Figure.unknown("permission denied"), "")):
        (verdict,), _ = judge_queue(replace(FINE, ready=ready), 1000.0, {})
        assert (verdict.code, verdict.key) == (CANNOT_TELL, key)


def test_no_key_that_can_do_nothing_to_the_queue_and_none_of_the_screen_itself() -> None:
    stuck = queue("mails", verdict=Verdict("stuck in progress", "proof", Severity.CRITICAL, key="r"))
    found = replace(stuck, layout=replace(stuck.layout, source=LayoutSource.DISCOVERY))
    assert (verdict_keys(stuck), verdict_keys(found)) == ("r", "")
    alive = replace(stuck, verdict=replace(stuck.verdict, key="2"))
    assert (verdict_keys(alive), verdict_keys(alive, current="2")) == ("2", "")
    both = replace(stuck, verdict=Verdict("paused", "proof", Severity.NOTICE, key="p P"))
    assert verdict_keys(both) == "p P"


async def test_the_key_beside_paused_consumers_lets_them_go_on() -> None:
    (verdict,), _ = judge_queue(replace(FINE, pauses=(pause(Side.CONSUMERS),)), 1000.0, {})
    script = Script(paused=(pause(Side.CONSUMERS),))
    async with dashboard((80, 24), runner=ScriptedOffice(script), read_only=False) as d:
        await d.give(view([queue("mails", verdict=verdict)]))
        assert "‖ paused [P]" in d.text()
        await d.press("P")
        await d.until(lambda: script.asked, "the plan")
        assert script.asked[-1][:2] == (OperationKind.RESUME, "mails")
