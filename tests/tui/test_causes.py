"""A cause that several queues share is one line above them; their rows show their own verdicts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.alerts.alert_rules import AlertRule
from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.operation_records import Side
from qmon.model.samples.polled_samples import PauseSample
from qmon.model.shared_causes import shared_causes
from qmon.model.view import QueueView, View
from qmon.monitor.alerting import Alerting
from qmon.tui.overview import causes
from qmon.tui.overview import queue_rows as overview
from qmon.tui.overview.causes import CauseText
from qmon.tui.spans import line_width
from tests.tui.driving import dashboard
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import NASTY, SAMPLED_AT, queue, view
from tests.wordings import has

pytestmark = pytest.mark.unit

WARNING, CRITICAL = Severity.WARNING, Severity.CRITICAL
WHO = "session 61 (idle in transaction, transaction open 2 m 05 s, app-7, 10.0.0.7)"
NAMES = ("orders", "mails", "invoices", "refunds", "labels", "exports", "reports", "webhooks", "sms", "audit", NASTY)


def locked(count: int, name: str) -> Verdict:
    """Locked by session 61, which blocks this number of sessions."""
    return Verdict(
        "everything locked",
        f"{WHO} blocks {count} sessions waiting to lock demo.{name}",
        CRITICAL,
        key="4",
        cause="session 61",
    )


def held(dead: int, who: str = "session 61") -> Verdict:
    """Held back by a session."""
    proof = f"{who} (idle in transaction, 2 m 05 s, app-7) keeps vacuum from removing {dead:,} dead rows"
    return Verdict("cleanup held back", proof, WARNING, key="3", cause=who)


def having(name: str, *verdicts: Verdict, ready: float = 0.0) -> QueueView:
    """Return a queue with these verdicts, the worst first."""
    return replace(queue(name, ready=ready, verdict=verdicts[0]), verdicts=verdicts)


def shop() -> View:
    """Return twelve queues, of which one session locks eleven; one of them has another problem too."""
    slow = Verdict("archive behind", "~20,000 done and not archived", WARNING)
    many = [
        having(name, locked(3 + at, name), *([slow] if at == 2 else []), ready=9_000 - 700 * at)
        for at, name in enumerate(NAMES)
    ]
    return view([*many, queue("thumbnails", ready=214)])


def test_a_cause_is_shared_where_the_evidence_of_two_queues_names_it() -> None:
    both = having("orders", locked(3, "orders"), held(12)), having("mails", locked(4, "mails"))
    (cause,) = shared_causes([*both, having("audit", held(20_000))])
    assert (cause.who, cause.verdict.code) == ("session 61", "everything locked")
    assert cause.queues == {"everything locked": ("orders", "mails"), "cleanup held back": ("orders", "audit")}
    assert cause.about == f"{WHO} blocks"
    assert cause.proof_rest(both[1].verdict.proof) == "4 sessions waiting to lock demo.mails"
    assert shared_causes([both[0], having("audit", held(9, "session 62"))]) == ()
    unnamed = replace(locked(3, "orders"), cause="")
    assert shared_causes([having("orders", unnamed), having("mails", unnamed)]) == ()


def test_the_worst_of_several_causes_is_first_and_what_is_said_alike_is_all_about() -> None:
    log = Verdict("log-bound", "3.0 of 4.0 active sessions wait for the log", WARNING, cause="the log")
    each = [having("orders", log), having("mails", locked(3, "mails"), log), having("audit", locked(3, "audit"))]
    first, second = shared_causes(each)
    assert (first.who, second.who) == ("session 61", "the log")
    assert second.about == log.proof
    assert second.proof_rest(log.proof) == ""


def test_a_row_does_not_repeat_the_proof_above() -> None:
    queues = having("orders", locked(3, "orders")), having("mails", locked(4, "mails")), having("audit", held(20_000))
    own = causes.own_proofs(shared_causes(queues), queues)
    assert own["mails"] == "4 sessions waiting to lock demo.mails"
    assert own["audit"] == queues[2].verdict.proof


def test_a_row_names_the_trouble_and_counts_the_others() -> None:
    slow = Verdict("archive behind", "~20,000 done and not archived", WARNING)
    fine = Verdict("statistics", "old", Severity.NOTICE)
    queues = (
        having("orders", locked(3, "orders"), held(12), slow, fine),
        having("audit", held(20_000)),
        having("mails", fine),
    )
    rows = overview.rows_for(queues, 120, own_proofs=causes.own_proofs(shared_causes(queues), queues))
    at = next(place for place, column in enumerate(overview.COLUMNS) if column.key == "verdict")
    said = [row.cells[at][0] for row in rows]
    assert said == ["■ everything locked +2 [4]", "▲ cleanup held back [3]", "◦ statistics"]


def test_each_verdict_of_a_cause_has_its_own_queues() -> None:
    """One session locks one queue and holds back vacuum in all queues. Only that queue is locked."""
    queues = having("ledger", locked(3, "ledger"), held(12)), having("mails", held(3)), having("audit", held(20_000))
    found = shared_causes(queues)
    (line,) = causes.cause_lines(found, 16, 120)
    said = "".join(text for text, _ in line)
    assert said.startswith(" ■ everything locked  session 61 ")
    assert has(said, CauseText.QUEUES, count=1, total=16) and " [4]  ledger  " in said
    assert has(said, CauseText.OTHER, verdict="cleanup held back", count=3)
    own = causes.own_proofs(found, queues)
    assert own["ledger"] == locked(3, "ledger").proof.removeprefix(found[0].about).strip()
    assert own["audit"] == queues[2].verdict.proof


@pytest.mark.parametrize("cells", [20, 40, 80, 120, 200])
def test_its_line_fits(cells: int) -> None:
    found = shared_causes(shop().queues)
    assert [line_width(line) <= cells for line in causes.cause_lines(found, 12, cells)] == [True]


async def test_one_line_and_rows_that_say_what_is_theirs() -> None:
    async with dashboard((80, 24)) as d:
        await d.give(shop())
        shared = CauseText.QUEUES.render(count=11, total=12)
        assert d.lines("causes").startswith(f" ■ everything locked  session 61  {shared} [4]  orders, mails,")
        rows = d.text().split("\n")[5:]
        assert rows[0].startswith(" orders ")
        assert rows[0].rstrip().endswith("■ everything locked [4]")
        assert rows[2].rstrip().endswith("■ everything locked +1"), "the key does not fit"
        assert "why: orders everything locked: session 61 (idle in transaction, transaction\n" in d.text()
        await d.resize(200, 50)
        assert f"{WHO} blocks  {shared}" in d.lines("causes")
        assert "4 sessions waiting to lock" in next(row for row in d.text().split("\n") if row.startswith(" mails "))
        await d.give(view([having("orders", locked(3, "orders")), queue("mails")], sequence=8))
        assert not d.app.screen.query_one("#causes").display
        assert "■ everything locked [4]" in d.text()


async def test_all_that_stands_above_takes_no_line_from_the_worst_queue_why_and_the_keys() -> None:
    stopped = tuple(
        PauseSample(name, "", Side.PRODUCERS, SAMPLED_AT, SAMPLED_AT + 600, "bob", "why", "switch") for name in "abcd"
    )
    found = shop()
    worst = replace(found.queues[0], pauses=stopped, ready=Figure(9_000.0), stuck=Figure(7.0))
    rule = AlertRule("deep", figure="ready", warn=100.0)
    async with dashboard((80, 24), alerting=lambda clock: Alerting({"orders-prod": [rule]}, clock=clock)) as d:
        await d.give(replace(found, queues=(worst, *found.queues[1:])))
        lines = d.text().split("\n")
        assert sum("PAUSED" in line for line in lines) == 3
        assert any("WARNING" in line for line in lines)
        assert any(line.startswith(" orders ") and "■ everything locked [4]" in line for line in lines)
        assert any("why: orders everything locked" in line for line in lines)
        assert lines[23].startswith(" 1 overview")


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_picture(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot(found=shop())
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)
