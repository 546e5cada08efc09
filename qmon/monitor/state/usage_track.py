"""Compute rates and figures per pop from the usage samples of a queue's tables and indexes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import attrgetter
from statistics import median
from typing import Final

from qmon.model.figure import Figure
from qmon.model.layout.layout import Layout
from qmon.model.rates.flow import Flow
from qmon.model.rates.procedure_reads import reads_between
from qmon.model.rates.queue_use import COUNTED, IndexKey, IndexUse, PopWork, QueueUse, all_work_between
from qmon.model.reasons import Reason
from qmon.model.samples.usage_samples import Fragmentation, ProcedureReads, UseSample
from qmon.model.snapshot import QueueSamples, Snapshot

WINDOW_S: Final = 10.0
ANALYZED_S: Final = 20.0
_GROWTH_S: Final = 300.0
REMEMBER_EVERY_S: Final = 5.0
_REMEMBERED: Final = 720
_BEFORE_S: Final = 600.0

# Seconds over which reads per call are averaged. The totals of procedures are read every ten seconds or less often.
_READS_S: Final = 60.0


# Usage samples, keyed by table id.
TableUses = Mapping[int, Sequence[UseSample]]


def group_uses(snapshot: Snapshot) -> TableUses | None:
    """Group the samples by table, once per poll, so that a queue finds its own samples without searching all samples.

    Returns ``None`` if this poll did not read usage samples.
    """
    if snapshot.uses is None:
        return None
    found: dict[int, list[UseSample]] = {}
    for use in snapshot.uses:
        found.setdefault(use.table_id, []).append(use)
    return found


def uses_of_queue(uses: TableUses | None, samples: QueueSamples) -> dict[IndexKey, UseSample]:
    """Return the totals of a queue's own table and its indexes."""
    if uses is None or samples.counters is None:
        return {}
    return {(use.table_id, use.index_id): use for use in uses.get(samples.counters.table_id, ())}


@dataclass(frozen=True, slots=True)
class _Tick:
    at: float
    seconds: float
    popped: float
    work: dict[IndexKey, PopWork]
    updated: int
    hot: int


