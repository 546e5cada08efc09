"""Reads any range of one queue's past, from memory and recordings, in a given number of steps.

From recordings, only the lines with figures and operations are read, not the snapshots. If steps are whole minutes,
each sealed segment is read once, and its sums per minute are cached.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from qmon.model.operation_records import Operation
from qmon.model.queue_figures import PLOTTED_FIGURES, QueueFigure
from qmon.recording.format.frames import OPEN_PREFIX, Damaged
from qmon.recording.format.poll_figures import Figures
from qmon.recording.format.records import JumpPoint, Line
from qmon.recording.history.buckets import LONGEST_SPAN_S, Bins, Bucket
from qmon.recording.history.collected_range import FIGURES, CollectedRange, SeenOperation, latest_operation
from qmon.recording.history.in_memory import InMemoryHistory, nearest_mark
from qmon.recording.history.incidents import Incident, RunCollector, incidents_from_runs
from qmon.recording.history.recording_archive import RecordingArchive
from qmon.recording.read.segment_reader import frames_between, parse_lines_of_kinds
from qmon.texts import Text


class RangeText(Text):
    """Damage of recordings that a query met."""

    DAMAGE = "{file}: {problem}"
    UNEVEN_POLL = "a poll does not have one figure for each queue"


MINUTE_S: Final = 60.0
_LINE_KINDS: Final = frozenset({"figures", "operation"})

# Maximum number of segments whose sums per minute are cached. The sums of a segment need about 25 kB. The cache is
# large enough for thirty days of one queue.
_CACHED_SEGMENTS: Final = 800
_SHOW_EVERY_S: Final = 0.3


@dataclass(frozen=True, slots=True)
class PastRange:
    """The part of a range read so far. ``read``: the share read, 0 to 1. ``queues``: names of all queues in the range.

    ``problem``: the damage found, in one line, or an empty text.
    """

    queue: str
    since_at: float
    step_s: float
    steps: Mapping[str, tuple[Bucket | None, ...]]
    incidents: tuple[Incident, ...] = ()
    operations: tuple[SeenOperation, ...] = ()
    queues: tuple[str, ...] = ()
    read: float = 1.0
    problem: str = ""

    @property
    def until_at(self) -> float:
        """End of the last step, seconds since the epoch."""
        return self.since_at + self.step_s * len(self.steps[FIGURES[0]])


class RangeReader:
    """Reads ranges from memory and from an archive. Only one thread at a time may use the archive.

    Args:
        archive: the recordings, if any.
        memory: the data since qmon started. ``None`` for a replay.
        zone: IANA time zone for display if there is no archive. If there is an archive, its zone is used.
    """

    def __init__(
        self, archive: RecordingArchive | None = None, memory: InMemoryHistory | None = None, zone: str = "UTC"
    ) -> None:
        self.archive = archive
        self.memory = memory
        self.zone = archive.zone if archive is not None else zone
        self.is_live = archive.is_live if archive is not None else True
        self._cache: OrderedDict[tuple[Path, str], CollectedRange] = OrderedDict()

    @property
    def ends_at(self) -> float:
        """The latest time that may have data. Does not read the disk."""
        if self.archive is not None:
            return self.archive.ends_at
        return self.memory.ends_at if self.memory is not None else 0.0

    @property
    def begins_at(self) -> float:
        """The earliest time with data. Reads the disk if there is an archive."""
        known = [each.begins_at for each in (self.archive, self.memory) if each is not None]
        return min(known, default=0.0)

    def find_jump_point(
        self, queue: str, at: float, *, forward: bool, stopped: Callable[[], bool] = lambda: False
    ) -> JumpPoint | None:
        """Return the next or previous incident or operation of a queue, seen from ``at``, or ``None``."""
        found = [
            self.archive.find_jump_point(queue, at, forward=forward, stopped=stopped)
            if self.archive is not None
            else None,
            self.memory.find_jump_point(queue, at, forward=forward) if self.memory is not None else None,
        ]
        return nearest_mark(found, at, forward=forward)

    def read_range(
        self, queue: str, since_at: float, step_s: float, count: int, stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[PastRange]:
        """Yield ranges of ``count`` steps of ``step_s`` seconds from ``since_at``: partial ones, then the complete one.

        The first result contains the data in memory. In later results, recorded data replaces the data in memory,
        newest first. Reading ends early if ``stopped`` returns true. If steps are whole minutes, ``since_at`` must be a
        whole minute. Does not raise if a file is damaged.
        """
        until_at = since_at + step_s * count
        whole = CollectedRange(Bins(since_at, step_s, count, len(FIGURES)))
        known = self.memory.queue_history(queue, since_at, step_s, count) if self.memory is not None else None
        paths = self.archive.segments_between(since_at - LONGEST_SPAN_S, until_at) if self.archive is not None else []
        by_minute = step_s >= MINUTE_S and step_s % MINUTE_S == 0
        shown_at = time.monotonic()
        if known is not None and paths:
            yield _past_range(queue, whole, known, 0.0)
        for number, path in enumerate(reversed(paths)):
            if by_minute and not path.name.startswith(OPEN_PREFIX):
                for share in self._merge_sealed(path, queue, whole, stopped):
                    if time.monotonic() - shown_at >= _SHOW_EVERY_S:
                        yield _past_range(queue, whole, known, (number + share) / len(paths))
                        shown_at = time.monotonic()
            else:
                one = CollectedRange(whole.bins)
                for share in gather_segment(path, queue, one, since_at, until_at):
                    if stopped():
                        break
                    if time.monotonic() - shown_at >= _SHOW_EVERY_S:
                        yield _past_range(queue, whole, known, (number + share) / len(paths))
                        shown_at = time.monotonic()
                whole.merge_events(one)
            if stopped():
                yield _past_range(queue, whole, known, number / len(paths))
                return
        yield _past_range(queue, whole, known, 1.0)

    def _merge_sealed(
        self, path: Path, queue: str, collected: CollectedRange, stopped: Callable[[], bool]
    ) -> Iterator[float]:
        """Merge a sealed segment, from the cache if possible."""
        key = (path, queue)
        found = self._cache.get(key)
        if found is None:
            span = self.archive.segment_span(path) if self.archive is not None else None
            if span is None:
                return
            start = span[0] // MINUTE_S * MINUTE_S - MINUTE_S
            found = CollectedRange(Bins(start, MINUTE_S, int((span[1] - start) // MINUTE_S) + 1, len(FIGURES)))
            for share in gather_segment(path, queue, found, *span):
                if stopped():
                    return
                yield share
            self._cache[key] = found
            while len(self._cache) > _CACHED_SEGMENTS:
                self._cache.popitem(last=False)
        self._cache.move_to_end(key)
        collected.merge_range(found)


def gather_segment(
    path: Path, queue: str, collected: CollectedRange, since_at: float, until_at: float
) -> Iterator[float]:
    """Read the lines of a segment between two times into ``collected``.

    Yields the share read so far after each frame.
    """
    runs = RunCollector()
    collected.runs = runs.runs
    try:
        for share, text in frames_between(path, since_at - MINUTE_S, until_at):
            for line in parse_lines_of_kinds(text, _LINE_KINDS):
                _record_line(line, queue, collected, runs)
            yield share
    except (Damaged, OSError) as problem:
        collected.problem = RangeText.DAMAGE.render(
            file=path.name, problem=problem.strerror if isinstance(problem, OSError) else problem
        )


def _record_line(line: Line, queue: str, collected: CollectedRange, runs: RunCollector) -> None:
    if line.kind == "operation":
        operation: Operation = line.decode_record()
        if operation.queue in ("", queue):
            collected.operations[operation.id] = latest_operation(
                collected.operations.get(operation.id), SeenOperation(line.at, operation)
            )
    elif line.kind == "figures":
        try:
            _record_figures(line.at, line.decode_record(), queue, collected, runs)
        except IndexError:
            raise Damaged(RangeText.UNEVEN_POLL) from None


def _record_figures(at: float, poll: Figures, queue: str, collected: CollectedRange, runs: RunCollector) -> None:
    collected.queues.update(poll.queue)
    if queue not in poll.queue:
        return
    place = poll.queue.index(queue)

    def column(name: str) -> Any:
        values = getattr(poll, name)
        return values[place] if values else None

    span = column("span_s")
    span = span if span is not None and 0 < span <= LONGEST_SPAN_S else None

    def value(figure: QueueFigure) -> float | None:
        found: float | None = column(figure.moved or figure.recorded_name)
        return found if not figure.moved or found is None else None if span is None else found / span

    collected.bins.record_reading(at, span, tuple(map(value, PLOTTED_FIGURES)))
    runs.record_verdict(at, column("verdict") or "", column("severity") or 0, column("proof") or "", column("since_at"))


def _past_range(queue: str, collected: CollectedRange, in_memory: CollectedRange | None, read: float) -> PastRange:
    """Return the range that was read so far. ``in_memory``: data in memory, for steps without recorded data."""
    bins = collected.bins
    until_at = bins.start_at + bins.step_s * bins.count
    steps = {name: bins.steps(figure) for figure, name in enumerate(FIGURES)}
    words = CollectedRange(bins)
    words.merge_events(collected)
    if in_memory is not None:
        words.merge_events(in_memory)
        for figure, (name, read_steps) in enumerate(steps.items()):
            steps[name] = tuple(
                theirs if theirs is not None else ours
                for theirs, ours in zip(read_steps, in_memory.bins.steps(figure), strict=True)
            )
    done = sorted(words.operations.values(), key=lambda each: each.at)
    return PastRange(
        queue,
        bins.start_at,
        bins.step_s,
        steps,
        tuple(i for i in incidents_from_runs(words.runs) if i.last_at >= bins.start_at and i.began_at < until_at),
        tuple(each for each in done if bins.start_at <= each.at < until_at),
        tuple(sorted(words.queues, key=str.casefold)),
        read,
        words.problem,
    )
