"""Rings in every state that sessions, rollbacks, lost sessions and crashes can cause: all end in step."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.unit import ring_model
from tests.unit.ring_model import PUSH, Ring, all_ended, called, new, reached, repaired, walked

ENGINES = pytest.mark.parametrize("spares", [False, True], ids=["postgres", "sqlserver"])


def drained(ring: Ring) -> Ring:
    """Fresh consumers of each subscriber pop until the ring is empty."""
    for side in ring.readers:
        more = True
        while more:
            ring, more = called(ring, side)
    return ring


def healthy(ring: Ring) -> None:
    """Check that nothing is lost or doubled, and that for some laps each pushed message is popped by the next pop."""
    assert sorted(ring.popped) == sorted((side, each) for side in ring.readers for each in ring.pushed)
    laps = 2 * ring.size + 3
    for _ in range(laps):
        before = len(ring.pushed)
        ring, done = called(replace(ring, left=1), PUSH)
        assert done and len(ring.pushed) == before + 1, "the ring stays full"
        for side in ring.readers:
            ring, done = called(ring, side)
            assert done and ring.popped[-1] == (side, ring.pushed[-1]), "push and pop are not in step"


def heals(*rings: Ring) -> None:
    """Once their sessions end, all rings are healthy as soon as consumers arrive, with or without a repair."""
    for ring in rings:
        assert len(set(ring.popped)) == len(ring.popped), "delivered twice"
    ends = {all_ended(ring) for ring in rings}
    for ring in {drained(start) for end in ends for start in (end, repaired(end))}:
        healthy(ring)


def test_from_every_state_of_a_small_ring_consumers_bring_push_and_pop_in_step() -> None:
    start = new(spares=False, size=2, readers=1, sessions=(PUSH, 1), left=1, faults=2, doubts=0)
    ends = {all_ended(ring) for ring in reached(start, 3, 2, 20_000)}
    assert len(ends) > 50
    heals(*ends)


@ENGINES
@pytest.mark.parametrize(
    ("size", "readers", "sessions", "jump"),
    [
        (2, 1, (PUSH, PUSH, 1, 1), 3),
        (3, 1, (PUSH, 1, 1), 7),
        (4, 1, (PUSH, PUSH, 1), 1),
        (3, 2, (PUSH, PUSH, 1, 2, 2), 4),
    ],
    ids=["laps", "a jump of laps", "two producers", "two subscribers"],
)
def test_after_any_rollbacks_deaths_and_crashes_consumers_bring_push_and_pop_in_step(
    spares: bool, size: int, readers: int, sessions: tuple[int, ...], jump: int
) -> None:
    start = new(spares=spares, size=size, readers=readers, sessions=sessions, left=6, faults=3)
    for seed in range(60):
        heals(walked(start, jump, 3, random.Random(seed), 10 + seed))


def test_what_was_given_back_is_popped_in_the_order_of_numbers_where_sessions_look_first() -> None:
    start = new(spares=False, size=4, readers=1, sessions=(PUSH, 1), left=4, faults=2, doubts=0)
    for seed in range(150):
        ring = walked(start, 3, 3, random.Random(seed), 5 + seed // 5)
        done = drained(all_ended(ring))
        popped = [each for _, each in done.popped[len(ring.popped) :]]
        assert popped == sorted(popped, key=done.pushed.index)


@ENGINES
def test_without_consumers_that_settle_messages_are_stranded(spares: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ring_model, "settled", lambda *_: iter(()))
    start = new(spares=spares, size=2, readers=1, sessions=(PUSH, PUSH, 1, 1), left=6, faults=3)
    stranded = 0
    for seed in range(60):
        ended = drained(all_ended(walked(start, 3, 3, random.Random(seed), 10 + seed)))
        stranded += len(ended.popped) < len(ended.pushed)
    assert stranded > 0
