"""Messages due later than usual: found if producers give them a due time, quiet for retries and planned work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from qmon.model.figure import Figure, Severity
from qmon.model.rates.flow import Flow
from qmon.model.trend import DueLater
from qmon.model.verdicts import judge_queue
from qmon.model.verdicts.flow_verdicts import FlowText
from qmon.monitor.state.trends import DueTrack
from tests.unit.rule_inputs import FINE
from tests.wordings import pattern

pytestmark = pytest.mark.unit

# Events of a second: messages pushed as ready, messages pushed with a later due time, and popped messages that return
# later.
Second = tuple[float, float, float]
LIMIT = 1000


def watched(
    happens: Callable[[int], Second],
    seconds: int,
    *,
    delay_s: int = 18_000,
    pops_per_s: float = 20.0,
    backlog: float = 0.0,
    counted_s: int = 10,
) -> Iterator[tuple[int, DueLater | None]]:
    """Return the findings of each poll, every 2 s. ``counted_s``: interval of counts of scheduled messages."""
    track = DueTrack()
    ready, due, pushed, popped = backlog, list[tuple[int, float]](), 0.0, 0.0
    for second in range(seconds):
        now, later, again = happens(second)
        ready += now + sum(count for at, count in due if at == second)
        taken = min(ready, pops_per_s)
        ready, pushed, popped = ready - taken, pushed + now + later, popped + taken
        due = [(at, count) for at, count in due if at > second] + [(second + delay_s, later + min(again, taken))]
        if second % 2:
            continue
        scheduled = sum(count for _, count in due)
        seen = Figure(min(scheduled, LIMIT), at_least=scheduled > LIMIT, age_s=float(second % counted_s))
        yield (
            second,
            track.record_poll(1000.0 + second, Flow(pushed, popped, popped, pushed - popped), Figure(ready), seen),
        )
        pushed = popped = 0.0


def first(found: Iterator[tuple[int, DueLater | None]]) -> int | None:
    return next((second for second, due_later in found if due_later is not None), None)


@pytest.mark.parametrize("counted_s", [2, 10])
@pytest.mark.parametrize("backlog", [0.0, 900.0])
@pytest.mark.parametrize("rate", [2.0, 9.0])
def test_producers_that_give_a_due_time_are_found_within_40_seconds(
    rate: float, backlog: float, counted_s: int
) -> None:
    wrong_from = 300
    found = list(
        watched(
            lambda second: (rate, 0, 0) if second < wrong_from else (0, rate, 0),
            1200,
            backlog=backlog,
            counted_s=counted_s,
        )
    )
    at = first(iter(found))
    assert at is not None
    assert wrong_from + 20 <= at <= wrong_from + 40
    assert all(due_later for second, due_later in found if second > at), "more than are counted do not end it"
    last = found[-1][1]
    assert last is not None
    assert last.later == last.pushed
    assert last.since_at == pytest.approx(1000 + wrong_from, abs=10)
    assert last.share_before < 0.01


@pytest.mark.parametrize(
    ("happens", "delay_s"),
    [
        (lambda second: (8, 0, 0), 60),
        (lambda second: (0, 8, 0), 600),
        (lambda second: (6, 2, 0) if second < 900 else (0, 8, 0), 600),
        (lambda second: (8, 0, 0 if second < 300 else 8), 600),
        (lambda second: (8, 500 if second == 600 else 0, 0), 18_000),
        (lambda second: (8, 5 if second % 60 == 0 else 0, 0), 60),
        (lambda second: (8, 0, 0) if second < 5 else (0, 8, 0), 18_000),
        (lambda second: (8, 0, 0) if second < 300 else (0, 0, 0), 18_000),
    ],
    ids=["at once", "always", "often", "retries", "one batch", "every minute", "nothing known", "none come"],
)
def test_what_is_usual_is_not_found(happens: Callable[[int], Second], delay_s: int) -> None:
    assert first(watched(happens, 1800, delay_s=delay_s)) is None


@pytest.mark.parametrize("counted_s", [2, 10])
def test_it_ends_when_messages_are_ready_at_once_again_or_the_scheduled_ones_become_due(counted_s: int) -> None:
    def happens(second: int) -> Second:
        return (0, 9, 0) if 300 <= second < 400 else (9, 0, 0)

    found = dict(watched(happens, 600, counted_s=counted_s))
    assert found[390] is not None
    assert not any(found[second] for second in range(420, 600, 2))
    due = dict(
        watched(
            lambda second: (9, 0, 0) if second < 300 else (0, 9 if second < 400 else 0, 0),
            700,
            delay_s=200,
            pops_per_s=40,
            counted_s=counted_s,
        )
    )
    assert due[450] is not None
    assert due[650] is None


def test_polls_without_rates_or_counts_prove_nothing() -> None:
    track = DueTrack()
    for second in range(0, 2000, 10):
        flow = Flow(20.0, 0.0, 0.0, 20.0)
        unknown = Figure.unknown("no answer")
        blind = (None, Figure(0.0), Figure(2.0 * second)), (flow, unknown, Figure(0.0)), (flow, Figure(0.0), unknown)
        for offset, (moved, ready, scheduled) in enumerate(blind):
            assert track.record_poll(second + 3.0 * offset, moved, ready, scheduled) is None


def test_the_verdict_says_how_many_and_how_many_before() -> None:
    given = replace(FINE, queue=replace(FINE.queue, due_later=DueLater(60.0, 57.0, 0.0, 0.02)))
    (verdict,), _ = judge_queue(given, 0.0, {})
    assert (verdict.code, verdict.severity) == ("due later than usual", Severity.WARNING)
    many = pattern(FlowText.MANY_LATER, later=57, pushed=60)
    assert re.fullmatch(many + pattern(FlowText.DUE_LATER, many="", share="2 %"), verdict.proof)
