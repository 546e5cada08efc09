"""Reads events from recordings, segment by segment, newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from qmon.model.operations import Operation
from qmon.recording.format.frames import Damaged
from qmon.recording.format.records import Changed, Line, VerdictsLine
from qmon.recording.history.archive import RecordingArchive
from qmon.recording.history.timeline import (
    PHASES,
    TimelineEvent,
    VerdictChanges,
    newest_first,
    of_operation,
    of_phase,
)
from qmon.recording.read.segment_reader import frames_between, lines_of

_WANTED: Final = frozenset({"verdict", "operation", "state"})


def recorded_events(
    archive: RecordingArchive, before_at: float, stopped: Callable[[], bool] = lambda: False
) -> Iterator[tuple[TimelineEvent, ...]]:
    """Yield the events before a moment, one segment at a time, newest first. Operations appear in their latest state.

    Damaged files never raise: their undamaged part is used.
    """
    told: set[str] = set()
    for path in reversed(archive.between(float("-inf"), before_at)):
        if stopped():
            return
        found, done = _events(path, before_at)
        for id, event in done.items():
            if id not in told:
                told.add(id)
                found.append(event)
        yield newest_first(found)


def _events(path: Path, before_at: float) -> tuple[list[TimelineEvent], dict[str, TimelineEvent]]:
    """Return the events of one segment, and its operations by id."""
    found: list[TimelineEvent] = []
    done: dict[str, TimelineEvent] = {}
    verdicts = VerdictChanges()
    try:
        for _, text in frames_between(path, float("-inf"), before_at):
            for line in lines_of(text, _WANTED):
                if line.at >= before_at:
                    return found, done
                if line.kind == "operation":
                    operation: Operation = line.record()
                    first = done.get(operation.id)
                    done[operation.id] = of_operation(line.at if first is None else first.at, operation)
                else:
                    found += _of_line(line, verdicts)
    except (Damaged, OSError):
        pass
    return found, done


def _of_line(line: Line, verdicts: VerdictChanges) -> list[TimelineEvent]:
    if line.kind == "state":
        changed: Changed = line.record()
        return [of_phase(line.at, changed.phase, changed.reason)] if changed.phase in PHASES else []
    holds: VerdictsLine = line.record()
    found = [verdict.moved(-holds.ahead_s) for verdict in holds.holds]
    if holds.repeated:
        verdicts.known(line.at, holds.queue, found)
        return []
    return verdicts.add(line.at, holds.queue, found, holds.undecided)
