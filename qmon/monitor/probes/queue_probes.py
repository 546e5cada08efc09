"""Choose the probes of one queue in a poll, from its layout and the facts about its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from zlib import crc32

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.model.counts import TableCount
from qmon.model.layout.layout import Layout
from qmon.model.layout.table_facts import TableFacts
from qmon.model.probe import Probe
from qmon.model.probe_constants import HELD_AT_LEAST, ring_probe
from qmon.model.probe_table import INDEXED_PROBES, PROBES
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.reasons import Reason
from qmon.model.samples.listing_samples import PageRequest
from qmon.model.samples.polled_samples import (
    DepthSample,
    HeadSample,
    ValueSample,
    WalkSample,
)
from qmon.monitor.probes.probe_names import INDEX_NAMES, probe_names_for, state_values_for
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache, first_record
from qmon.monitor.probes.queue_memo import COUNT_ROWS, QueueMemo

_RECOUNT_EVERY: Final = 5
_RING_WINDOW: Final = 32
STILL_POLLS: Final = 3
_WALK: Final = 2 * COUNT_ROWS

# The probe that reads the rows held by transactions, keyed by the probe that finds the head.
_HELD_PROBES: Final = {
    "head": "held",
    "head_newest": "held_newest",
    "head_due": "held_due",
    "head_state": "held_state",
    "head_any": "held_any",
}

# The probe that returns the locked rows that are not visible, keyed by the probe that finds the head. Used if the locks
# of all queues are read together.
_UNSEEN_PROBES: Final = {
    "head": "unseen",
    "head_newest": "unseen",
    "head_due": "unseen_due",
    "head_state": "unseen_state",
    "head_any": "unseen_any",
}

# The probe that lists the rows, keyed by the probe that finds the head. Used for designs without rows in progress.
_LIST_PROBES: Final = {
    "head": "messages",
    "head_newest": "messages_newest",
    "head_due": "messages_due",
    "head_state": "messages_ready",
}

# If a table without usable indexes has at most this many pages (2 MB, about 2 ms), a poll checks whether it is empty.
_EMPTY_PAGES: Final = 256

# After this many consecutive wrong counts of 0 rows, the server's own count is no longer read.
_DENIED: Final = 3


@dataclass(frozen=True, slots=True)
class QueueSpec:
    """A queue to watch: its layout and the facts about its tables."""

    layout: Layout
    facts: TableFacts


class QueueProbes:
    """The probes of one queue on one connection."""

    def __init__(self, statements: StatementCache, spec: QueueSpec) -> None:
        self.spec = spec
        self.layout, self.facts = spec.layout, spec.facts
        self.memo = QueueMemo()
        # The page that this poll read instead of the requested page.
        self.page_read: PageRequest | None = None
        self._statements = statements
        self.names: Mapping[str, Name] = probe_names_for(spec.layout, spec.facts)
        # The indexed probes of this queue, with the names of their variants.
        self._indexed: list[tuple[Probe, str]] = []
        # Why this queue does not have a figure that an indexed probe reads directly, keyed by figure.
        self.unread: dict[str, Reason] = {}
        for probe in INDEXED_PROBES:
            name = f"{probe.name}_state" if spec.layout.state is not None else probe.name
            name = name if name in probe.variants else probe.name
            why = self._why_not_read(probe, name)
            if why is None:
                self._indexed.append((probe, name))
            elif probe.record is ValueSample:
                self.unread[probe.name] = why

    @property
    def head_probe_name(self) -> str | None:
        """The probe that finds the oldest ready message, or ``None`` if no index supports it."""
        if self.layout.ring is not None:
            return None
        state, due = self.layout.state is not None, self.layout.due_at is not None
        if due and "due" in self.facts.indexes:
            return "head_state_due" if state else "head_due"
        if due:
            return None
        if "walk" in self.facts.indexes:
            return "head_walk" if self._statements.has_probe("head_walk") else None
        if not state and self.layout.id is None and self.facts.order_by is None:
            return "head_any" if self._statements.has_probe("head_any") else None
        if "head" not in self.facts.indexes or self.facts.order_by is None:
            return None
        return "head_state" if state else "head"

    @property
    def locked_rows_probe_name(self) -> str | None:
        """The probe that reads the rows held by transactions.

        It is needed if rows do not show that they are in progress, or if the head does not move.
        """
        if not pops_in_transaction(self.layout) and self.memo.still < STILL_POLLS:
            return None
        return self._probe_name_for_head(_HELD_PROBES) or self._probe_name_for_head(_UNSEEN_PROBES)

    def statement_for_invisible_locked_rows(self, probe: str, row_locations: str) -> ProbeStatement:
        """Return the statement that finds the locks at these places whose rows are not visible."""
        values: dict[str, Value] = {"limit": max(self.memo.head_limit, HELD_AT_LEAST), "places": row_locations}
        return self._statement_for(probe, values)

    def _probe_name_for_head(self, names_by_head: Mapping[str, str]) -> str | None:
        """Return the probe that matches the head probe. The head of a stack is its newest row."""
        head = self.head_probe_name
        if head == "head" and self.layout.traits.order == "lifo":
            head = "head_newest"
        probe = names_by_head.get(head or "")
        return probe if probe is not None and self._statements.has_probe(probe) else None

    def statements_for_poll(
        self, now: float, session_count: int, message_limit: int | None, *, only_presence: bool = False
    ) -> list[ProbeStatement]:
        """Return the statements of this poll. ``now``: our clock, seconds.

        ``message_limit``: how many messages the screen shows.

        ``only_presence``: return only statements that find out whether there are messages.
        """
        asked = self._ring_statements(session_count)
        asked += self._head_and_locked_statements(only_presence=only_presence)
        asked += self._progress_statements(only_presence=only_presence)
        asked += self._server_count_statements()
        asked += self._empty_statements()
        asked += [
            self._indexed_statement(probe, name)
            for probe, name in self._indexed
            if self.is_due(probe, now, only_presence=only_presence)
        ]
        is_due = self.is_due(PROBES["states"], now, only_presence=only_presence)
        # If the known state values come from rows, a row may have a new value. No figure includes such rows until the
        # value is known.
        if is_due or (not only_presence and self.layout.state is not None and self.layout.state.learnt):
            asked += self._state_value_statements()
        if message_limit:
            asked += self._message_statements(message_limit)
        return asked

    def statements_for_newest_id(self) -> list[ProbeStatement]:
        """Return the statement for the newest id if no sequence can be read, as on a standby."""
        asked = self.facts.newest_id_seek and self._statements.has_probe("newest_id")
        return [self._statement_for("newest_id", {})] if asked else []

    @property
    def can_list_rows(self) -> bool:
        """Whether an index supports a list of messages in progress or at the head. A ring has no other list."""
        return self.layout.ring is not None or bool(self._message_statements(1))

    def _message_statements(self, message_limit: int) -> list[ProbeStatement]:
        layout, state = self.layout, self.layout.state
        if layout.ring is not None:
            if self.facts.pop_sequence_id is None or not self.can_seek_slots:
                return []
            probe = "messages_ring" if layout.data_table is None else "messages_ring_split"
            return [self._statement_for(probe, {"limit": message_limit, "pop_sequences": self.pop_sequence_ids})]
        if pops_in_transaction(layout):
            listed = self._probe_name_for_head(_LIST_PROBES)
            values: dict[str, Value] = {"limit": message_limit, "head": self.memo.head_bound()}
            return [self._statement_for(listed, values)] if listed else []
        if state is None or state.in_progress is None or layout.id is None or "progress" not in self.facts.indexes:
            return []
        split = (
            layout.data_table is not None
            and layout.data_id is not None
            and self._statements.has_probe("messages_split")
        )
        return [self._statement_for("messages_split" if split else "messages_state", {"limit": message_limit})]

    @property
    def pop_sequence_ids(self) -> str:
        """The ids of the pop sequences as an array: one id, or one id per subscriber."""
        own = self.facts.subscriber_sequence_ids or (self.facts.pop_sequence_id,)
        return self._statements.engine.ids_value([each for each in own if each is not None])

    @property
    def can_seek_slots(self) -> bool:
        """Whether an index supports a ring's slots and our role may read its positions."""
        return "head" in self.facts.indexes and "ready" not in self.facts.unknown

    def _ring_statements(self, session_count: int) -> list[ProbeStatement]:
        ring, facts = self.layout.ring, self.facts
        if ring is None or facts.push_sequence_id is None or facts.pop_sequence_id is None:
            return []
        probe = ring_probe(self.layout)
        if not self.can_seek_slots or not self._statements.has_probe(probe):
            return []
        self.memo.head_limit = window = self.memo.window_size(max(_RING_WINDOW, 2 * session_count), ring.size)
        values: dict[str, Value] = {
            "push_sequence": str(facts.push_sequence_id),
            "pop_sequence": str(facts.pop_sequence_id),
            "pop_sequences": self.pop_sequence_ids,
        }
        return [self._statement_for(probe, {**values, "window": window})]

    def is_idle(self, results: Results) -> bool:
        """Return whether this poll has found no message that is ready or in progress."""
        queue, state = self.layout.queue, self.layout.state
        if self.layout.ring is not None:
            ring = first_record(results, ring_probe(self.layout), queue)
            return ring is not None and ring.span == 0 and not (ring.push_open or ring.pop_held)
        head = first_record(results, self.head_probe_name or "", queue)
        if head is None or head.counted or (isinstance(head, WalkSample) and not head.whole):
            return False
        if state is None or state.in_progress is None:
            return True
        progress = first_record(results, self._progress_probe_name, queue)
        return progress is not None and progress.in_progress == 0

    def _head_and_locked_statements(self, *, only_presence: bool) -> list[ProbeStatement]:
        probe = self.head_probe_name
        if probe is None:
            return []
        memo = self.memo
        recount = memo.polls % _RECOUNT_EVERY == crc32(self.layout.queue.encode()) % _RECOUNT_EVERY
        memo.head_limit = COUNT_ROWS if not memo.over_limit or recount or not memo.counted_apart else 1
        values: dict[str, Value] = {"limit": memo.head_limit, "head": memo.head_bound()}
        if PROBES[probe].record is WalkSample:
            values |= {"walk": _WALK, "table_id": self.facts.table_id}
        asked = [self._statement_for(probe, values)]
        if not only_presence and (held := self.locked_rows_probe_name) is not None and held in _HELD_PROBES.values():
            limit = max(memo.head_limit, HELD_AT_LEAST)
            asked.append(self._statement_for(held, {"limit": limit, "head": memo.head_bound()}))
        return asked

    def _server_count_statements(self) -> list[ProbeStatement]:
        """Return the statement for the server's own count of an index of ready rows, if such an index exists."""
        if self.layout.ring is not None or self.layout.due_at is not None or not self._statements.has_probe("depth"):
            return []
        if self.memo.denied >= _DENIED:
            return []
        values: dict[str, Value] = {"table_id": self.facts.table_id, "all_rows": self.layout.state is None}
        return [self._statement_for("depth", values)]

    @property
    def _empty_probe_name(self) -> str:
        return "empty" if self.layout.state is None else "empty_state"

    def _empty_statements(self) -> list[ProbeStatement]:
        """Return the statement that checks whether the table is empty, if only full counts count its messages."""
        counted = self.facts.has_scanned_figures and ("ready" in self.facts.slow or "in_progress" in self.facts.slow)
        if not (counted and self.memo.may_be_empty and self._statements.has_probe(self._empty_probe_name)):
            return []
        values: dict[str, Value] = {"table_id": self.facts.table_id, "pages": _EMPTY_PAGES}
        return [self._statement_for(self._empty_probe_name, values)]

    def is_empty(self, results: Results) -> bool:
        """Return whether this poll has found no message that is ready, in progress, blocked or in an unknown state."""
        found = first_record(results, self._empty_probe_name, self.layout.queue)
        return found is not None and found.empty is True

    def discard_wrong_depth(
        self, depth: DepthSample | None, head: HeadSample | None, count: TableCount | None = None
    ) -> DepthSample | None:
        """Return the server's own row count; ``None`` if the count is wrong, because it is 0 although there are rows.

        ``count``: the last full count of the table. A server that only imitates SQL Server may update its count only at
        ANALYZE, or never. After several wrong counts, the count is no longer read.
        """
        memo = self.memo
        if head is not None:
            memo.counted = head.counted
        anew = count is not None and count.counted_at != memo.counted_whole_at
        if count is not None and anew and self.head_probe_name is None:
            memo.counted, memo.counted_whole_at = count.ready, count.counted_at
        if depth is not None:  # the depth may be read more often than the head
            doubted = depth.ready == 0 < memo.counted
            if not doubted:
                memo.denied = 0
            elif anew or self.head_probe_name is not None or not memo.denied:
                memo.denied += 1
        return None if memo.denied else depth

    @property
    def _progress_probe_name(self) -> str:
        return "progress_oldest" if self.is_longest_first else "progress"

    def _progress_statements(self, *, only_presence: bool) -> list[ProbeStatement]:
        state = self.layout.state
        if state is None or state.in_progress is None or "progress" not in self.facts.indexes:
            return []
        asked = []
        values: dict[str, Value] = {"limit": COUNT_ROWS}
        asked.append(self._statement_for(self._progress_probe_name, values))
        if not only_presence and not self.layout.has_known_time(self.layout.started_at) and self.layout.id is not None:
            asked.append(self._statement_for("progress_ids", values))
        return asked

    @property
    def is_longest_first(self) -> bool:
        """Whether an index sorts the messages by start time, longest-running first."""
        return "stuck" in self.facts.indexes and self.layout.started_at is not None

    def _indexed_statement(self, probe: Probe, name: str) -> ProbeStatement:
        values = state_values_for(self.layout) | {"limit": COUNT_ROWS, "head": self.memo.head_bound()}
        if probe.state:
            values["value"] = getattr(self.layout.state, probe.state)
        return self._statements.statement_for(name, values, self._names_for(probe), self.layout.queue)

    def _names_for(self, probe: Probe) -> Mapping[str, Name]:
        """Return the names for an indexed probe. A probe that counts a state names the index of this state."""
        return {**self.names, "dead_index": self.facts.index_for(probe.index)} if probe.state else self.names

    def is_due(self, probe: Probe, now: float, *, only_presence: bool = False) -> bool:
        """Return whether to read a probe in this poll. If so, its interval begins now."""
        interval_s = probe.in_turns_s if only_presence else probe.every_s
        if now - self.memo.asked_at.get(probe.name, float("-inf")) < interval_s:
            return False
        self.memo.asked_at[probe.name] = now
        return True

    def record_unreached(self, name: str) -> None:
        """Read this probe again in the next poll, because this poll did not reach it."""
        self.memo.asked_at.pop(PROBES[name].name if name in PROBES else name, None)

    def keep_rows(self, results: Results, now_at: float) -> None:
        """Keep the rows of indexed probes that this poll has read. ``now_at``: server clock, seconds."""
        for probe, name in self._indexed:
            if (row := first_record(results, name, self.layout.queue)) is not None:
                self.memo.kept[probe.name] = row, now_at

    def _why_not_read(self, probe: Probe, name: str) -> Reason | None:
        """Return why an indexed probe cannot be read from this queue; ``None`` if it can be read."""
        layout = self.layout
        if not self._statements.has_probe(name):
            return Reason.SERVER_DOES_NOT_SAY
        if layout.ring is not None or (probe.state and getattr(layout.state, probe.state, None) is None):
            return Reason.NOT_IN_TABLE
        names = self._names_for(probe)
        if any(each in names and names[each] is None for each in self._statements.required_names(name) - INDEX_NAMES):
            return Reason.NOT_IN_TABLE
        return None if probe.index in self.facts.indexes else Reason.NO_INDEX_FOR_FIGURE

    def _state_value_statements(self) -> list[ProbeStatement]:
        if self.layout.state is None or "states" not in self.facts.indexes or not self._statements.has_probe("states"):
            return []
        return [self._statement_for("states", {"limit": COUNT_ROWS})]

    def _statement_for(self, probe: str, values: dict[str, Value]) -> ProbeStatement:
        return self._statements.statement_for(
            probe, {**state_values_for(self.layout), **values}, self.names, self.layout.queue
        )


class WalkedHead(NamedTuple):
    """The head that a walk has found, and the maximum number of rows that the walk could count."""

    head: HeadSample | None
    count_limit: int


def head_from_walk(walked: WalkSample, limit: int, *, ordered: bool) -> WalkedHead:
    """Return the head that a walk has found, and the maximum number of rows that the walk could count.

    For a walk that ended early, the maximum is the number of counted rows. ``ordered``: the walk started at the oldest
    row. Otherwise, the oldest row found is the oldest row of the queue only if the walk read all rows.
    """
    if walked.whole:
        oldest = walked.oldest_s if ordered or walked.counted < limit else None
        return WalkedHead(HeadSample(walked.head_id, oldest, walked.counted), limit)
    if not walked.counted:
        return WalkedHead(None, 0)
    head = HeadSample(walked.head_id, walked.oldest_s if ordered else None, walked.counted)
    return WalkedHead(head, walked.counted)
