"""How the tables of each installed design act as a queue: the layout that goes into the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from qmon.model.layout import Layout, OwnerColumn, Ring, Source, StateColumn
from qmon.operate.naming import table_name

_VERBS: Final = frozenset(
    {
        "push", "push_batch", "pop", "pop_batch", "complete", "complete_batch", "fail", "requeue", "archive",
        "fill_hole", "requeue_orphan", "repair",
    }
)  # fmt: skip
"""The routines that others call; what a design has besides is its own business."""
_Shape = Callable[[str, str, int], Layout]


def layout_of(
    design: str,
    schema: str,
    queue: str,
    *,
    objects: Iterable[str],
    size: int,
    timeout_s: float,
    owner_held_while_working: bool,
) -> Layout:
    """The layout of a freshly installed queue. ``objects``: what the design's files create, as they call it."""
    made = set(objects)
    layout = SHAPES[design](schema, queue, size)
    owner = OwnerColumn("owner", "session", owner_held_while_working) if "owner" in made else None
    return replace(
        layout,
        owner=owner,
        timeout_s=timeout_s,
        routines=tuple((verb, table_name(schema, queue, verb)) for verb in sorted(made & _VERBS)),
        source=Source.REGISTRY,
    )


def _naive(schema: str, queue: str, size: int) -> Layout:
    return Layout(
        queue,
        "naive",
        table_name(schema, queue),
        id="message_id",
        enqueued_at="time",
        payload="message",
        sequence=table_name(schema, queue, "seq"),
    )


def _ring(schema: str, queue: str, size: int) -> Layout:
    return Layout(
        queue,
        "ring",
        table_name(schema, queue),
        id="message_id",
        enqueued_at="time",
        payload="message",
        ring=Ring(size, table_name(schema, queue, "push_seq"), table_name(schema, queue, "pop_seq")),
    )


def _fifo(schema: str, queue: str, size: int) -> Layout:
    return Layout(
        queue,
        "fifo",
        table_name(schema, queue),
        id="id",
        enqueued_at="enqueued_at",
        payload="payload",
        sequence=table_name(schema, queue, "id_seq"),
    )


def _status(schema: str, queue: str, size: int) -> Layout:
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
    )


def _batch_fast(schema: str, queue: str, size: int) -> Layout:
    return Layout(
        queue,
        "batch_fast",
        table_name(schema, queue),
        id="queue_id",
        state=StateColumn("status", ready=0, in_progress=1, done=2, dead=3),
        started_at="started_at",
        enqueued_at="enqueued_at",
        attempts="attempts",
        payload="title",
        sequence=table_name(schema, queue, "id_seq"),
        data_table=table_name(schema, queue, "data"),
        data_id="queue_id",
    )


SHAPES: Final[dict[str, _Shape]] = {
    "naive": _naive,
    "ring": _ring,
    "fifo": _fifo,
    "status": _status,
    "batch_fast": _batch_fast,
}
