"""Read diagnostics of messages: owners of messages in progress, failed attempts, ring losses, priorities.

The cost does not grow with the depth. The probes read only the rows that are in progress longest, the rows at the head,
and some slots of a ring.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from qmon.engines.base import Bound, Value
from qmon.engines.sql import queries
from qmon.model.formatting import decode_hex, holds_bytes
from qmon.model.layout.layout import Layout
from qmon.model.layout.table_facts import TableFacts
from qmon.model.probe_table import PROBES, probe_family
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.samples.message_samples import (
    DrawerSample,
    MessageDiagnostics,
    SweepSample,
)
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.sessions.owners import OwnerFacts, owner_proof
from qmon.monitor.probes.probe_names import state_values_for
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache, first_record
from qmon.monitor.probes.queue_probes import QueueProbes


def listed_messages(
    layout: Layout, facts: TableFacts, messages_by_state: Mapping[str, tuple[MessageSample, ...]]
) -> tuple[MessageSample, ...] | None:
    """Return the rows for the queue screen, if they were requested. `with_text_payloads` decodes their payloads."""
    for probe in messages_by_state:
        if probe_family(probe) == "messages":
            return with_text_payloads(layout, facts, messages_by_state[probe])
    return None


def with_text_payloads(
    layout: Layout, facts: TableFacts, messages: tuple[MessageSample, ...]
) -> tuple[MessageSample, ...]:
    """Decode payloads and errors that are stored as bytes, if the bytes are text."""
    payload = facts.payload or facts.column_or_untyped(layout.payload)
    if payload is not None and holds_bytes(payload.type):
        messages = tuple(replace(m, payload=decode_hex(m.payload)) for m in messages)
    error = facts.column_or_untyped(layout.error)
    if error is not None and holds_bytes(error.type):
        messages = tuple(replace(m, error=decode_hex(m.error)) for m in messages)
    return messages


# Maximum number of messages in progress that are read. If an index sorts them by start, the oldest ones are read.
MAX_OWNERS: Final = 100

# Slots of a ring that one poll reads.
SWEPT_SLOTS: Final = 1000
_NEAR: Final = 20
_FACTS_EVERY_S: Final = 5.0

# Seconds between sweeps, which are expensive. Findings usually last longer. After a finding, every poll sweeps.
_SWEEP_EVERY_S: Final = 4.9
_MIN_AGE_S: Final = 1.0
_LEVELS: Final = 20

# The newest messages are read from this many ids at most, so that a poll passes few rows that were already removed.
_NEWEST_IDS: Final = 1000
_NEWEST: Final = 20
_PRIORITIES: Final = ("priorities_state", "priorities")
_TRIED: Final = ("tried_attempts", "tried_state", "tried")


@dataclass(slots=True)
class _SweepMemo:
    """The start of a ring's next sweep. ``again``: a start with a finding; every second sweep starts at this slot."""

    from_slot: int = 0
    again: int | None = None
    swept: int = 0
    swept_at: float = float("-inf")

    def is_due(self, now: float) -> bool:
        """Return whether a sweep is due. ``now``: our clock, seconds."""
        return self.again is not None or now - self.swept_at >= _SWEEP_EVERY_S

    def start_slot(self) -> int:
        """Return the slot at which the sweep starts."""
        return self.again if self.again is not None and self.swept % 2 else self.from_slot

    def record_sweep(self, sweep: SweepSample, size: int) -> None:
        """Record the result of a sweep."""
        self.swept += 1
        if sweep.holes or sweep.orphans:
            self.again = sweep.from_slot if self.again is None else min(self.again, sweep.from_slot)
        elif self.again == sweep.from_slot:
            self.again = None
        if sweep.from_slot == self.from_slot:
            self.from_slot = self.from_slot + SWEPT_SLOTS if self.from_slot + SWEPT_SLOTS < size else 0


