"""A producer: pushes messages at a rate, and rolls back some of them."""

from __future__ import annotations

from typing import Final

from qmon.engines.base import Connection
from qmon.errors import QueryFailed
from qmon.workload.member import Worker
from qmon.workload.messages import message
from qmon.workload.slots import Field
from qmon.workload.statements import Statements

# The error of a push into a full ring: PostgreSQL's SQLSTATE, SQL Server's number (before 2012 in the text).
_FULL: Final = ("QM003", 770003)


class _TakenBackError(Exception):
    """Rolls back the transaction of a push."""


class Pusher(Worker):
    """Push one message, or one batch, per round. Messages refused by a full ring are pushed again in the next round."""

    _number = 0

    _refused: tuple[str, ...] = ()

    def round(self, connection: Connection, statements: Statements) -> None:
        member = self.member
        batch = max(1, member.batch) if statements.has("push_batch") else 1
        if not self.paced(batch):
            return
        payloads = list(self._refused) or [self._message() for _ in range(batch)]
        self._refused = ()
        try:
            if not self.happens(member.rollback_share):
                self.slot.add(Field.PUSHED, self._push(connection, statements, payloads))
                return
            with connection.transaction():
                self._push(connection, statements, payloads)
                raise _TakenBackError
        except _TakenBackError:
            self.slot.add(Field.PUSH_ROLLED_BACK, batch)
        except QueryFailed as problem:
            if not _is_full(problem):
                raise
            self._refused = tuple(payloads)
            self.slot.add(Field.FULL_PUSHES, 1)

    def _push(self, connection: Connection, statements: Statements, payloads: list[str]) -> int:
        if len(payloads) > 1:
            return statements.push_batch(connection, payloads)
        if statements.push(connection, payloads[0]) is None:  # the ring design as published
            raise QueryFailed("the ring is full", sqlstate=_FULL[0])
        return 1

    def _message(self) -> str:
        self._number += 1
        poison = self.happens(self.member.poison_share)
        return message(self._number, self.member.application, self.member.message_bytes, poison=poison)


def _is_full(problem: QueryFailed) -> bool:
    return problem.sqlstate == _FULL[0] or _FULL[1] in problem.numbers or f"{_FULL[0]}: " in str(problem)
