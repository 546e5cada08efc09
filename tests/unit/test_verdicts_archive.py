"""Archive behind: done messages pile up while nothing is archived."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from qmon.model.evidence import Archiving, QueueEvidence
from qmon.model.figure import Figure
from qmon.model.verdicts import judge_queue
from qmon.model.verdicts.flow_verdicts import BEHIND, FlowText
from qmon.monitor.state.diagnosis import ArchiveTrack
from tests.unit.polls import COUNTERS
from tests.unit.rule_inputs import FINE

NEVER = Archiving(10_000, 2_000, 40.0, None, None, untouched=True)
STOPPED = Archiving(2_000, 1_900, 40.0, 13.0, 900.0, untouched=False)


def said(archiving: Archiving | None, seconds: float = 10.0) -> dict[str, str]:
    signs = replace(FINE, queue=QueueEvidence(archiving=archiving))
    _, since = judge_queue(signs, 100.0, {})
    return {v.code: v.proof for v in judge_queue(signs, 100.0 + seconds, since)[0]}


def test_done_messages_that_grow_while_nothing_is_archived() -> None:
    assert said(NEVER) == {"archive behind": FlowText.NEVER_ARCHIVED.render(done=10000)}
    assert said(STOPPED) == {
        "archive behind": FlowText.NOT_ARCHIVED.render(
            done=2000, silent="40 s", before=FlowText.LONGEST_BREAK.render(usual="13 s")
        )
    }
    assert said(NEVER, 9.9).keys() == {"healthy"}


@pytest.mark.parametrize(
    "fine",
    [
        None,
        replace(NEVER, done=9_999),
        replace(NEVER, grown=99),
        replace(NEVER, silent_s=19.9),
        replace(NEVER, untouched=False),
        replace(STOPPED, done=1_799),
        replace(STOPPED, done=999, most=10.0, grown=900),
        replace(STOPPED, silent_s=38.9),
        replace(STOPPED, usual_s=None),
    ],
)
def test_no_archiver_is_behind_without_all_of_the_evidence(fine: Archiving | None) -> None:
    assert said(fine, 60.0).keys() == {"healthy"}


def watched(polls: Iterable[tuple[float, float, int]], track: ArchiveTrack | None = None) -> set[float]:
    """Return the times with evidence, from polls with a time, the number of done messages, and the number archived."""
    track = track or ArchiveTrack()
    behind: set[float] = set()
    for at, done, archived in polls:
        counters = replace(COUNTERS, inserted=round(done), live=round(done) - archived, deleted=archived)
        evidence = QueueEvidence(archiving=track.record_poll(counters, Figure(done - archived), at))
        if BEHIND.proof(replace(FINE, queue=evidence)) is not None:
            behind.add(at)
    return behind


def polls(
    seconds: int, pushed: Callable[[int], float], archives: Callable[[int, float], float], before: int = 0
) -> list[tuple[float, float, int]]:
    """Poll once per second. ``pushed``: messages in a second; ``archives``: how many of the done messages it takes."""
    done, archived, found = float(before), 0, []
    for at in range(seconds):
        done += pushed(at)
        archived += int(archives(at, done - archived))
        found.append((float(at), done, archived))
    return found


def steady(_: int) -> float:
    return 60.0


def in_bursts(at: int) -> float:
    return 200.0 if at % 60 < 20 else 0.0


HEALTHY = {
    "all the time": lambda at, done: done,
    "a run every five minutes": lambda at, done: min(done, 2_000) if at % 300 < 15 else 0,
    "a run every ten minutes": lambda at, done: min(done, 9_000) if at % 600 < 8 else 0,
    "once there are many": lambda at, done: done if done > 8_000 else 0,
    "at odd times": lambda at, done: done if at % 97 == 0 or at % 41 == 0 else 0,
}


@pytest.mark.parametrize("archives", HEALTHY.values(), ids=HEALTHY)
@pytest.mark.parametrize("pushed", [steady, in_bursts])
@pytest.mark.parametrize("restart", [0, 4, 61, 333])
def test_an_archiver_that_comes_in_its_own_time_is_never_behind(
    archives: Callable[[int, float], float], pushed: Callable[[int], float], restart: int
) -> None:
    hour = polls(3_600, pushed, archives, before=9_000)
    assert watched(hour[restart:]) == set()


@pytest.mark.parametrize("archives", HEALTHY.values(), ids=HEALTHY)
@pytest.mark.parametrize("pushed", [steady, in_bursts])
def test_an_archiver_that_stops_is_behind_once_and_until_it_comes_again(
    archives: Callable[[int, float], float], pushed: Callable[[int], float]
) -> None:
    def stops(at: int, done: float) -> float:
        return 0 if 3_600 <= at < 7_200 else archives(at, done)

    behind = sorted(watched(polls(7_300, pushed, stops)))
    assert behind, "it is found within an hour"
    assert behind == [float(at) for at in range(int(behind[0]), int(behind[-1]) + 1)], "only once, even between bursts"
    assert behind[0] < 3_600 + 2_400
    assert 7_199 <= behind[-1] <= 7_200 + 300


def test_a_table_that_nothing_was_ever_deleted_from_is_behind_once() -> None:
    behind = sorted(watched(polls(3_600, in_bursts, lambda at, done: 0)))
    assert behind == [float(at) for at in range(int(behind[0]), 3_600)]


def test_the_counters_of_a_table_that_was_filled_before_them_say_nothing_of_its_archiver() -> None:
    track = ArchiveTrack()
    found = track.record_poll(replace(COUNTERS, inserted=20_000, live=600_000), Figure(600_000.0), 0.0)
    assert found is not None
    assert not found.untouched


def test_a_reset_of_the_counters_begins_anew() -> None:
    track = ArchiveTrack()
    watched(polls(100, steady, HEALTHY["at odd times"]), track)
    assert track.record_poll(COUNTERS, Figure(1_100.0), 172.0) == Archiving(
        1_100.0, 0.0, 0.0, None, None, untouched=True
    )
    assert track.record_poll(None, Figure(5.0), 174.0) is None
    assert track.record_poll(COUNTERS, Figure.unknown("a flag"), 176.0) is None
