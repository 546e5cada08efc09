"""Names the objects of a queue. The table has the queue's name. Other objects add a suffix for their kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from qmon.engines.base import EngineName, Query
from qmon.engines.sql.queries import Name
from qmon.errors import BadInput
from qmon.model.layout.layout import ObjectName
from qmon.texts import Text


class NameText(Text):
    """Why a name cannot be used for a queue."""

    EMPTY = "a queue needs a name and a schema; neither may be empty"
    TAG = "the name {word!r} contains {tag!r} or a zero byte; choose another name"
    TOO_LONG = (
        "the queue's name {queue!r} is {length} {unit} long, but design {design} allows at most {limit}; choose a"
        " shorter name (qmon appends up to {appended} {unit} for the design's objects, and the server allows names of"
        " {server_limit} {unit})"
    )


TABLE: Final = "table"
SIZE: Final = "size"
SUBSCRIBERS: Final = "subscribers"
MAX_ATTEMPTS: Final = "max_attempts"

# Placeholders for whole numbers in a design's files: number of slots and subscribers of a ring, and maximum attempts.
NUMBER_SLOTS: Final = frozenset({SIZE, SUBSCRIBERS, MAX_ATTEMPTS})

# The quotes around function bodies in the designs. A name that contains these quotes would end the body.
BODY_TAG: Final = "$qmon_body$"

_LENGTH_LIMITS: Final[dict[EngineName, tuple[int, str]]] = {"postgres": (63, "bytes"), "sqlserver": (128, "characters")}


def object_name(queue: str, slot: str) -> str:
    """Return the name, without schema, of the object for the placeholder ``{slot}`` in a design's file."""
    return queue if slot == TABLE else f"{queue}_{slot}"


def names_for(query: Query, schema: str, queue: str, numbers: Mapping[str, int]) -> dict[str, Name]:
    """Return the names for the placeholders in a file of a design.

    The names of indexes and keys have no schema, because the server creates them in the schema of their table.
    ``numbers``: values for the placeholders in ``NUMBER_SLOTS``.
    """
    out: dict[str, Name] = {}
    for slot in query.names:
        if slot in NUMBER_SLOTS:
            out[slot] = numbers[slot]
        elif slot.endswith(("index", "key")):
            out[slot] = object_name(queue, slot)
        else:
            out[slot] = (schema, object_name(queue, slot))
    return out


def object_slots(queries: Iterable[Query]) -> tuple[str, ...]:
    """Return the placeholders of the objects that these files create, the table first."""
    found = {slot for query in queries for slot in query.names} - NUMBER_SLOTS
    return tuple(sorted(found, key=lambda slot: (slot != TABLE, slot)))


def check_names(engine: EngineName, design: str, schema: str, queue: str, objects: Iterable[str]) -> None:
    """Raise ``BadInput`` if the resulting names are not possible on this engine."""
    if not queue or not schema:
        raise BadInput(NameText.EMPTY)
    for word in (queue, schema):
        if BODY_TAG in word or "\0" in word:
            raise BadInput(NameText.TAG.render(word=word, tag=BODY_TAG))
    limit, unit = _LENGTH_LIMITS[engine]
    longest = max(_length(engine, object_name("", slot)) if slot != TABLE else 0 for slot in objects)
    if (length := _length(engine, queue)) + longest > limit:
        raise BadInput(
            NameText.TOO_LONG.render(
                queue=queue,
                length=length,
                unit=unit,
                design=design,
                limit=limit - longest,
                appended=longest,
                server_limit=limit,
            )
        )


def _length(engine: EngineName, name: str) -> int:
    return len(name.encode()) if engine == "postgres" else len(name.encode("utf-16-le")) // 2


def table_name(schema: str, queue: str, slot: str = TABLE) -> ObjectName:
    """Return the qualified name of the object with this placeholder."""
    return ObjectName(schema, object_name(queue, slot))


def subscriber_sequences(subscribers: int) -> tuple[str, ...]:
    """Return the pop sequences of a ring with several subscribers. The design's first file creates the sequences."""
    return tuple(f"pop_seq_{number}" for number in range(1, subscribers + 1))
