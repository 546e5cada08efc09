"""A keeper does the maintenance that a queue's owner would do with a script, so that a load can run for hours."""

from __future__ import annotations

from typing import Final

from qmon.engines.base import Connection, Value
from qmon.workload.counter_slots import CounterField
from qmon.workload.member_thread import Worker
from qmon.workload.workload_statements import WorkloadStatements

_BATCH: Final = 500

# The maximum number of attempts when the keeper requeues. It is so high that no requeued message becomes dead.
_NEVER_DEAD: Final = 1_000_000


class Keeper(Worker):
    """Requeue stuck messages, archive processed messages, repair a ring, then pause."""

    def run_round(self, connection: Connection, statements: WorkloadStatements) -> None:
        member = self.member
        if statements.has_routine("requeue") and (after := member.requeue_after_s) is not None:
            asked: dict[str, Value] = {"timeout": after, "limit": _BATCH, "max_attempts": _NEVER_DEAD}
            self._record_count(CounterField.REQUEUED, statements.fetch_value(connection, "requeue", asked))
        if statements.has_routine("archive"):
            while not self.stop.is_set():
                moved = statements.fetch_value(connection, "archive", {"limit": _BATCH})
                self._record_count(CounterField.ARCHIVED, moved)
                if int(str(moved)) < _BATCH:
                    break
        if statements.has_routine("repair") and member.requeue_after_s is not None:
            self._record_count(CounterField.REPAIRED, statements.repair_ring(connection, member.requeue_after_s))
        self.stop.wait(member.every_s)

    def _record_count(self, field: CounterField, amount: object) -> None:
        if number := int(str(amount)):
            self.slot.add_count(field, number)
