"""The worst queue comes first, and rows stay in place while figures merely rise and fall."""

from __future__ import annotations

import pytest

from qmon.model.figure import Figure, Severity, Verdict
from qmon.model.ranking import SETTLED_S, Ranking
from qmon.model.view import QueueView
from tests.tui.scripted import queue, view

pytestmark = pytest.mark.unit

UNKNOWN = Figure.unknown("our role may not read it")
FINE, NOTICE, WARNING, CRITICAL = Severity


def one(name: str, severity: Severity, ready: Figure | float = 0.0, oldest: Figure | float = 0.0) -> QueueView:
    """A queue with a verdict of this severity."""
    return queue(name, ready=ready, oldest=oldest, verdict=Verdict("said", "proof", severity))


def names(ranking: Ranking, *queues: QueueView, at: float = 0.0) -> list[str]:
    """Return their order at the next poll."""
    return [each.name for each in ranking.rank_queues(view(queues, at=at))]


def test_severity_then_messages_then_age_then_the_name() -> None:
    queues = (
        one("fine", FINE, 5_000_000),
        one("b", WARNING, 7, 20),
        one("a", WARNING, 7, 20),
        one("old", WARNING, 7, 900),
        one("few", CRITICAL, 3),
        one("many", CRITICAL, 1_204, 1),
        one("paused", NOTICE, 90_000),
    )
    assert names(Ranking(), *queues) == ["many", "few", "old", "a", "b", "paused", "fine"]


def test_what_is_unknown_is_ranked_by_what_is_known_and_never_above_critical() -> None:
    queues = (
        one("cannot tell", NOTICE, UNKNOWN, 80_000),
        one("blind", CRITICAL, UNKNOWN, UNKNOWN),
        one("few", CRITICAL, 1),
        one("blind, but old", CRITICAL, UNKNOWN, 60),
        one("cannot tell either", NOTICE, 500_000, UNKNOWN),
    )
    expected = ["few", "blind, but old", "blind", "cannot tell either", "cannot tell"]
    assert names(Ranking(), *queues) == expected


def test_rows_do_not_dance_while_figures_rise_and_fall() -> None:
    ranking = Ranking()
    for poll in range(60):
        bursts = (one("a", FINE, 300 if poll % 2 else 0), one("b", FINE, 100 + poll % 7), one("c", FINE, 98, poll % 3))
        assert names(ranking, *bursts, at=2.0 * poll) == ["b", "c", "a"]


def test_a_severity_counts_at_once_and_other_figures_when_they_have_lasted() -> None:
    ranking = Ranking()
    assert names(ranking, one("a", WARNING, 50), one("b", WARNING, 40)) == ["a", "b"]
    assert names(ranking, one("a", WARNING, 50), one("b", CRITICAL, 40), at=1.0) == ["b", "a"]
    assert names(ranking, one("a", WARNING, 50), one("b", WARNING, 400), at=2.0) == ["b", "a"]
    assert names(ranking, one("a", WARNING, 2_000), one("b", WARNING, 400), at=3.0) == ["b", "a"]
    assert names(ranking, one("a", WARNING, 2_000), one("b", WARNING, 400), at=2.9 + SETTLED_S) == ["b", "a"]
    assert names(ranking, one("a", WARNING, 2_000), one("b", WARNING, 400), at=3.0 + SETTLED_S) == ["a", "b"]


def test_a_replay_that_goes_back_ranks_anew() -> None:
    ranking = Ranking()
    names(ranking, one("a", FINE, 50), one("b", FINE, 0), at=100.0)
    names(ranking, one("a", FINE, 0), one("b", FINE, 500), at=101.0)
    assert names(ranking, one("a", FINE, 0), one("b", FINE, 500), at=7.0) == ["b", "a"]
