"""Names who locks a table that could not be read in this poll: asked only then."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from qmon.model.snapshot import ProbeFailure
from qmon.monitor.catalog.lock_holders import LOCKED, PROBE, LockHolderSample
from qmon.monitor.probes.queue import QueueProbes
from qmon.monitor.probes.statements import ProbeStatement, Results, StatementCache

Ask = Callable[[list[ProbeStatement]], Results]


class LockedTables:
    """Whose tables are locked, and by whom. Belongs to the collector of one connection.

    ``wake``: lets the probes of a queue run in the next poll.
    """

    def __init__(self, statements: StatementCache, wake: Callable[[str], None]) -> None:
        self._statements = statements
        self._wake = wake
        self._held: frozenset[str] = frozenset()

    def named(
        self, failures: Sequence[ProbeFailure], queues: Mapping[str, QueueProbes], ask: Ask
    ) -> list[ProbeFailure]:
        """The failures with the session in those that a lock has caused. ``ask``: asks once more in this poll.

        Where the lock is gone meanwhile, what failed for it does not rest any longer.
        """
        failed = {failure.queue for failure in failures if failure.reason == LOCKED}
        asked = queues if "" in failed else {queue: queues[queue] for queue in failed & queues.keys()}
        if not asked or not self._statements.has(PROBE):
            self._held = frozenset()
            return list(failures)
        ids = self._statements.engine.ids(sorted({table for each in asked.values() for table in each.facts.tables}))
        rows = ask([self._statements.of(PROBE, LockHolderSample, {"tables": ids})]).get(("", PROBE))
        if rows is None:  # our role may not see locks
            return list(failures)
        words = {row.table_id: row.words for row in rows}
        by_queue = {
            queue: words[table] for queue, each in asked.items() for table in each.facts.tables if table in words
        }
        for queue in self._held - by_queue.keys():
            self._wake(queue)
        self._held = frozenset(by_queue)
        all_of_them = "; ".join(f"{queue}: {words}" for queue, words in by_queue.items())
        by_queue[""] = all_of_them or LOCKED
        return [
            replace(failure, reason=by_queue.get(failure.queue, LOCKED)) if failure.reason == LOCKED else failure
            for failure in failures
        ]
