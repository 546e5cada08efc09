"""Find the transactions that hold rows of queues on SQL Server. A single read of the lock table covers all queues.

The read is expensive, so it is not part of every poll. An uncommitted new row is locked like a popped row, but is
visible. Therefore, if a queue has such locks, a second statement finds the locks whose rows are not visible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.probe_constants import LOCKS_S
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.samples.message_samples import TriedSample
from qmon.model.samples.polled_samples import HeldSample, LockSample, UnseenSample
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache
from qmon.monitor.probes.queue_probes import STILL_POLLS, QueueProbes
from qmon.monitor.source import ReadScope

_PROBE: Final = "locks"
_PLACES: Final = 1000
_NO_TABLE: Final = 0
_TRIED: Final = ("tried", "tried_state")


class RowLocks:
    """Decide when to read the locks, and match them to queues. Belongs to one collector."""

    def __init__(self, statements: StatementCache) -> None:
        self._statements = statements
        self._now = self._asked_at = self._read_at = float("-inf")
        self._waited = False
        self._last: dict[str, tuple[HeldSample, ...]] = {}
        # The queues whose locks were read in this poll.
        self.queues_read: frozenset[str] = frozenset()
        self._optimized = False

    def covers_queue(self, probes: QueueProbes) -> bool:
        """Return whether this class, and not a probe of the queue, finds the holders of the queue's rows."""
        return self._statements.has_probe(_PROBE) and probes.locked_rows_probe_name is not None

    def statements_for_poll(
        self, now: float, queues: Mapping[str, QueueProbes], focus: ReadScope
    ) -> list[ProbeStatement]:
        """Return the statement, if it is due. ``now``: our monotonic clock, seconds.

        Every poll reads the locks while sessions wait for locks, while rows are held and the head does not move, and
        while a screen shows locks. Otherwise, the locks are read four times a minute.
        """
        self._now = now
        held = (queues[name] for name, rows in self._last.items() if rows and name in queues)
        needed = any(self.covers_queue(probes) and probes.memo.still >= STILL_POLLS for probes in held)
        listed = queues.get(focus.rows_of or "")
        shown = focus.blocking or (listed is not None and self.covers_queue(listed))
        if not (needed or shown or self._waited or now - self._read_at >= LOCKS_S):
            return []
        asked = {name: probes for name, probes in queues.items() if self.covers_queue(probes)}
        if not asked:
            return []
        self._asked_at = now
        tables = self._statements.engine.ids_value(sorted({probes.facts.table_id for probes in asked.values()}))
        return [self._statements.statement_for(_PROBE, {"tables": tables, "places": _PLACES})]

    def may_hide_rows(self, layout: Layout) -> bool:
        """Return whether transactions may hold rows of this queue without a lock that the server shows.

        If so, the number of held rows is a lower bound. qmon's own designs pop with UPDLOCK, which keeps the locks
        visible.
        """
        return self._optimized and pops_in_transaction(layout) and not layout.routines

    def last_holders(self, name: str) -> tuple[tuple[HeldSample, ...], float] | None:
        """Return the holders from the last reading of the locks, and the age of this reading in seconds."""
        return (self._last[name], self._now - self._read_at) if name in self._last else None

    def statements_for_checks(self, name: str, probes: QueueProbes) -> list[ProbeStatement]:
        """Return every statement that one queue may need, to check whether our role may run these statements."""
        if not self.covers_queue(probes) or probes.locked_rows_probe_name is None:
            return []
        return [
            *self.statements_for_poll(float("inf"), {name: probes}, ReadScope()),
            probes.statement_for_invisible_locked_rows(probes.locked_rows_probe_name, ""),
        ]

    def record_results(
        self, results: Results, queues: Mapping[str, QueueProbes], ask: Callable[[list[ProbeStatement]], Results]
    ) -> None:
        """Add the holders to ``results`` as if each queue had been read alone. ``ask``: runs statements now."""
        if not self._statements.has_probe(_PROBE):
            return
        self._waited = any(wait.kind == "Lock" for wait in results.get(("", "waits"), ()))
        rows: tuple[LockSample, ...] | None = results.pop(("", _PROBE), None)
        if rows is not None:  # otherwise the probe was not due or has failed
            self._read_at = self._asked_at
            self._optimized = any(row.table_id == _NO_TABLE for row in rows)
        asked = (
            {name: probes for name, probes in queues.items() if self.covers_queue(probes)} if rows is not None else {}
        )
        own = {name: [row for row in rows or () if _is_on_head(row, probes)] for name, probes in asked.items()}
        checks = []
        for name, probes in asked.items():
            places = sorted({row.place for row in own[name] if row.taken})
            if places and probes.locked_rows_probe_name is not None:
                checks.append(
                    probes.statement_for_invisible_locked_rows(
                        probes.locked_rows_probe_name, self._statements.engine.texts_value(places)
                    )
                )
        found = ask(checks) if checks else {}
        failed = {each.queue for each in checks if each.key not in found}
        self.queues_read = frozenset(asked) - failed
        for name in self.queues_read:
            held = _held_samples(own[name], found.get((name, asked[name].locked_rows_probe_name or ""), ()))
            results[name, asked[name].locked_rows_probe_name or ""] = self._last[name] = held
        for name in queues:
            _mark_tried(results, name, own.get(name) if name in self.queues_read else None)


def _is_on_head(row: LockSample, probes: QueueProbes) -> bool:
    """Return whether a lock is in the index that finds the head, or on the table itself if no index finds the head."""
    index = probes.facts.indexes.get("head")
    ordered = probes.head_probe_name != "head_any"
    return row.table_id == probes.facts.table_id and (row.name == index if ordered else row.index_id == 0)


def _held_samples(locks: Sequence[LockSample], unseen: Sequence[UnseenSample]) -> tuple[HeldSample, ...]:
    """Return how many rows each transaction holds, most rows first. Rows about to be changed count, too."""
    away = {row.place for row in unseen}
    keys = max((row.keys for row in unseen), default=1)
    rows: Counter[str] = Counter()
    for taken in (False, True):
        listed: Counter[str] = Counter()
        seen: Counter[str] = Counter()
        for lock in locks:
            if lock.taken == taken:
                listed[lock.xid] = lock.locks
                seen[lock.xid] += taken and lock.place not in away
        for xid, count in listed.items():
            rows[xid] += (count - seen[xid]) // (keys if taken else 1)
    return tuple(HeldSample(xid, count, running=True) for xid, count in rows.most_common() if count > 0)


def _mark_tried(results: Results, queue: str, locks: Sequence[LockSample] | None) -> None:
    """Record which session has locked the message at the head; ``0``: no session; empty: not read."""
    for probe in _TRIED:
        tried: tuple[TriedSample, ...] | None = results.get((queue, probe))
        if tried:
            by = {} if locks is None else {lock.place: lock.xid for lock in locks}
            results[queue, probe] = tuple(
                replace(one, mark="" if locks is None else by.get(one.mark, "0")) for one in tried
            )
