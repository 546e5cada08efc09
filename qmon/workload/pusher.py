"""A pusher: pushes messages at a rate, and takes some of them back before they are committed."""

from __future__ import annotations

from qmon.engines.base import Connection
from qmon.workload.member import Worker
from qmon.workload.messages import message
from qmon.workload.slots import Field
from qmon.workload.statements import Statements


class _TakenBackError(Exception):
    """Ends the transaction of a push that is to be rolled back."""


class Pusher(Worker):
    """Pushes one message, or one batch, a round."""

    _number = 0

    def round(self, connection: Connection, statements: Statements) -> None:
        member = self.member
        batch = max(1, member.batch) if statements.has("push_batch") else 1
        if not self.paced(batch):
            return
        payloads = [self._message() for _ in range(batch)]
        if not self.happens(member.rollback_share):
            self._count(self._push(connection, statements, payloads))
            return
        try:
            with connection.transaction():
                self._push(connection, statements, payloads)
                raise _TakenBackError
        except _TakenBackError:
            self.slot.add(Field.PUSH_ROLLED_BACK, batch)

    def _push(self, connection: Connection, statements: Statements, payloads: list[str]) -> int:
        if len(payloads) > 1:
            return statements.push_batch(connection, payloads)
        return 0 if statements.push(connection, payloads[0]) is None else 1

    def _count(self, pushed: int) -> None:
        self.slot.add(Field.PUSHED if pushed else Field.FULL_PUSHES, pushed or 1)

    def _message(self) -> str:
        self._number += 1
        poison = self.happens(self.member.poison_share)
        return message(self._number, self.member.application, self.member.message_bytes, poison=poison)