class UseTrack:
    """The usage of one queue's tables. Not thread-safe."""

    def __init__(self) -> None:
        self._prev: dict[IndexKey, UseSample] = {}
        self._prev_samples: QueueSamples | None = None
        self._prev_at: float | None = None
        self._analyzes: deque[tuple[float, int]] = deque()
        self._popped = 0.0
        self._polls = 0
        self._reads = ReadsTrack()
        self._read: Figure | None = None
        self._shown: QueueUse | None = None
        self._ticks: deque[_Tick] = deque()
        self._sizes: dict[IndexKey, deque[tuple[float, int]]] = {}
        self._past: deque[tuple[float, float | None]] = deque(maxlen=_REMEMBERED)
        # The time of the newest tick with work on a table.
        self._worked_at = 0.0
        # True if the newest flow distinguished pops from completions.
        self._tells_pops = True

    def record_poll(
        self,
        snapshot: Snapshot,
        samples: QueueSamples,
        uses: TableUses | None,
        flow: Flow | None,
        *,
        moved: bool = True,
    ) -> QueueUse | None:
        """Record one poll. ``flow``: messages moved since the previous poll; ``None`` across a gap or a reset.

        If ``moved`` is false, this poll did not read the flow, and the next flow covers both polls.
        """
        at = snapshot.sampled_at
        self._read = self._reads.record_poll(snapshot, samples.layout)
        if not moved:
            return self._shown
        if flow is None:
            self._prev_at = None
            self._shown = self._shown if samples.elsewhere else None  # on a standby there is never a flow
            self._ticks.clear()
            self._analyzes.clear()
        else:
            self._popped += flow.popped or 0.0
            self._tells_pops = flow.popped is not None
            self._polls += 1
        if samples.counters is not None:
            self._analyzes.append((at, samples.counters.analyzes))
        while len(self._analyzes) > 1 and self._analyzes[0][0] <= at - ANALYZED_S:
            self._analyzes.popleft()
        own = {c.table_id for c in (samples.counters, samples.data_counters) if c is not None}
        if uses is None or not own:
            return self._shown  # not read in this poll
        now = {(use.table_id, use.index_id): use for table in own for use in uses.get(table, ())}
        works = all_work_between(self._prev, now, self._polls) if self._prev_at is not None else None
        if works is None or self._prev_at is None:
            self._ticks.clear()
            self._worked_at = at
        else:
            updated, hot = self._count_updates(samples)
            if updated or hot or self._popped or not all(work.is_empty for work in works.values()):
                self._worked_at = at
            self._ticks.append(_Tick(at, at - self._prev_at, self._popped, works, updated, hot))
        while self._ticks and self._ticks[0].at <= at - WINDOW_S:
            self._ticks.popleft()
        sized_at = at if samples.sized_at is None else samples.sized_at
        if self._shown is not None and self.is_unchanged(self._shown, snapshot, now, at):
            found = self._read, sized_at, self._analyze_count
            if found != (self._shown.reads_per_pop, self._shown.sized_at, self._shown.analyzed):
                self._shown = replace(self._shown, reads_per_pop=found[0], sized_at=found[1], analyzed=found[2])
        else:
            self._shown = self._build_use(snapshot, now, at, sized_at)
        self._prev, self._prev_samples, self._prev_at = now, samples, at
        self._popped, self._polls = 0.0, 0
        return self._shown

    @property
    def _analyze_count(self) -> int:
        return max(0, self._analyzes[-1][1] - self._analyzes[0][1]) if self._analyzes else 0

    def is_unchanged(self, shown: QueueUse, snapshot: Snapshot, now: dict[IndexKey, UseSample], at: float) -> bool:
        """Return whether the result is the same as in the previous poll, so that it need not be built again.

        This requires that the window contained no work in the previous or this poll, that no size has changed,
        that no other part depends on the time, and that it is not time to remember a value.
        """
        prev, prev_at = self._prev, self._prev_at
        return (
            prev_at is not None
            and prev_at - self._worked_at > WINDOW_S
            and at - self._past[-1][0] < REMEMBER_EVERY_S
            and not (snapshot.horizon or snapshot.fragments or any(part.growth for part in shown.parts))
            and prev.keys() == now.keys()
            and all((use.bytes, use.ghosts) == (prev[key].bytes, prev[key].ghosts) for key, use in now.items())
        )

    def _count_updates(self, samples: QueueSamples) -> tuple[int, int]:
        before = self._prev_samples
        if before is None or before.counters is None or samples.counters is None:
            return 0, 0
        return (
            samples.counters.updated - before.counters.updated,
            samples.counters.hot_updated - before.counters.hot_updated,
        )

    def _build_use(self, snapshot: Snapshot, now: dict[IndexKey, UseSample], at: float, sized_at: float) -> QueueUse:
        rows = self._figure_per_pop(lambda work: work.rows)
        if not self._past or at - self._past[-1][0] >= REMEMBER_EVERY_S:
            self._past.append((at, rows.value if self._read is None else self._read.value))
        updated = sum(tick.updated for tick in self._ticks)
        hot = sum(tick.hot for tick in self._ticks)
        ghosts = [use.ghosts for use in now.values() if use.ghosts is not None]
        fragments = {(each.table_id, each.index_id): each for each in snapshot.fragments}
        return QueueUse(
            rows_per_pop=rows,
            pages_per_pop=self._figure_per_pop(lambda work: work.pages),
            before=self._per_pop_before(snapshot, at),
            hot_share=Figure(hot / updated) if updated > 0 and hot >= 0 else Figure.unknown(Reason.NOTHING_UPDATED),
            dead=sum(ghosts) if ghosts else None,
            trend=tuple(value for _, value in self._past),
            parts=tuple(self._index_use(key, use, at, fragments.get(key)) for key, use in sorted(now.items())),
            analyzed=self._analyze_count,
            reads_per_pop=self._read,
            sized_at=sized_at,
        )

    def _figure_per_pop(self, value_of: Callable[[PopWork], int | None]) -> Figure:
        if not self._ticks:
            return Figure.unknown(Reason.FOLLOWS_WITH_SECOND_POLL)
        popped = sum(tick.popped for tick in self._ticks)
        works = [work for tick in self._ticks for work in tick.work.values()]
        known = [value for value in map(value_of, works) if value is not None]
        if not known:
            return Figure.unknown(Reason.SERVER_DOES_NOT_COUNT_ROWS)
        if not self._tells_pops:
            return Figure.unknown(Reason.POPS_AS_COMPLETIONS)
        if popped < 1:
            return Figure.unknown(Reason.NOTHING_POPPED)
        return Figure(sum(known) / popped, estimated=not all(work.ours for work in works))

    def _per_pop_before(self, snapshot: Snapshot, at: float) -> float | None:
        """Return the rows touched per pop before the oldest holder of the horizon began."""
        held = next((one.held_s for one in snapshot.horizon or ()), None)
        began = at - (held or 0.0)
        values = [value for when, value in self._past if value is not None and began - _BEFORE_S <= when < began]
        return median(values) if values else None

    def _index_use(self, key: IndexKey, use: UseSample, at: float, fragmentation: Fragmentation | None) -> IndexUse:
        seconds = sum(tick.seconds for tick in self._ticks)
        works = [tick.work[key] for tick in self._ticks if key in tick.work]
        counts = zip(*map(_read_counts, works), strict=True) if works else repeat((), len(COUNTED))
        rates = dict(zip(COUNTED, (_per_second(count, seconds) for count in counts), strict=True))
        read_at = fragmentation.read_at if fragmentation is not None else None
        return IndexUse(
            name=use.name,
            role=use.role,
            id=use.index_id,
            bytes=use.bytes,
            ghosts=use.ghosts,
            growth=self._growth_per_s(key, use, at),
            sequential=use.sequential,
            **rates,
            fragmented=fragmentation.fragmented if fragmentation is not None else None,
            fragmented_s=None if read_at is None else max(0.0, at - read_at),
            unread=fragmentation.unread if fragmentation is not None else "",
        )

    def _growth_per_s(self, key: IndexKey, use: UseSample, at: float) -> float | None:
        if use.bytes is None:
            return None
        sizes = self._sizes.setdefault(key, deque(maxlen=_REMEMBERED))
        if not sizes or at - sizes[-1][0] >= REMEMBER_EVERY_S:
            sizes.append((at, use.bytes))
        while len(sizes) > 1 and at - sizes[0][0] > _GROWTH_S:
            sizes.popleft()
        since, was = sizes[0]
        return (use.bytes - was) / (at - since) if at - since >= REMEMBER_EVERY_S else None


