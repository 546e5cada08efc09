"""The sentence below the title, and the problems that are visible at 80×24 before any key is pressed."""

from __future__ import annotations

import pytest

from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.ranking import Ranking
from qmon.model.verdicts import CANNOT_TELL
from qmon.model.view import QueueView
from qmon.monitor.source import Phase
from qmon.tui.overview.overview_lines import TargetLineText
from qmon.tui.overview.summary import SummaryText as S
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


def some(count: int, total: int, state: S) -> str:
    """Return how many queues have a state."""
    return S.SOME_QUEUES.render(count=count, total=total, state=state)


def also(count: int, state: S) -> str:
    """Return how many other queues have another state."""
    return S.ALSO.render(count=count, state=state)


ORDERS = f"orders{S.READY.render(count='1,204')}{S.OLDEST.render(age='14m')}"
WORST = f"{S.WORST}{ORDERS}"


def test_how_things_are_in_one_sentence() -> None:
    orders = queue("orders", ready=1_204, oldest=845, verdict=STUCK)
    mails = queue("mails", ready=7, oldest=60, verdict=STUCK)
    paused, blind, slow = (queue(f"q_{v.code}", ready=90_000, verdict=v) for v in (PAUSED, BLIND, SLOW))
    stale = queue("stale", verdict=STALE)
    of_five, warning = some(2, 5, S.CRITICAL), also(1, S.ONE_WARNING)
    others = also(1, S.ONE_PAUSED) + also(1, S.ONE_UNKNOWN)
    for told, cells, queues in (
        (f"■ {some(2, 12, S.CRITICAL)}{WORST}.", 80, (orders, mails, *fine(10))),
        (f"■ {of_five}{warning}{others}{WORST}.", 140, (orders, mails, slow, paused, blind)),
        (f"■ {of_five}{WORST}.", 80, (orders, mails, slow, paused, blind)),
        # Known problems come before unknown queues.
        (f"■ {of_five}{warning}{WORST}.", 95, (orders, mails, slow, paused, blind)),
        (f"◦ {some(1, 2, S.ONE_NOTICE)}{also(1, S.ONE_UNKNOWN)}.", 60, (blind, stale)),
        (f"■ {some(1, 3, S.ONE_CRITICAL)}: {ORDERS}.", 80, (orders, *fine(2))),
        (f"■ {S.ONLY_QUEUE.render(state=S.ONE_CRITICAL)}: {ORDERS}.", 80, (orders,)),
        (f"■ {S.BOTH_QUEUES.render(state=S.CRITICAL)}{WORST}.", 80, (orders, mails)),
        (f"· {S.ALL_QUEUES.render(count=12, state=S.FINE)}.", 80, fine(12)),
        (f"‖ {some(11, 12, S.FINE)}{also(1, S.ONE_PAUSED)}: q_paused.", 80, (paused, *fine(11))),
        (f"◦ {some(11, 12, S.FINE)}{also(1, S.ONE_UNKNOWN)}: q_cannot tell.", 80, (blind, *fine(11))),
        (f"◦ {some(3, 4, S.FINE)}{also(1, S.ONE_NOTICE)}: stale.", 80, (stale, *fine(3))),
        (f"‖ {S.BOTH_QUEUES.render(state=S.PAUSED)}.", 80, (paused, queue("mails", verdict=PAUSED))),
    ):
        assert said(*queues, cells=cells) == f" {told}"
    begins = f" ▲ {some(1, 3, S.ONE_WARNING)}: q_log-bound{S.READY.render(count='90,000')}"
    assert said(slow, *fine(2)).startswith(begins)
    assert said() == f" {S.NO_QUEUE}"


def test_what_is_unknown_or_old_of_the_worst_is_not_said() -> None:
    old, one = Figure(1_204.0, age_s=95.0, old=True), some(1, 3, S.ONE_CRITICAL)
    assert said(queue("orders", ready=old, oldest=old, verdict=STUCK), *fine(2)) == f" ■ {one}: orders."
    blind = queue("orders", ready=figure(None, "permission denied"), oldest=845, verdict=STUCK)
    assert said(blind, *fine(2)) == f" ■ {one}: orders{S.OLDEST.render(age='14m')}."


def test_figures_that_are_not_of_now_say_so() -> None:
    told = S.AS_OF.render(age="14 s") + S.ALL_QUEUES.render(count=3, state=S.FINE)
    assert said(*fine(3), age_s=14.2) == f" · {told}."


@pytest.mark.parametrize("cells", [20, 40, 60, 80, 120])
def test_it_fits_whatever_the_names_are(cells: int) -> None:
    long = [queue("q" * 200, ready=Figure(5e9, at_least=True), oldest=9e8, verdict=v) for v in (STUCK, SLOW)]
    assert len(said(*long, queue("paused", verdict=PAUSED), queue("blind", verdict=BLIND), cells=cells)) <= cells


async def test_trouble_and_why_are_seen_without_a_key() -> None:
    async with dashboard((80, 24)) as d:
        many = [queue(f"a_{place:02}", ready=900 - place) for place in range(60)]
        await d.give(view([*many, *twelve()]))
        lines = d.text().split("\n")
        assert lines[1].startswith(f" ■ {some(2, 72, S.CRITICAL)}{S.WORST}invoices{S.READY.render(count='60,031')}")
        assert "VERDICT▾" in lines[3]
        assert lines[4].split()[0] == "invoices"
        assert "■ stuck in progress" in lines[4]
        assert [line.split()[0] for line in lines[5:8]] == ["mails", "orders", "payroll"]
        lasted = TargetLineText.HELD_FOR.render(duration="9 m 05 s")
        proof = f"why: invoices stuck in progress{lasted}: 7 in progress for more than 5 m"
        assert any(proof in line for line in lines)


async def test_it_is_never_stale_without_saying_so() -> None:
    critical = some(2, 12, S.CRITICAL)
    async with dashboard((80, 24)) as d:
        await d.give()
        assert d.lines("summary").startswith(f" ■ {critical}")
        await d.say(Phase.LOST, "gone", retry_at=9_999.0, at=2)
        await d.wait(14)
        assert d.lines("summary").startswith(f" ■ {S.AS_OF.render(age='14 s')}{critical}")
        assert d.is_grey(critical)
        d.clock.now += 6
        await d.say(Phase.LIVE, at=20)
        await d.give(later(20, sequence=8))
        assert d.lines("summary").startswith(f" ■ {critical}")
        await d.press("z")
        await d.wait(25)
        assert d.lines("summary").startswith(f" ■ {S.AS_OF.render(age='5 s')}{critical}")


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
