"""The newest messages of a queue: push times from a wrong clock, and the same message again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from qmon.model.evidence import Duplicates, QueueEvidence, WrongClock
from qmon.model.figure import Figure
from qmon.model.formatting import duration, time_of_day
from qmon.model.reasons import Reason
from qmon.model.samples.message_samples import MessageDiagnostics, NewestSample
from qmon.model.samples.polled_samples import HeadSample
from qmon.model.snapshot import QueueSamples
from qmon.model.verdicts import judge_queue
from qmon.model.verdicts.message_verdicts import MessageVerdictText
from qmon.monitor.state.first_seen import WatchedIds
from qmon.monitor.state.newest_messages import RECENT_S, NewestTrack
from qmon.monitor.state.sample_figures import oldest_figure
from tests.unit.rule_inputs import FINE, LAYOUT

STEP_S = 10.0
NOON = 43_200.0
# The push time of a message with this id, relative to its real push time, or its content.
Offset = Callable[[int, float], float | None]


def readings(
    count: int,
    offset: Offset = lambda id, at: 0.0,
    text: Callable[[int], str | None] = str,
    per_step: int = 10,
    track: NewestTrack | None = None,
) -> Iterator[tuple[float, WrongClock | None, Duplicates | None]]:
    """Yield the findings of readings with ``per_step`` messages each, which were pushed evenly between the readings."""
    track = NewestTrack() if track is None else track
    for number in range(count):
        at, rows = NOON + number * STEP_S, []
        for place in range(per_step):
            id, age_s = 1 + number * per_step + place, STEP_S * (1 - place / per_step)
            wrong = offset(id, at)
            rows.append(NewestSample(id, None if wrong is None else age_s + wrong, text(id)))
        diagnostics = MessageDiagnostics(newest=tuple(reversed(rows)))
        samples = QueueSamples(LAYOUT, last_id=(number + 1) * per_step, diagnostics=diagnostics)
        yield (at, *track.record_poll(samples, at))


@pytest.mark.parametrize("offset_s", [10_800.0, -7200.0, 71.0])
def test_push_times_that_differ_from_the_clock_by_the_same_time_are_a_wrong_clock(offset_s: float) -> None:
    found = list(readings(8, lambda id, at: offset_s if id % 5 == 0 and at >= NOON + 30 else 0.0))
    (first, *_) = ((at, clock) for at, clock, _ in found if clock is not None)
    assert first[0] == NOON + 50, "three readings agree"
    clock = first[1]
    assert clock is not None
    assert clock.behind_s == pytest.approx(offset_s, abs=STEP_S)
    assert (clock.messages, clock.total, clock.since_at) == (6, 50, NOON + 30)


@pytest.mark.parametrize(
    "offset",
    [
        lambda id, at: 59.0 if id % 2 else -59.0,
        lambda id, at: None,
        lambda id, at: at - NOON + 3600.0,
        lambda id, at: 100.0 * id,
        lambda id, at: 3600.0 if at == NOON + 20 else 0.0,
    ],
    ids=["clock drift", "no push time", "one transaction or push time", "an import", "a single reading"],
)
def test_other_push_times_are_no_wrong_clock(offset: Offset) -> None:
    assert [clock for _, clock, _ in readings(20, offset) if clock is not None] == []


def test_a_wrong_clock_is_over_a_minute_after_its_last_message() -> None:
    track = NewestTrack()
    *_, (at, clock, _) = readings(6, lambda id, at: 3600.0, track=track)
    assert clock is not None
    nothing = QueueSamples(LAYOUT)
    assert track.record_poll(nothing, at + RECENT_S - STEP_S * 3)[0] is not None
    assert track.record_poll(nothing, at + RECENT_S)[0] is None


def test_a_push_time_of_a_wrong_clock_gives_no_age() -> None:
    track = NewestTrack()
    list(readings(6, lambda id, at: 10_800.0, track=track))
    at, ids = NOON + 60.0, WatchedIds()

    def oldest(age_s: float) -> Figure:
        head = HeadSample("70", age_s, 3)
        return oldest_figure(replace(QueueSamples(LAYOUT), head=head), ids, at, track.clock)

    assert oldest(20.0) == Figure(20.0)
    why = Reason.CLOCK_BEHIND.render(age=duration(10_805.0))
    assert oldest(10_805.0) == Figure.unknown(why)
    ids.record_last_id(60, at - 50.0)
    ids.record_last_id(80, at - 40.0)
    found = oldest(10_805.0)
    assert found.value == pytest.approx(45.0, abs=5.0)
    assert found.reason == Reason.WATCHED.render(reason=why)


def test_the_same_message_again_and_again_is_found_in_a_queue_of_different_messages() -> None:
    found = list(readings(20, text=lambda id: "same" if id > 120 and id % 2 else str(id)))
    (first, *_) = ((at, copies) for at, _, copies in found if copies is not None)
    assert first[0] == NOON + 140, "a fifth of the newest messages"
    assert first[1] == Duplicates(15, 70, (147, 149), pytest.approx(1 / 70))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [lambda id: "tick", lambda id: str(id % 4), str, lambda id: None, lambda id: "same" if id > 120 else None],
    ids=["always the same", "always one of four", "all different", "not read", "unknown before"],
)
def test_messages_that_were_always_equal_or_are_unknown_are_no_duplicates(text: Callable[[int], str | None]) -> None:
    assert [copies for _, _, copies in readings(30, text=text) if copies is not None] == []


def test_wrong_clocks_and_duplicates_are_verdicts_with_their_proofs() -> None:
    behind, copies = WrongClock(10_800.0, 6, 50, NOON), Duplicates(15, 70, (147, 149), 0.02)

    def proofs(**evidence: object) -> dict[str, str]:
        given = replace(FINE, queue=replace(QueueEvidence(), **evidence))  # type: ignore[arg-type]
        return {verdict.code: verdict.proof for verdict in judge_queue(given, 0.0, {})[0]}

    since, offset = time_of_day(NOON), duration(10_800.0)
    clock = {"since": since, "count": 6, "total": 50, "offset": offset}
    assert proofs(wrong_clock=behind) == {"wrong clock": MessageVerdictText.CLOCK_BEHIND.render(**clock)}
    ahead = replace(behind, behind_s=-10_800.0)
    assert proofs(wrong_clock=ahead) == {"wrong clock": MessageVerdictText.CLOCK_AHEAD.render(**clock)}
    assert proofs(duplicates=copies) == {
        "duplicates": MessageVerdictText.DUPLICATES.render(copies=15, total=70, first=147, second=149, share="2 %")
    }
