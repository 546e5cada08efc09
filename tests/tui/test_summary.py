"""The sentence below the title, and the problems that are visible at 80×24 before any key is pressed."""

from __future__ import annotations

import pytest

from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.ranking import Ranking
from qmon.model.verdicts import CANNOT_TELL
from qmon.model.view import QueueView
from qmon.monitor.source import Phase
from qmon.tui.overview.summary import summary_line
from qmon.tui.spans import line_width
from tests.tui.driving import dashboard, later
from tests.tui.scripted import figure, queue, twelve, view

pytestmark = pytest.mark.unit

NOTICE, WARNING, CRITICAL = Severity.NOTICE, Severity.WARNING, Severity.CRITICAL
STUCK = Verdict("no consumers", "1,204 ready and no session is connected that is a consumer", CRITICAL)
SLOW = Verdict("log-bound", "3.1 of 4.0 active sessions wait for the log", WARNING)
PAUSED = Verdict("paused", "consumers paused by bob until 07:15:00 UTC", NOTICE)
BLIND = Verdict(CANNOT_TELL, "ready is unknown: permission denied", NOTICE)
STALE = Verdict("statistics", "plans assume no rows in mails, which has 20,000", NOTICE)


def fine(count: int) -> list[QueueView]:
    """Return this number of healthy queues."""
    return [queue(f"fine_{place}", ready=place) for place in range(count)]


def said(*queues: QueueView, cells: int = 80, age_s: float | None = None) -> str:
    """Return the sentence about these queues."""
    given = view(queues)
    line = summary_line(given, Ranking().rank_queues(given), cells, age_s)
    assert line_width(line) <= cells
    return "".join(words for words, _ in line)


def test_how_things_are_in_one_sentence() -> None:
    orders = queue("orders", ready=1_204, oldest=845, verdict=STUCK)
    mails = queue("mails", ready=7, oldest=60, verdict=STUCK)
    paused, blind, slow = (queue(f"q_{v.code}", ready=90_000, verdict=v) for v in (PAUSED, BLIND, SLOW))
    told = " ■ 2 of 12 queues are critical; worst: orders, 1,204 ready, oldest 14m."
    assert said(orders, mails, *fine(10)) == told
    told = (
        " ■ 2 of 5 queues are critical, 1 has a warning, 1 is paused on purpose, 1 is unknown; worst: orders, 1,204 rea"
    )
    assert said(orders, mails, slow, paused, blind, cells=140).startswith(told)
    told = " ■ 2 of 5 queues are critical; worst: orders, 1,204 ready, oldest 14m."
    assert said(orders, mails, slow, paused, blind) == told
    told = " ■ 2 of 5 queues are critical, 1 has a warning; worst: orders, 1,204 ready, oldest 14m."
    assert said(orders, mails, slow, paused, blind, cells=95) == told, "known problems come before unknown queues"
    stale = queue("stale", verdict=STALE)
    assert said(blind, stale, cells=60) == " ◦ 1 of 2 queues has a notice, 1 is unknown."
    assert said(orders, *fine(2)) == " ■ 1 of 3 queues is critical: orders, 1,204 ready, oldest 14m."
    assert said(orders) == " ■ The only queue is critical: orders, 1,204 ready, oldest 14m."
    assert said(orders, mails).startswith(" ■ Both queues are critical; worst: orders, 1,204 ready")
    assert said(slow, *fine(2)).startswith(" ▲ 1 of 3 queues has a warning: q_log-bound, 90,000 ready")
    assert said(*fine(12)) == " · All 12 queues are fine."
    assert said(paused, *fine(11)) == " ‖ 11 of 12 queues are fine, 1 is paused on purpose: q_paused."
    assert said(blind, *fine(11)) == " ◦ 11 of 12 queues are fine, 1 is unknown: q_cannot tell."
    assert said(queue("mails", verdict=STALE), *fine(3)) == " ◦ 3 of 4 queues are fine, 1 has a notice: mails."
    assert said(paused, queue("mails", verdict=PAUSED)) == " ‖ Both queues are paused on purpose."
    assert said() == " no queue is known"


def test_what_is_unknown_or_old_of_the_worst_is_not_said() -> None:
    old = Figure(1_204.0, age_s=95.0, old=True)
    assert (
        said(queue("orders", ready=old, oldest=old, verdict=STUCK), *fine(2)) == " ■ 1 of 3 queues is critical: orders."
    )
    blind = queue("orders", ready=figure(None, "permission denied"), oldest=845, verdict=STUCK)
    assert said(blind, *fine(2)) == " ■ 1 of 3 queues is critical: orders, oldest 14m."


def test_figures_that_are_not_of_now_say_so() -> None:
    assert said(*fine(3), age_s=14.2) == " · As of 14 s ago: All 3 queues are fine."


@pytest.mark.parametrize("cells", [20, 40, 60, 80, 120])
def test_it_fits_whatever_the_names_are(cells: int) -> None:
    long = [queue("q" * 200, ready=Figure(5e9, at_least=True), oldest=9e8, verdict=v) for v in (STUCK, SLOW)]
    assert len(said(*long, queue("paused", verdict=PAUSED), queue("blind", verdict=BLIND), cells=cells)) <= cells


async def test_trouble_and_why_are_seen_without_a_key() -> None:
    async with dashboard((80, 24)) as d:
        many = [queue(f"a_{place:02}", ready=900 - place) for place in range(60)]
        await d.give(view([*many, *twelve()]))
        lines = d.text().split("\n")
        told = " ■ 2 of 72 queues are critical; worst: invoices, 60,031 ready, oldest 14m."
        assert lines[1].startswith(told)
        assert "VERDICT▾" in lines[3]
        assert lines[4].split()[0] == "invoices"
        assert "■ stuck in progress" in lines[4]
        assert [line.split()[0] for line in lines[5:8]] == ["mails", "orders", "payroll"]
        assert any("why: invoices stuck in progress for 9 m 05 s: 7 in progress for more than 5 m" in x for x in lines)


async def test_it_is_never_stale_without_saying_so() -> None:
    async with dashboard((80, 24)) as d:
        await d.give()
        assert d.lines("summary").startswith(" ■ 2 of 12 queues are critical")
        await d.say(Phase.LOST, "gone", retry_at=9_999.0, at=2)
        await d.wait(14)
        assert d.lines("summary").startswith(" ■ As of 14 s ago: 2 of 12 queues are critical")
        assert d.is_grey("2 of 12 queues")
        d.clock.now += 6
        await d.say(Phase.LIVE, at=20)
        await d.give(later(20, sequence=8))
        assert d.lines("summary").startswith(" ■ 2 of 12 queues are critical")
        await d.press("z")
        await d.wait(25)
        assert d.lines("summary").startswith(" ■ As of 5 s ago: 2 of 12")


async def test_rows_keep_their_places_and_the_cursor_its_queue() -> None:
    async with dashboard((80, 24)) as d:
        calm = [queue("b", ready=12), queue("a", ready=11), queue("c", ready=10)]
        await d.give(view(calm))
        await d.press("down")
        for poll in range(1, 20):
            await d.give(
                view(
                    [queue(n, ready=(7 * poll + 3 * place) % 19) for place, n in enumerate("bac")],
                    sequence=8 + poll,
                    at=2.0 * poll,
                )
            )
            assert d.grid.row_keys == ("b", "a", "c")
        await d.give(view([*calm[:2], queue("c", ready=10, verdict=STUCK)], sequence=40, at=60.0))
        assert d.grid.row_keys == ("c", "b", "a")
        assert d.grid.cursor == "a"
