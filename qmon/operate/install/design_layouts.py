"""Builds the layout of an installed design, as the registry stores it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from qmon.model.layout.layout import (
    DEFAULT_MAX_ATTEMPTS,
    Layout,
    LayoutSource,
    ObjectName,
    OwnerColumn,
    PauseSwitch,
    RequeueWrite,
    Ring,
    SortColumn,
    StateColumn,
)
from qmon.operate.install.object_names import subscriber_sequences, table_name

# Routines that other programs call. Other routines of a design are internal.
_PUBLIC_ROUTINES: Final = frozenset(
    {
        "push",
        "push_batch",
        "pop",
        "pop_batch",
        "complete",
        "complete_batch",
        "fail",
        "requeue",
        "archive",
        "fill_hole",
        "requeue_orphan",
        "repair",
        "reset",
    }
)
_NO_TABLE: Final = ObjectName("", "")


def layout_for(
    design: str,
    schema: str,
    queue: str,
    *,
    objects: Iterable[str],
    size: int,
    subscribers: int = 0,
    timeout_s: float,
    owner_held_while_working: bool,
    max_attempts: int | None = None,
) -> Layout:
    """Return the layout of a newly installed queue.

    ``objects``: the placeholders of the objects that the design's files create. ``size``: number of slots of a ring.
    ``subscribers``: number of subscribers if the ring has a pop sequence for each subscriber, otherwise 0.
    """
    made = set(objects)

    def first_created(*slots: str) -> ObjectName | None:
        """Return the name of the first of these objects that the design's files create."""
        return next((table_name(schema, queue, slot) for slot in slots if slot in made), None)

    shape = SHAPES[design]
    push_until, switch, data = (
        first_created("push_until", "switch"),
        first_created("pop_until", "switch"),
        first_created("data"),
    )
    return replace(
        shape,
        queue=queue,
        design=design,
        table=table_name(schema, queue),
        # An identity column of SQL Server has no sequence.
        sequence=first_created("seq", "id_seq") if shape.id is not None and shape.ring is None else None,
        data_table=data,
        data_id=None if data is None else shape.id,
        ring=None if shape.ring is None else _ring_for(shape.ring, schema, queue, size, subscribers),
        owner=OwnerColumn("owner", "session", owner_held_while_working) if "owner" in made else None,
        timeout_s=timeout_s,
        max_attempts=(max_attempts or DEFAULT_MAX_ATTEMPTS) if shape.attempts is not None else None,
        routines=tuple((verb, table_name(schema, queue, verb)) for verb in sorted(made & _PUBLIC_ROUTINES)),
        switch=None if push_until is None or switch is None else PauseSwitch(push_until, switch),
        source=LayoutSource.REGISTRY,
    )


def _ring_for(shape: Ring, schema: str, queue: str, size: int, subscribers: int) -> Ring:
    own = tuple(table_name(schema, queue, slot) for slot in subscriber_sequences(subscribers))
    pop = own[0] if own else table_name(schema, queue, "pop_seq")
    return replace(
        shape, size=size, push_sequence=table_name(schema, queue, "push_seq"), pop_sequence=pop, subscribers=own
    )


def _layout_shape(id: str | None, payload: str, enqueued_at: str = "enqueued_at", **more: Any) -> Layout:
    return Layout("", "naive", _NO_TABLE, id=id, payload=payload, enqueued_at=enqueued_at, **more)


def _ring_shape(**more: Any) -> Layout:
    return _layout_shape("message_id", "message", "time", ring=Ring(0, _NO_TABLE, _NO_TABLE, **more))


_LINE_SHAPE: Final = _layout_shape("id", "payload")

# Al Zabir's queues: one wide table, or small rows with the payloads in a second table.
_BATCH_SHAPE: Final = _layout_shape(
    "queue_id",
    "text_data",
    state=StateColumn("status", ready=0, in_progress=1, done=2, dead=3),
    started_at="started_at",
    attempts="attempts",
    order=(SortColumn("queue_date_time"), SortColumn("queue_id")),
    writes=(
        RequeueWrite("ready", "completed_at", "null"),
        RequeueWrite("ready", "queue_date_time", "front"),
        RequeueWrite("dead", "completed_at", "keep"),
    ),
)

# The columns of each design that can be installed. `layout_for` adds the objects of the design.
SHAPES: Final[dict[str, Layout]] = {
    "naive": _layout_shape("message_id", "message", "time"),
    "heap": _layout_shape(None, "payload"),
    "fifo": _LINE_SHAPE,
    "strict_fifo": _LINE_SHAPE,
    "lifo": _LINE_SHAPE,
    "pending": replace(_LINE_SHAPE, due_at="due_time"),
    "status": _layout_shape(
        "id",
        "message",
        state=StateColumn("status", ready=1, in_progress=2, dead=3),
        started_at="started_at",
        attempts="attempts",
        order=(SortColumn("id"),),
    ),
    "flag": _layout_shape(
        "id",
        "command",
        state=StateColumn("processed", ready=0, done=1),
        order=(SortColumn("id"),),
        writes=(RequeueWrite("ready", "processed_at", "null"),),
    ),
    "batch_single": _BATCH_SHAPE,
    "batch_split": _BATCH_SHAPE,
    "batch_fast": _BATCH_SHAPE,
    "ring": _ring_shape(),
    "ring_pointer": _ring_shape(),
    "ring_classic": _ring_shape(turn=None),
    "ring_subscribers": _ring_shape(unread="unread"),
}
