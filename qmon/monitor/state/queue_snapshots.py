"""Split a snapshot by queue, once per poll, so that no queue searches through the data of the other queues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import replace
from operator import attrgetter
from typing import Generic, TypeVar

from qmon.model.layout.layout import Layout
from qmon.model.layout.layout_io import table_to_text
from qmon.model.operation_records import pause_subject
from qmon.model.snapshot import Snapshot

_T = TypeVar("_T")


class _ByQueue(Generic[_T]):
    """Records grouped by queue or table, in their order.

    ``name_of``: returns the name of the queue or table; empty if a record is about the whole target.
    """

    def __init__(self, records: Iterable[_T] | None, name_of: Callable[[_T], str]) -> None:
        # Whether this poll read the records.
        self._is_read = records is not None
        self._of_target: list[tuple[int, _T]] = []
        self._of_queues: defaultdict[str, list[tuple[int, _T]]] = defaultdict(list)
        for place, record in enumerate(records or ()):
            name = name_of(record)
            (self._of_queues[name] if name else self._of_target).append((place, record))

    def __contains__(self, name: str) -> bool:
        return name in self._of_queues

    def records_for(self, name: str) -> tuple[_T, ...]:
        """Return the records about a queue or table, and about the whole target."""
        own = self._of_queues.get(name, ())
        found = sorted([*self._of_target, *own], key=lambda each: each[0]) if own else self._of_target
        return tuple(record for _, record in found)

    def read_records_for(self, name: str) -> tuple[_T, ...] | None:
        """Return the same; ``None`` if this poll did not read the records."""
        return self.records_for(name) if self._is_read else None


class QueueSnapshots:
    """A snapshot as each of its queues sees it.

    It is without failures, procedures, throttled probes, pauses and operations of other queues.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        queue, about = attrgetter("queue"), attrgetter("about")
        self._failures = _ByQueue(snapshot.failures, queue)
        self._procedures = _ByQueue(snapshot.procedures, queue)
        self._throttled = _ByQueue(snapshot.observing.throttled if snapshot.observing is not None else (), queue)
        self._pauses = _ByQueue(snapshot.pauses, about)
        self._operated = _ByQueue(snapshot.operated, about)
        # Shared by all queues without records of their own.
        self._shared = self._copy_for("", "", "", "")

    def snapshot_for(self, layout: Layout) -> Snapshot:
        """Return the snapshot as the queue of this layout sees it."""
        queue, probe_name = layout.queue, layout.probe_name
        paused, table = pause_subject(layout), table_to_text(layout.table)
        if (
            queue in self._failures
            or queue in self._procedures
            or probe_name in self._throttled
            or paused in self._pauses
            or table in self._operated
        ):
            return self._copy_for(queue, probe_name, paused, table)
        return self._shared

    def _copy_for(self, queue: str, probe_name: str, paused: str, table: str) -> Snapshot:
        snapshot, observing = self._snapshot, self._snapshot.observing
        return replace(
            snapshot,
            failures=self._failures.records_for(queue),
            procedures=self._procedures.read_records_for(queue),
            observing=observing and replace(observing, throttled=self._throttled.records_for(probe_name)),
            pauses=self._pauses.records_for(paused),
            operated=self._operated.read_records_for(table),
        )
