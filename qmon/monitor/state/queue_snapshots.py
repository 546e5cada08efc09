"""Split a snapshot by queue, once per poll, so that no queue searches through the data of the other queues."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Generic, Protocol, TypeVar

from qmon.model.layout.layout import Layout
from qmon.model.snapshot import Snapshot


class _Named(Protocol):
    """A record about one queue. ``queue`` is empty if the record is about the whole target."""

    @property
    def queue(self) -> str: ...


_T = TypeVar("_T", bound=_Named)


class _ByQueue(Generic[_T]):
    """Records grouped by queue, in their order."""

    def __init__(self, records: Iterable[_T]) -> None:
        self._of_target: list[tuple[int, _T]] = []
        self._of_queues: defaultdict[str, list[tuple[int, _T]]] = defaultdict(list)
        for place, record in enumerate(records):
            (self._of_queues[record.queue] if record.queue else self._of_target).append((place, record))

    def __contains__(self, queue: str) -> bool:
        return queue in self._of_queues

    def records_for(self, queue: str) -> tuple[_T, ...]:
        """Return the records about a queue and about the whole target."""
        own = self._of_queues.get(queue, ())
        found = sorted([*self._of_target, *own], key=lambda each: each[0]) if own else self._of_target
        return tuple(record for _, record in found)


class QueueSnapshots:
    """A snapshot as each of its queues sees it: without failures, procedures and throttled probes of other queues."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._failures = _ByQueue(snapshot.failures)
        self._procedures = _ByQueue(snapshot.procedures or ())
        self._throttled = _ByQueue(snapshot.observing.throttled if snapshot.observing is not None else ())
        # Shared by all queues without records of their own.
        self._shared = self._copy_for("", "")

    def snapshot_for(self, layout: Layout) -> Snapshot:
        """Return the snapshot as the queue of this layout sees it."""
        queue, probe_name = layout.queue, layout.probe_name
        if queue in self._failures or queue in self._procedures or probe_name in self._throttled:
            return self._copy_for(queue, probe_name)
        return self._shared

    def _copy_for(self, queue: str, probe_name: str) -> Snapshot:
        snapshot, observing = self._snapshot, self._snapshot.observing
        return replace(
            snapshot,
            failures=self._failures.records_for(queue),
            procedures=None if snapshot.procedures is None else self._procedures.records_for(queue),
            observing=observing and replace(observing, throttled=self._throttled.records_for(probe_name)),
        )
