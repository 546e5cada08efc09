"""What a poll does about tables and sequences that somebody locks: names who, and reads the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from qmon.model.reasons import Reason
from qmon.model.samples.polled import SequenceSample
from qmon.model.snapshot import ProbeFailure
from qmon.monitor.catalog.lock_holders import PROBE
from qmon.monitor.probes.queue import QueueProbes
from qmon.monitor.probes.statements import ProbeStatement, Results, StatementCache

_ALL: Final = "sequences"
_FREE: Final = "sequences_free"
Ask = Callable[[list[ProbeStatement]], Results]


class LockedTables:
    """Whose tables are locked, and by whom, asked only after that kept a probe from reading. Of one connection.

    ``wake``: lets the probes of a queue run in the next poll.
    """

    def __init__(self, statements: StatementCache, wake: Callable[[str], None]) -> None:
        self._statements = statements
        self._wake = wake
        self._held: frozenset[str] = frozenset()
        self._sequences: Sequence[int] = ()
        self._free_only = False

    def sequences(self, ids: Sequence[int]) -> ProbeStatement:
        """What reads where these sequences stand: all at once, or those that nobody locks."""
        self._sequences = ids
        probe = _FREE if self._free_only else _ALL
        return self._statements.of(probe, SequenceSample, {"sequences": self._statements.engine.ids(ids)})

    def see(self, results: Results, failures: Sequence[ProbeFailure]) -> None:
        """A poll was read: from the next one on leave out sequences that are locked, or no longer."""
        found: tuple[SequenceSample, ...] | None = results.pop(("", _FREE), None)
        if found is not None:
            results["", _ALL] = found
            if len(found) == len(set(self._sequences)):
                self._free_only = False
                self._wake("")
        elif any(failure.probe == _ALL and failure.reason == Reason.LOCKED for failure in failures):
            self._free_only = self._statements.has(_FREE)

    def named(
        self, failures: Sequence[ProbeFailure], queues: Mapping[str, QueueProbes], ask: Ask
    ) -> list[ProbeFailure]:
        """The failures with the session in those that a lock has caused. ``ask``: asks once more in this poll.

        Where the lock is gone meanwhile, what failed for it does not rest any longer.
        """
        failed = {failure.queue for failure in failures if failure.reason == Reason.LOCKED}
        asked = queues if "" in failed else {queue: queues[queue] for queue in failed & queues.keys()}
        if not asked or not self._statements.has(PROBE):
            self._held = frozenset()
            return list(failures)
        ids = self._statements.engine.ids(sorted({table for each in asked.values() for table in each.facts.tables}))
        rows = ask([self._statements.of_target(PROBE, {"tables": ids})]).get(("", PROBE))
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
        by_queue[""] = all_of_them or Reason.LOCKED
        return [
            replace(failure, reason=by_queue.get(failure.queue, Reason.LOCKED))
            if failure.reason == Reason.LOCKED
            else failure
            for failure in failures
        ]
