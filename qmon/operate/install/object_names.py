"""The names of a queue's objects: its table is called like the queue, everything else like the queue and what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from qmon.engines.base import EngineName, Query
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.layout.layout import TableName

TABLE: Final = "table"
SIZE: Final = "size"
SUBSCRIBERS: Final = "subscribers"
MAX_ATTEMPTS: Final = "max_attempts"
# Placeholders for whole numbers in a design's files: a ring's slots and subscribers, pops before a message is dead.
NUMBERS: Final = frozenset({SIZE, SUBSCRIBERS, MAX_ATTEMPTS})
# The quotes of function bodies in the designs; a name that holds them would end the body.
BODY_TAG: Final = "$qmon_body$"

_LIMITS: Final[dict[EngineName, tuple[int, str]]] = {"postgres": (63, "bytes"), "sqlserver": (128, "characters")}


def object_name(queue: str, slot: str) -> str:
    """The name, without schema, of what a design's file calls ``{slot}``."""
    return queue if slot == TABLE else f"{queue}_{slot}"


def names(query: Query, schema: str, queue: str, numbers: Mapping[str, int]) -> dict[str, Name]:
    """The names for a file of a design.

    Indexes and keys live in the schema of their table and are created without one. ``numbers``: those of ``NUMBERS``
    that the file may use.
    """
    out: dict[str, Name] = {}
    for slot in query.names:
        if slot in NUMBERS:
            out[slot] = numbers[slot]
        elif slot.endswith(("index", "key")):
            out[slot] = object_name(queue, slot)
        else:
            out[slot] = (schema, object_name(queue, slot))
    return out


def slots(queries: Iterable[Query]) -> tuple[str, ...]:
    """The objects that these files create, as they call them."""
    found = {slot for query in queries for slot in query.names} - NUMBERS
    return tuple(sorted(found, key=lambda slot: (slot != TABLE, slot)))


def check(engine: EngineName, design: str, schema: str, queue: str, objects: Iterable[str]) -> None:
    """Raise ``BadInput`` where the names that would be made cannot be names on this engine."""
    if not queue or not schema:
        raise BadInput("a queue needs a name and a schema; neither may be empty")
    for word in (queue, schema):
        if BODY_TAG in word or "\0" in word:
            raise BadInput(f"{word!r} cannot be a name here: it holds {BODY_TAG!r} or a zero byte; choose another one")
    limit, unit = _LIMITS[engine]
    longest = max(_length(engine, object_name("", slot)) if slot != TABLE else 0 for slot in objects)
    if (length := _length(engine, queue)) + longest > limit:
        raise BadInput(
            f"the queue's name {queue!r} is {length} {unit} long; design {design} takes at most {limit - longest},"
            f" since it adds up to {longest} for its objects and names end at {limit}; choose a shorter one"
        )


def _length(engine: EngineName, name: str) -> int:
    return len(name.encode()) if engine == "postgres" else len(name.encode("utf-16-le")) // 2


def table_name(schema: str, queue: str, slot: str = TABLE) -> TableName:
    """The object that a design's file calls ``{slot}``, as a layout names it."""
    return TableName(schema, object_name(queue, slot))


def subscriber_sequences(subscribers: int) -> tuple[str, ...]:
    """The pop sequences of a ring for several subscribers; its first file creates them."""
    return tuple(f"pop_seq_{number}" for number in range(1, subscribers + 1))
