"""Reads events from recordings, segment by segment, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from qmon.model.operation_records import Operation
from qmon.recording.format.frames import Damaged
from qmon.recording.format.records import Line, PhaseChange, VerdictsLine
from qmon.recording.history.recording_archive import RecordingArchive
from qmon.recording.history.timeline import (
    PHASES,
    TimelineEvent,
    VerdictChanges,
    operation_event,
    phase_event,
    sort_newest_first,
)
from qmon.recording.read.segment_reader import frames_between, parse_lines_of_kinds

_LINE_KINDS: Final = frozenset({"verdict", "operation", "state"})


def recorded_events(archive: RecordingArchive, before_at: float) -> Iterator[tuple[TimelineEvent, ...]]:
    """Yield the events before a time, one segment at a time, newest first.

    Operations are in their latest state. Does not raise if a file is damaged; the undamaged part of the file is used.
    """
    told: set[str] = set()
    for path in reversed(archive.segments_between(float("-inf"), before_at)):
        found, done = read_segment_events(path, before_at)
        for id, event in done.items():
            if id not in told:
                told.add(id)
                found.append(event)
        yield sort_newest_first(found)


def read_segment_events(path: Path, before_at: float) -> tuple[list[TimelineEvent], dict[str, TimelineEvent]]:
    """Return the events of one segment, and its operations, keyed by id."""
    found: list[TimelineEvent] = []
    done: dict[str, TimelineEvent] = {}
    verdicts = VerdictChanges()
    try:
        for _, text in frames_between(path, float("-inf"), before_at):
            for line in parse_lines_of_kinds(text, _LINE_KINDS):
                if line.at >= before_at:
                    return found, done
                if line.kind == "operation":
                    operation: Operation = line.decode_record()
                    first = done.get(operation.id)
                    done[operation.id] = operation_event(line.at if first is None else first.at, operation)
                else:
                    found += _events_from_line(line, verdicts)
    except (Damaged, OSError):
        pass
    return found, done


def _events_from_line(line: Line, verdicts: VerdictChanges) -> list[TimelineEvent]:
    if line.kind == "state":
        changed: PhaseChange = line.decode_record()
        return [phase_event(line.at, changed.phase, changed.reason)] if changed.phase in PHASES else []
    holds: VerdictsLine = line.decode_record()
    found = [verdict.shift_clock(-holds.ahead_s) for verdict in holds.holds]
    if holds.repeated:
        verdicts.record_known_verdicts(line.at, holds.queue, found)
        return []
    return verdicts.record_verdicts(line.at, holds.queue, found, holds.undecided)
