"""How the tables of each installed design act as a queue: the layout that goes into the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from qmon.model.layout.layout import (
    DEFAULT_MAX_ATTEMPTS,
    Layout,
    LayoutSource,
    Order,
    OwnerColumn,
    Ring,
    StateColumn,
    Switch,
    Write,
)
from qmon.operate.install.object_names import subscriber_sequences, table_name

_VERBS: Final = frozenset(
    {
        "push", "push_batch", "pop", "pop_batch", "complete", "complete_batch", "fail", "requeue", "archive",
        "fill_hole", "requeue_orphan", "repair", "reset",
    }
)  # fmt: skip
"""The routines that others call; what a design has besides is its own business."""
_Shape = Callable[[str, str], Layout]


def layout_of(
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
    """The layout of a freshly installed queue.

    ``objects``: what the design's files create, as they call it. ``size``: slots of a ring. ``subscribers``: how many
    pop sequences a ring has where each subscriber has its own, else 0.
    """
    made = set(objects)
    layout = SHAPES[design](schema, queue)
    if design in _RINGS:
        layout = replace(layout, ring=_RINGS[design](schema, queue, size, subscribers))
    owner = OwnerColumn("owner", "session", owner_held_while_working) if "owner" in made else None
    return replace(
        layout,
        # An identity of SQL Server has no sequence of its own.
        sequence=layout.sequence if made & {"seq", "id_seq"} else None,
        owner=owner,
        timeout_s=timeout_s,
        max_attempts=(max_attempts or DEFAULT_MAX_ATTEMPTS) if layout.attempts is not None else None,
        routines=tuple((verb, table_name(schema, queue, verb)) for verb in sorted(made & _VERBS)),
        switch=_switch(schema, queue, made),
        source=LayoutSource.REGISTRY,
    )


def _switch(schema: str, queue: str, made: set[str]) -> Switch | None:
    if "push_until" in made:
        return Switch(table_name(schema, queue, "push_until"), table_name(schema, queue, "pop_until"))
    if "switch" in made:
        return Switch(table_name(schema, queue, "switch"), table_name(schema, queue, "switch"))
    return None


def _deleting(design: str, sequence: str = "id_seq", **columns: str) -> _Shape:
    """A design whose pop deletes its row."""

    def shape(schema: str, queue: str) -> Layout:
        named = table_name(schema, queue, sequence) if "id" in columns else None
        return Layout(queue, design, table_name(schema, queue), sequence=named, **columns)  # type: ignore[arg-type]

    return shape


def _ring(design: str) -> _Shape:
    """A ring; its sequences and its size come with it, see ``_RINGS``."""

    def shape(schema: str, queue: str) -> Layout:
        data = table_name(schema, queue, "data") if design == "ring_pointer" else None
        return Layout(
            queue,
            design,
            table_name(schema, queue),
            id="message_id",
            enqueued_at="time",
            payload="message",
            data_table=data,
            data_id=None if data is None else "message_id",
        )

    return shape


def _positions(schema: str, queue: str, size: int, subscribers: int) -> Ring:
    return Ring(size, table_name(schema, queue, "push_seq"), table_name(schema, queue, "pop_seq"))


def _without_turn(schema: str, queue: str, size: int, subscribers: int) -> Ring:
    return replace(_positions(schema, queue, size, subscribers), turn=None)


def _one_each(schema: str, queue: str, size: int, subscribers: int) -> Ring:
    own = tuple(table_name(schema, queue, slot) for slot in subscriber_sequences(subscribers))
    ring = _positions(schema, queue, size, subscribers)
    return replace(ring, pop_sequence=own[0], subscribers=own, unread="unread")


def _status(schema: str, queue: str) -> Layout:
    return Layout(
        queue,
        "status",
        table_name(schema, queue),
        id="id",
        state=StateColumn("status", ready=1, in_progress=2, dead=3),
        started_at="started_at",
        enqueued_at="enqueued_at",
        attempts="attempts",
        payload="message",
        sequence=table_name(schema, queue, "id_seq"),
        order=(Order("id"),),
    )


def _flag(schema: str, queue: str) -> Layout:
    return Layout(
        queue,
        "flag",
        table_name(schema, queue),
        id="id",
        state=StateColumn("processed", ready=0, done=1),
        enqueued_at="enqueued_at",
        payload="command",
        sequence=table_name(schema, queue, "id_seq"),
        order=(Order("id"),),
        writes=(Write("ready", "processed_at", "null"),),
    )


def _batch(design: str, *, split: bool) -> _Shape:
    """Al Zabir's queues: one wide table, or small rows with the payloads apart."""

    def shape(schema: str, queue: str) -> Layout:
        return Layout(
            queue,
            design,
            table_name(schema, queue),
            id="queue_id",
            state=StateColumn("status", ready=0, in_progress=1, done=2, dead=3),
            started_at="started_at",
            enqueued_at="enqueued_at",
            attempts="attempts",
            payload="text_data",
            sequence=table_name(schema, queue, "id_seq"),
            data_table=table_name(schema, queue, "data") if split else None,
            data_id="queue_id" if split else None,
            order=(Order("queue_date_time"), Order("queue_id")),
            writes=(
                Write("ready", "completed_at", "null"),
                Write("ready", "queue_date_time", "front"),
                Write("dead", "completed_at", "keep"),
            ),
        )

    return shape


_RINGS: Final[dict[str, Callable[[str, str, int, int], Ring]]] = {
    "ring": _positions,
    "ring_pointer": _positions,
    "ring_classic": _without_turn,
    "ring_subscribers": _one_each,
}
_LINE: Final = {"id": "id", "enqueued_at": "enqueued_at", "payload": "payload"}

SHAPES: Final[dict[str, _Shape]] = {
    "naive": _deleting("naive", "seq", id="message_id", enqueued_at="time", payload="message"),
    "heap": _deleting("heap", enqueued_at="enqueued_at", payload="payload"),
    "fifo": _deleting("fifo", **_LINE),
    "strict_fifo": _deleting("strict_fifo", **_LINE),
    "lifo": _deleting("lifo", **_LINE),
    "pending": _deleting("pending", due_at="due_time", **_LINE),
    "status": _status,
    "flag": _flag,
    "batch_single": _batch("batch_single", split=False),
    "batch_split": _batch("batch_split", split=True),
    "batch_fast": _batch("batch_fast", split=True),
    **{design: _ring(design) for design in _RINGS},
}
"""The layout of each design that can be installed, but for what ``layout_of`` adds."""
