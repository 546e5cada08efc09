"""Which probes one queue gets in a poll, from its layout and the facts about its tables."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final
from zlib import crc32

from qmon.engines.base import Value
from qmon.engines.queries import Name
from qmon.model.facts import TableFacts
from qmon.model.layout import Layout
from qmon.model.samples import (
    CountSample,
    HeadSample,
    HeldSample,
    MessageSample,
    ProgressIdSample,
    ProgressSample,
    RingSample,
)
from qmon.monitor.figures import COUNT_LIMIT
from qmon.monitor.jobs import Book, Job

_FULL: Final = COUNT_LIMIT + 1
_RECOUNT_EVERY: Final = 5
_HELD_AT_LEAST: Final = 200
_COUNTING_S: Final = 10.0
_RING_WINDOW: Final = 32
_BOUND_LAG: Final = 2


@dataclass(frozen=True, slots=True)
class Spec:
    """A queue to watch: its layout, and the facts about its tables."""

    layout: Layout
    facts: TableFacts


@dataclass(slots=True)
class Memo:
    """What is remembered of one queue between polls, to ask cheaply.

    ``bounded``: the head is sought from a known id on, since seeking it from the start was dear (many dead rows).
    """

    polls: int = 0
    over_limit: bool = False
    head_limit: int = _FULL
    bounded: bool = False
    bounds: deque[str] = field(default_factory=lambda: deque(maxlen=_BOUND_LAG))
    counted_at: float = float("-inf")
    scheduled: int | None = None
    dead: int | None = None

    def learn(self, head: HeadSample | None, last_id: int | None) -> None:
        """Take in the head of this poll, for the next ones."""
        self.polls += 1
        if head is None:
            return
        if self.head_limit == _FULL:
            self.over_limit = head.counted >= _FULL
        elif head.counted == 0:
            self.over_limit = False
        if head.head_id is not None:
            self.bounds.append(head.head_id)
        elif last_id is not None:
            self.bounds.append(str(last_id))

    def bound(self) -> str | None:
        """The id to seek the head from: one of an earlier poll, so that ids that commit late are still found."""
        return self.bounds[0] if self.bounded and len(self.bounds) == _BOUND_LAG else None

    def found_below(self, head_id: str) -> None:
        """A full look found this head: seek from it until newer ones are known."""
        self.bounds.clear()
        self.bounds.extend([head_id] * _BOUND_LAG)


class QueueProbes:
    """The probes of one queue on one connection."""

    def __init__(self, book: Book, layout: Layout, facts: TableFacts) -> None:
        self.layout = layout
        self.facts = facts
        self.memo = Memo()
        self._book = book
        self._names = names_of(layout, facts)

    @property
    def head_probe(self) -> str | None:
        """The probe that finds the oldest ready message, or ``None`` where no index leads to it."""
        if self.layout.ring is not None:
            return None
        state, due = self.layout.state is not None, self.layout.due_at is not None
        if due and self.facts.due_seek:
            return "head_state_due" if state else "head_due"
        if due or not self.facts.head_seek or self.facts.order_by is None:
            return None
        return "head_state" if state else "head"

    def jobs(self, now: float, sessions: int, rows: int | None) -> list[Job]:
        """The statements of this poll. ``now``: our clock, seconds. ``rows``: how many messages the screen shows."""
        jobs = self._ring(sessions)
        jobs += self._head()
        jobs += self._in_progress()
        if now - self.memo.counted_at >= _COUNTING_S:
            jobs += self._counts()
            self.memo.counted_at = now
        if rows:
            jobs += self._messages(rows)
        return jobs

    def _messages(self, rows: int) -> list[Job]:
        layout, state = self.layout, self.layout.state
        if layout.ring is not None:
            if self.facts.pop_sequence_id is None:
                return []
            return [self._job("messages_ring", MessageSample, {"limit": rows, "pop_sequence": self._pop_sequence})]
        if state is None:
            values: dict[str, Value] = {"limit": rows, "head": self.memo.bound()}
            return [self._job("messages", MessageSample, values)] if self.head_probe == "head" else []
        if state.in_progress is None or layout.id is None or not self.facts.progress_seek:
            return []
        split = layout.data_table is not None and layout.data_id is not None and self._book.has("messages_split")
        return [self._job("messages_split" if split else "messages_state", MessageSample, {"limit": rows})]

    @property
    def _pop_sequence(self) -> str:
        return str(self.facts.pop_sequence_id)

    def _ring(self, sessions: int) -> list[Job]:
        ring, facts = self.layout.ring, self.facts
        if ring is None or facts.push_sequence_id is None or facts.pop_sequence_id is None or ring.turn is None:
            return []
        window = min(max(_RING_WINDOW, 2 * sessions), 1000, ring.size)
        values: dict[str, Value] = {"push_sequence": str(facts.push_sequence_id), "pop_sequence": self._pop_sequence}
        return [self._job("ring", RingSample, {**values, "window": window})]

    def _head(self) -> list[Job]:
        probe = self.head_probe
        if probe is None:
            return []
        memo = self.memo
        recount = memo.polls % _RECOUNT_EVERY == crc32(self.layout.queue.encode()) % _RECOUNT_EVERY
        memo.head_limit = _FULL if not memo.over_limit or recount else 1
        jobs = [self._job(probe, HeadSample, {"limit": memo.head_limit, "head": memo.bound()})]
        if self.layout.traits.deletes_on_pop and probe == "head" and self._book.has("held"):
            limit = max(memo.head_limit, _HELD_AT_LEAST)
            jobs.append(self._job("held", HeldSample, {"limit": limit, "head": memo.bound()}))
        return jobs

    def _in_progress(self) -> list[Job]:
        state = self.layout.state
        if state is None or state.in_progress is None or not self.facts.progress_seek:
            return []
        jobs = []
        values: dict[str, Value] = {"limit": _FULL}
        jobs.append(self._job("progress_oldest" if self.longest_first else "progress", ProgressSample, values))
        if self.layout.started_at is None and self.layout.id is not None:
            jobs.append(self._job("progress_ids", ProgressIdSample, values))
        return jobs

    @property
    def longest_first(self) -> bool:
        """An index gives the longest-running messages first."""
        return self.facts.stuck_seek and self.layout.started_at is not None

    def _counts(self) -> list[Job]:
        jobs = []
        if self.layout.due_at is not None and self.facts.due_seek:
            probe = "scheduled_state" if self.layout.state is not None else "scheduled"
            jobs.append(self._job(probe, CountSample, {"limit": _FULL}))
        if self.layout.state is not None and self.layout.state.dead is not None and self.facts.dead_seek:
            jobs.append(self._job("in_state", CountSample, {"limit": _FULL, "value": self.layout.state.dead}))
        return jobs

    def _job(self, probe: str, record: type, values: dict[str, Value]) -> Job:
        return self._book.job(probe, record, {**state_values(self.layout), **values}, self._names, self.layout.queue)


def state_values(layout: Layout) -> dict[str, Value]:
    """The values that the probes of a queue may use."""
    values: dict[str, Value] = {"timeout": layout.timeout_s}
    if layout.state is not None:
        values |= {
            "ready": layout.state.ready,
            "in_progress": layout.state.in_progress,
            "done": layout.state.done,
            "dead": layout.state.dead,
        }
    return values


def names_of(layout: Layout, facts: TableFacts) -> dict[str, Name]:
    """The identifiers that the probes of a queue may use."""
    names: dict[str, Name] = {
        "table": layout.table.parts,
        "id": facts.order_by or layout.id,
        "message_id": layout.id or facts.order_by,
        "state": layout.state.column if layout.state else None,
        "started_at": layout.started_at,
        "enqueued_at": layout.enqueued_at,
        "due_at": layout.due_at,
        "owner": layout.owner.column if layout.owner else None,
        "attempts": layout.attempts,
        "payload": layout.payload,
        "data_table": layout.data_table.parts if layout.data_table else None,
        "data_id": layout.data_id,
    }
    if layout.ring is not None:
        names |= {"slot": layout.ring.slot, "turn": layout.ring.turn, "size": layout.ring.size}
    return names