def _per_second(counts: Sequence[float | None], seconds: float) -> float | None:
    known = [count for count in counts if count is not None]
    return sum(known) / seconds if known and seconds > 0 else None


_read_counts: Final = attrgetter(*COUNTED)


class ReadsTrack:
    """Pages read per call of the procedure that pops from one queue, over the last minute (SQL Server).

    Pages per call do not depend on the time between readings, and totals of different plans are never compared. A
    restart therefore needs no special handling.
    """

    def __init__(self) -> None:
        self._totals: deque[tuple[float, tuple[ProcedureReads, ...]]] = deque(maxlen=256)
        self._shown: Figure | None = None
        self._shown_at = 0.0

    def record_poll(self, snapshot: Snapshot, layout: Layout) -> Figure | None:
        """Return the pages per call of a pop; ``None`` on an engine that does not count these pages.

        A poll that did not read the totals returns an earlier figure with its age.
        """
        at = snapshot.sampled_at
        if snapshot.procedures is None:
            if self._shown is None or self._shown.value is None:
                return self._shown
            return Figure(self._shown.value, age_s=max(0.0, at - self._shown_at))
        own = tuple(each for each in snapshot.procedures if each.queue == layout.queue)
        while self._totals and at - self._totals[0][0] > _READS_S * 1.5:
            self._totals.popleft()
        self._shown, self._shown_at = self._pages_per_call(own, layout), at
        self._totals.append((at, own))
        return self._shown

    def _pages_per_call(self, now: tuple[ProcedureReads, ...], layout: Layout) -> Figure:
        if not any(each.verb == "pop" for each in now):
            return Figure.unknown(Reason.PROCEDURES_NOT_RUN if layout.routines else Reason.NO_POP_PROCEDURE.render())
        for _, before in self._totals:
            moved = reads_between(before, now, "pop")
            if moved is not None:
                reads, calls = moved
                return Figure(reads / calls) if calls > 0 else Figure.unknown(Reason.NO_POP_ENDED)
        return Figure.unknown(Reason.FOLLOWS_WITH_NEXT_READING)