class MessageProbes:
    """Choose the diagnostics statements for all queues of one connection, and file their results."""

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._facts: OwnerFacts | None = None
        self._facts_at = float("-inf")
        self._memos: dict[str, _SweepMemo] = {}

    def retain_only(self, queues: Collection[str]) -> None:
        """Forget all other queues."""
        self._memos = {name: memo for name, memo in self._memos.items() if name in queues}

    def statements_for_poll(
        self, now: float, queues: Mapping[str, QueueProbes], only_presence: Collection[str] = ()
    ) -> list[ProbeStatement]:
        """Return the statements of this poll for these queues. The facts about owners come from the previous poll.

        ``only_presence``: queues without the statements about messages that are ready or in progress.
        """
        asked: list[ProbeStatement] = []
        due = now - self._facts_at >= _FACTS_EVERY_S
        if due and any(_is_owned_by_session(probes) for probes in queues.values()):
            asked.append(self._facts_statement())
        sequences = [each for probes in queues.values() for each in (*_ring_sequences(probes), *_id_sequences(probes))]
        if sequences and self._statements.has_probe("drawers"):
            asked.append(
                self._statements.statement_for("drawers", {"sequences": self._statements.engine.ids_value(sequences)})
            )
        for name, probes in queues.items():
            each = (
                []
                if name in only_presence
                else [
                    self._owner_statement(probes),
                    self._tried_statement(probes),
                    self._priority_statement(probes),
                    self._newest_statement(probes, now),
                ]
            )
            memo = self._memos.setdefault(name, _SweepMemo())
            if memo.is_due(now) and (sweep := self._sweep_statement(probes)) is not None:
                memo.swept_at = now
                each.append(sweep)
            asked += [one for one in each if one is not None]
        return asked

    def record_owner_facts(self, results: Results, now: float) -> None:
        """Record the server's facts about owners."""
        found = first_record(results, "owner_facts")
        if found is not None:
            self._facts, self._facts_at = found, now

    def diagnostics_for(self, probes: QueueProbes, results: Results) -> MessageDiagnostics:
        """Return what this poll has found about one queue."""
        queue = probes.layout.queue
        drawers: tuple[DrawerSample, ...] | None = results.get(("", "drawers"))
        ring = probes.layout.ring is not None
        push = (probes.facts.push_sequence_id,) if ring else _id_sequences(probes)
        sweep = first_record(results, "slot_sweep", queue)
        if sweep is not None and probes.layout.ring is not None:
            self._memos[queue].record_sweep(sweep, probes.layout.ring.size)
        return MessageDiagnostics(
            owners=results.get((queue, "owners")),
            owners_limit=MAX_OWNERS,
            proof="" if self._facts is None else owner_proof(probes.layout, self._facts).why,
            tried=next((rows[0] for probe in _TRIED if (rows := results.get((queue, probe)))), None),
            sweep=sweep,
            priorities=next((rows for probe in _PRIORITIES if (rows := results.get((queue, probe))) is not None), None),
            newest=results.get((queue, "newest")),
            push_drawers=None if drawers is None or not push else tuple(d for d in drawers if d.sequence_id in push),
            pop_drawers=None
            if drawers is None or not ring
            else tuple(d for d in drawers if d.sequence_id in _ring_sequences(probes) and d.sequence_id not in push),
        )

    def _facts_statement(self) -> ProbeStatement:
        query = queries.load_query(self._statements.engine.name, "action/operate/facts", self._statements.version)
        return ProbeStatement("owner_facts", OwnerFacts, Bound(queries.render(query, {}, self._statements.engine), {}))

    def _owner_statement(self, probes: QueueProbes) -> ProbeStatement | None:
        layout, state = probes.layout, probes.layout.state
        if state is None or state.in_progress is None or layout.id is None or "progress" not in probes.facts.indexes:
            return None
        if (self._facts is None and _is_owned_by_session(probes)) or not self._statements.has_probe("owners"):
            return None
        owner, known = layout.owner, None if self._facts is None else owner_proof(layout, self._facts)
        kind = "none" if owner is None else owner.kind if known is None else known.kind
        names = {
            **probes.names,
            "order": layout.started_at if probes.is_longest_first else state.column,
            "lease": layout.time_column(owner.column) if owner is not None and kind == "lease" else None,
            "beat": layout.time_column(owner.column) if owner is not None and kind == "heartbeat" else None,
        }
        values: dict[str, Value] = state_values_for(layout) | {
            "kind": kind,
            "sees": known is not None and known.sees,
            "vanished": known is not None and known.vanished,
            "limit": MAX_OWNERS,
        }
        return self._statements.statement_for("owners", values, names, layout.queue)

    def _tried_statement(self, probes: QueueProbes) -> ProbeStatement | None:
        layout, head = probes.layout, probes.head_probe_name
        if head == "head_state" and layout.attempts is not None:
            probe = "tried_attempts"
        elif head == "head_state" and pops_in_transaction(layout):
            probe = "tried_state"
        elif head == "head" and layout.traits.order == "fifo":
            probe = "tried"
        else:
            return None
        if not self._statements.has_probe(probe):
            return None
        values: dict[str, Value] = state_values_for(layout) | {"head": probes.memo.head_bound(), "limit": _NEAR}
        return self._statements.statement_for(probe, values, probes.names, layout.queue)

    def _priority_statement(self, probes: QueueProbes) -> ProbeStatement | None:
        layout, facts = probes.layout, probes.facts
        if layout.priority is None or "priority" not in facts.indexes:
            return None
        probe = "priorities_state" if layout.state is not None else "priorities"
        if not self._statements.has_probe(probe):
            return None
        values: dict[str, Value] = state_values_for(layout) | {"limit": _LEVELS}
        names = {**probes.names, "priority": layout.priority}
        return self._statements.statement_for(probe, values, names, layout.queue)

    def _newest_statement(self, probes: QueueProbes, now: float) -> ProbeStatement | None:
        layout, facts, memo = probes.layout, probes.facts, probes.memo
        if memo.last_id is None or not facts.newest_id_seek:
            return None
        if layout.ring is not None or not self._statements.has_probe("newest"):
            return None
        names = probes.names if layout.data_table is None else {**probes.names, "payload": None}
        if not layout.has_known_time(layout.enqueued_at):
            names = {**names, "enqueued_at": None}
        if (names["enqueued_at"] is None and names["payload"] is None) or not probes.is_due(PROBES["newest"], now):
            return None
        values: dict[str, Value] = {"after": max(0, memo.last_id - _NEWEST_IDS), "limit": _NEWEST}
        return self._statements.statement_for("newest", values, names, layout.queue)

    def _sweep_statement(self, probes: QueueProbes) -> ProbeStatement | None:
        layout, ring, facts = probes.layout, probes.layout.ring, probes.facts
        if (
            ring is None
            or ring.turn is None
            or layout.enqueued_at is None
            or not self._statements.has_probe("slot_sweep")
        ):
            return None
        if facts.push_sequence_id is None or facts.pop_sequence_id is None or "ready" in facts.unknown:
            return None
        if "head" not in facts.indexes:
            return None
        query = queries.load_query(self._statements.engine.name, "probe/slot_sweep", self._statements.version)
        if facts.spare is None and "spare" in query.names:
            return None  # messages with spare numbers would look like lost messages
        start = self._memos[layout.queue].start_slot()
        others = [each for each in _ring_sequences(probes) if each != facts.push_sequence_id]
        values: dict[str, Value] = {
            "from_slot": start,
            "to_slot": min(start + SWEPT_SLOTS, ring.size) - 1,
            "push_sequence": str(facts.push_sequence_id),
            "pop_sequences": self._statements.engine.ids_value(others),
            "min_age_s": _MIN_AGE_S,
        }
        names = {**probes.names, "spare": None if facts.spare is None else facts.spare.parts}
        return self._statements.statement_for("slot_sweep", values, names, layout.queue)


def _is_owned_by_session(probes: QueueProbes) -> bool:
    owner = probes.layout.owner
    return owner is not None and owner.kind == "session"


def _id_sequences(probes: QueueProbes) -> tuple[int, ...]:
    """Return the sequence that issues the ids of a queue; empty for a ring, or if there is no sequence."""
    own = probes.facts.sequence_id
    return () if own is None or probes.layout.ring is not None else (own,)


def _ring_sequences(probes: QueueProbes) -> list[int]:
    """Return the sequences of a ring that can be swept, the push sequence first."""
    ring, facts = probes.layout.ring, probes.facts
    if ring is None or ring.turn is None or facts.push_sequence_id is None or facts.pop_sequence_id is None:
        return []
    return [facts.push_sequence_id, *(facts.subscriber_sequence_ids or (facts.pop_sequence_id,))]
