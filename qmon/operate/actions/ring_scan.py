"""Reads a ring slot by slot, in bounded steps, to find candidates for holes and orphans."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final, Literal

from qmon.engines.base import Value
from qmon.engines.sql.queries import Name
from qmon.errors import QueryFailed
from qmon.model.layout.layout import Layout, ObjectName, Ring
from qmon.operate.install import object_names
from qmon.operate.plan.preview import read_sized_column, read_typed_column
from qmon.operate.sql import Sql
from qmon.texts import Text


class RingScanText(Text):
    """Texts about reading a ring."""

    NO_HOLES = "only rings have holes"
    SEQUENCE_UNREADABLE = (
        "your role may not read the position of {sequence}; this helps: GRANT VIEW DEFINITION on {sequence}"
    )


# Maximum number of repairs of one plan.
MAX_REPAIRS: Final = 10_000

# Slots written during the last seconds are left out, because a producer or consumer may still use such a slot.
MIN_AGE_S: Final = 1.0

# Number of slots per statement.
_SLOTS_PER_STEP: Final = 100_000

# Reading ends after this many seconds, between two statements.
_MAX_READ_S: Final = 20.0

FaultKind = Literal["hole", "orphan"]


@dataclass(frozen=True, slots=True)
class RingFault:
    """A number that looks like a hole or an orphan.

    ``subscriber``: the subscriber of an orphan, if the ring has several.
    """

    was: FaultKind
    number: int
    age_s: float | None
    payload: str | None
    subscriber: int | None = None


@dataclass(frozen=True, slots=True)
class OpenDraw:
    """An open transaction that has taken a number from a sequence; see ``action/repair/drawing``."""

    session: int
    application: str
    transaction_s: float | None


@dataclass(frozen=True, slots=True)
class SlotReading:
    """The faults found: orphans first, then holes, each sorted by number. ``over``: faults beyond ``MAX_REPAIRS``."""

    faults: tuple[RingFault, ...]
    over: int
    unread_slots: int
    drawing: tuple[OpenDraw, ...]


@dataclass(frozen=True, slots=True)
class _Position:
    position: int | None


@dataclass(frozen=True, slots=True)
class _FoundNumber:
    number: int
    age_s: float | None
    payload: str | None


class RingReader:
    """Read one ring on one connection."""

    def __init__(self, sql: Sql, layout: Layout) -> None:
        if layout.ring is None:
            raise ValueError(RingScanText.NO_HOLES)
        self.sql = sql
        self.layout = layout
        self.ring: Ring = layout.ring
        self.names = _names(layout, layout.ring)
        if layout.data_table is None:
            self.names |= {
                "payload": read_typed_column(sql, layout.table, layout.payload),
                "sized": read_sized_column(sql, layout.table, layout.payload),
            }

    def read_slots(self) -> SlotReading:
        """Read every slot once. Raises ``QueryFailed`` if our role may not read a sequence."""
        until = time.monotonic() + _MAX_READ_S
        found: list[RingFault] = []
        slot = 0
        while slot < self.ring.size and (slot == 0 or time.monotonic() < until):
            found += self._read_step(slot, min(slot + _SLOTS_PER_STEP, self.ring.size) - 1)
            slot += _SLOTS_PER_STEP
        found.sort(key=lambda each: (each.was == "hole", each.number))
        kept = tuple(found[:MAX_REPAIRS])
        over = len(found) - len(kept)
        return SlotReading(kept, over, max(0, self.ring.size - slot), tuple(self.read_open_draws()))

    def read_open_draws(self) -> list[OpenDraw]:
        """Return the open transactions that have taken a push or pop number."""
        sequences = {self.ring.push_sequence: None, **dict.fromkeys(self._pop_sequences())}
        out = [each for sequence in sequences for each in self.read_open_draws_from(sequence)]
        return list({each.session: each for each in out}.values())

    def read_open_draws_from(self, sequence: ObjectName) -> list[OpenDraw]:
        """Return the open transactions that have taken a number from one sequence."""
        return self.sql.fetch(OpenDraw, "action/repair/drawing", {"sequence": sequence.parts})

    def pop_sequence_for(self, subscriber: int | None) -> ObjectName:
        """Return the sequence from which consumers take numbers. ``subscriber``: ``None`` if the ring has only one."""
        return self.ring.pop_sequence if subscriber is None else self.ring.subscribers[subscriber - 1]

    def _pop_sequences(self) -> tuple[ObjectName, ...]:
        return self.ring.subscribers or (self.ring.pop_sequence,)

    def _read_position(self, sequence: ObjectName) -> int:
        rows = self.sql.fetch(_Position, "action/repair/position", {"sequence": sequence.parts})
        if not rows or rows[0].position is None:
            raise QueryFailed(RingScanText.SEQUENCE_UNREADABLE.render(sequence=sequence))
        return rows[0].position

    def _read_step(self, first: int, last: int) -> list[RingFault]:
        values: dict[str, Value] = {
            "from_slot": first,
            "to_slot": last,
            "min_age_s": MIN_AGE_S if self.sql.engine.name == "postgres" else int(MIN_AGE_S),
            "limit": MAX_REPAIRS + 1,
        }
        out: list[RingFault] = []
        subscribers = range(1, len(self.ring.subscribers) + 1) if self.ring.subscribers else (None,)
        for subscriber in subscribers:
            more = values | {"position": self._read_position(self.pop_sequence_for(subscriber))}
            name = "find_orphan"
            if subscriber is not None:
                name = "find_orphan_of"
                more |= {"subscriber": subscriber, "bit": 1 << (subscriber - 1)}
            out += self._find_faults("orphan", name, more, subscriber)
        return out + self._find_faults(
            "hole", "find_hole", values | {"position": self._read_position(self.ring.push_sequence)}
        )

    def _find_faults(
        self, was: FaultKind, name: str, values: dict[str, Value], subscriber: int | None = None
    ) -> list[RingFault]:
        rows = self.sql.fetch(_FoundNumber, f"action/repair/{name}", self.names, values)
        return [RingFault(was, each.number, each.age_s, each.payload, subscriber) for each in rows]


def _names(layout: Layout, ring: Ring) -> dict[str, Name]:
    table = layout.table
    names: dict[str, Name] = {
        "table": table.parts,
        "slot": ring.slot,
        "turn": ring.turn,
        "message_id": ring.message_id,
        "unread": ring.unread,
        "size": ring.size,
        "time": layout.time_column(layout.enqueued_at),
        "payload": None,
        "sized": None,
        "spare": object_names.table_name(table.schema, table.name, "spare").parts,
    }
    for verb in ("fill_hole", "requeue_orphan", "repair"):
        routine = layout.routine_for(verb)
        names[verb] = None if routine is None else routine.parts
    return names
