"""Handle locks in a poll: find the sessions that lock tables, and read the sequences that are not locked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from qmon.engines.base import Connection
from qmon.engines.result_records import to_records
from qmon.errors import QueryFailed
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import SequenceSample
from qmon.model.snapshot import ProbeFailure
from qmon.model.waits.lock_holders import PROBE, LockHolderSample
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache
from qmon.monitor.probes.queue_probes import QueueProbes

_ALL: Final = "sequences"
_FREE: Final = "sequences_free"
Ask = Callable[[list[ProbeStatement]], Results]


class LockedTables:
    """The locked tables and the locking sessions. One per connection.

    The locking sessions are read only after a lock has blocked a probe. ``wake``: lets the probes of a queue run in the
    next poll.
    """

    def __init__(self, statements: StatementCache, wake: Callable[[str], None]) -> None:
        self._statements = statements
        self._wake = wake
        self._held: frozenset[str] = frozenset()
        self._sequences: Sequence[int] = ()
        self._free_only = False

    def statement_for_sequences(self, ids: Sequence[int]) -> ProbeStatement:
        """Return the statement that reads the positions of these sequences, or only of the unlocked sequences."""
        self._sequences = ids
        probe = _FREE if self._free_only else _ALL
        return self._statements.statement_for(probe, {"sequences": self._statements.engine.ids_value(ids)})

    def record_results(self, results: Results, failures: Sequence[ProbeFailure]) -> None:
        """Record a poll. After a poll with a locked sequence, read only unlocked sequences until all are unlocked."""
        found: tuple[SequenceSample, ...] | None = results.pop(("", _FREE), None)
        if found is not None:
            results["", _ALL] = found
            if len(found) == len(set(self._sequences)):
                self._free_only = False
                self._wake("")
        elif any(failure.probe == _ALL and failure.reason == Reason.LOCKED for failure in failures):
            self._free_only = self._statements.has_probe(_FREE)

    def find_locked(self, connection: Connection, queues: Mapping[str, QueueProbes]) -> frozenset[str]:
        """Return the queues with a table that a session locks or waits to lock, so that readers wait.

        The result is empty if our role cannot see locks, or if this query fails.
        """
        if not queues or not self._statements.has_probe(PROBE):
            return frozenset()
        statement = self._statement_for_holders(queues)
        try:
            rows = to_records(LockHolderSample, connection.fetch(statement.bound))
        except QueryFailed:  # the caller finds the locked tables without the lock table
            return frozenset()
        locked = {row.table_id for row in rows}
        return frozenset(name for name, each in queues.items() if not locked.isdisjoint(each.facts.tables))

    def _statement_for_holders(self, queues: Mapping[str, QueueProbes]) -> ProbeStatement:
        ids = sorted({table for each in queues.values() for table in each.facts.tables})
        return self._statements.statement_for_target(PROBE, {"tables": self._statements.engine.ids_value(ids)})

    def name_holders(
        self, failures: Sequence[ProbeFailure], queues: Mapping[str, QueueProbes], ask: Ask
    ) -> list[ProbeFailure]:
        """Name the locking session in each failure that a lock has caused. ``ask``: runs statements in this poll.

        If a lock is gone, the probes that failed because of this lock run again in the next poll.
        """
        failed = {failure.queue for failure in failures if failure.reason == Reason.LOCKED}
        asked = queues if "" in failed else {queue: queues[queue] for queue in failed & queues.keys()}
        if not asked or not self._statements.has_probe(PROBE):
            self._held = frozenset()
            return list(failures)
        rows = ask([self._statement_for_holders(asked)]).get(("", PROBE))
        if rows is None:  # our role cannot see locks
            return list(failures)
        words = {row.table_id: row.summary for row in rows}
        by_queue = {
            queue: words[table] for queue, each in asked.items() for table in each.facts.tables if table in words
        }
        for queue in self._held - by_queue.keys():
            self._wake(queue)
        self._held = frozenset(by_queue)
        all_of_them = "; ".join(f"{queue}: {words}" for queue, words in by_queue.items())
        by_queue[""] = all_of_them or Reason.LOCKED
        return [
            replace(failure, reason=by_queue.get(failure.queue, Reason.LOCKED))
            if failure.reason == Reason.LOCKED
            else failure
            for failure in failures
        ]
