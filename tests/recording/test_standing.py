"""The start of a verdict in a replay equals the live one, even if it began long before the part that is read again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.model.samples.polled_samples import PauseSample
from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.monitor.source import Event
from qmon.monitor.state.target_history import TargetHistory
from qmon.recording.format.records import SessionLine, VerdictsLine
from qmon.recording.read.recording_paths import list_segments
from qmon.recording.read.recording_reader import open_recording
from qmon.recording.read.replay import Replay, view_at
from qmon.recording.write.recorder import verdicts_for_queue
from qmon.recording.write.rolling_writer import RollingWriter
from tests.facts import wait_until
from tests.recording.days import BEGIN, EVERY_S, poll
from tests.tui.scripted import queue

PAUSED: Final = PauseSample(
    "mails", str(queue("mails", "status").layout.table), "producers", BEGIN, BEGIN + 9e4, "anna", "deploy", "switch"
)
FIRST: Final = 5
LAST: Final = 90


def taken(number: int) -> Snapshot:
    """Return one poll per minute.

    The producers of mails are paused from the sixth on, except for one poll half an hour later.
    """
    found = poll(number + 1, BEGIN + number * EVERY_S, "shop", EVERY_S)
    return replace(found, pauses=(PAUSED,) if number >= FIRST and number != 35 else ())


@pytest.fixture
def live(tmp_path: Path) -> list[View]:
    """Return the live views, which are recorded below ``tmp_path`` in two segments."""
    roll = RollingWriter(
        tmp_path, "4f2a9c01be77", SessionLine("shop", "postgres", "18.6", "0.1.0", "UTC", EVERY_S, BEGIN)
    )
    roll.open_segment(BEGIN, ())
    history = TargetHistory()
    views: list[View] = []
    said: dict[str, VerdictsLine] = {}
    for number in range(LAST):
        at = BEGIN + number * EVERY_S
        roll.roll_segment(at, [replace(each, repeated=True) for each in said.values()])
        roll.add_snapshot(taken(number), at)
        views.append(history.record_snapshot(taken(number)))
        for each in views[-1].queues:
            before, now = said.get(each.name), VerdictsLine(each.name, verdicts_for_queue(each))
            if before is None or [v.code for v in now.holds] != [v.code for v in before.holds]:
                roll.add_record(now, at)
                said[each.name] = now
        roll.flush(at)
    roll.abandon_segment()
    assert len(list_segments(tmp_path)) == 2
    return views


def since(view: View) -> float | None:
    """Return the start of the queue's pause."""
    mails = view.queue("mails")
    assert mails is not None and mails.verdict.code == "paused"
    return mails.verdict.since_at


@pytest.mark.parametrize("number", [5, 20, 34, 36, 37, 50, 51, 59, 60, 61, 75, 89])
def test_a_verdict_holds_since_it_held_live(live: list[View], tmp_path: Path, number: int) -> None:
    assert since(live[number]) == BEGIN + EVERY_S * (FIRST if number < 35 else 36)
    found = view_at(open_recording(tmp_path), BEGIN + number * EVERY_S)
    assert found is not None
    assert since(found[2]) == since(live[number])


def test_it_is_known_while_it_plays_on(live: list[View], tmp_path: Path) -> None:
    replay, views = Replay(open_recording(tmp_path), BEGIN + 80 * EVERY_S, playing=False), list[View]()

    def sink(event: Event) -> None:
        if isinstance(event, Snapshot):
            views.append(replay.fold(event))

    replay.start(sink)
    try:
        wait_until(lambda: bool(views) and since(views[-1]) == since(live[80]), what="all of the past")
        replay.step()
        wait_until(lambda: views[-1].sequence == live[81].sequence, what="the next poll")
        assert since(views[-1]) == since(live[81])
    finally:
        replay.close()
