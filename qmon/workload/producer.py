"""A producer: pushes messages at a rate, and rolls back some of the pushes."""

from __future__ import annotations

from typing import Final

from qmon.engines.base import Connection
from qmon.errors import QueryFailed
from qmon.workload.counter_slots import CounterField
from qmon.workload.member_thread import Worker
from qmon.workload.workload_messages import make_message
from qmon.workload.workload_statements import WorkloadStatements

# The error of a push into a full ring: PostgreSQL's SQLSTATE, or SQL Server's number. SQL Server before 2012 has the
# SQLSTATE in the text of the error.
_FULL_ERRORS: Final = ("QM003", 770003)


class _RollBackError(Exception):
    """Raised to roll back the transaction of a push."""


class Producer(Worker):
    """Push one message, or one batch, per round. If a ring is full, push the same messages again in the next round."""

    _number = 0

    _refused: tuple[str, ...] = ()

    def run_round(self, connection: Connection, statements: WorkloadStatements) -> None:
        member = self.member
        batch = max(1, member.batch) if statements.has_routine("push_batch") else 1
        if not self.wait_for_rate(batch):
            return
        payloads = list(self._refused) or [self._next_message() for _ in range(batch)]
        self._refused = ()
        try:
            if not self.is_chosen(member.rollback_share):
                self.slot.add_count(CounterField.PUSHED, self._push_payloads(connection, statements, payloads))
                return
            with connection.transaction():
                self._push_payloads(connection, statements, payloads)
                raise _RollBackError
        except _RollBackError:
            self.slot.add_count(CounterField.PUSH_ROLLED_BACK, batch)
        except QueryFailed as problem:
            if not _is_full(problem):
                raise
            self._refused = tuple(payloads)
            self.slot.add_count(CounterField.FULL_PUSHES, 1)

    def _push_payloads(self, connection: Connection, statements: WorkloadStatements, payloads: list[str]) -> int:
        if len(payloads) > 1:
            return statements.push_batch(connection, payloads)
        if statements.push_message(connection, payloads[0]) is None:  # the published ring design returns NULL
            raise QueryFailed("the ring is full", sqlstate=_FULL_ERRORS[0])
        return 1

    def _next_message(self) -> str:
        self._number += 1
        poison = self.is_chosen(self.member.poison_share)
        return make_message(self._number, self.member.application, self.member.message_bytes, poison=poison)


def _is_full(problem: QueryFailed) -> bool:
    return (
        problem.sqlstate == _FULL_ERRORS[0]
        or _FULL_ERRORS[1] in problem.numbers
        or f"{_FULL_ERRORS[0]}: " in str(problem)
    )
