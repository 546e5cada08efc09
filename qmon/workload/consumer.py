"""A consumer: pops a message, works on it, and completes it. It may also fail the message, or crash during the work."""

from __future__ import annotations

from typing import Final

from qmon.engines.base import Connection
from qmon.model.layout.layout import Layout
from qmon.workload.counter_slots import CounterField
from qmon.workload.member_thread import Worker
from qmon.workload.workload_messages import is_poison
from qmon.workload.workload_statements import WorkloadStatements

_IDLE_GROWTH: Final = 1.5
_MAX_IDLE: Final = 5.0

_Rows = tuple[tuple[object, ...], ...]


class _GivenBackError(Exception):
    """Raised to roll back the transaction of a pop whose messages failed, so that these messages are ready again."""


class Consumer(Worker):
    """Pop one message, or one batch, per round, and work on it for the configured time."""

    _idle = 1.0

    def run_round(self, connection: Connection, statements: WorkloadStatements) -> None:
        if not self.wait_for_rate(self._batch_size(statements)):
            return
        found = self._run_round_of(statements.layout, connection, statements)
        if found:
            self._idle = 1.0
        else:
            self.slot.add_count(CounterField.EMPTY_POPS)
            self.stop.wait(self.member.idle_s * self._idle)
            self._idle = min(self._idle * _IDLE_GROWTH, _MAX_IDLE)

    def _run_round_of(self, layout: Layout, connection: Connection, statements: WorkloadStatements) -> int:
        if layout.traits.completes:
            return self._pop_and_complete(connection, statements)
        works = self.member.work_s > 0 or self.member.fail_share > 0
        if self.must_crash or (layout.ring is None and works):
            return self._pop_in_transaction(connection, statements)
        rows = self._pop_rows(connection, statements)
        if rows:
            self.slot.add_count(CounterField.POPPED, len(rows))
            self._do_work()
        return len(rows)

    def _batch_size(self, statements: WorkloadStatements) -> int:
        return max(1, self.member.batch) if statements.has_routine("pop_batch") else 1

    def _pop_rows(self, connection: Connection, statements: WorkloadStatements, verb: str = "pop") -> _Rows:
        if self.member.subscriber:
            return connection.fetch(statements.bind("pop_subscriber", {"subscriber": self.member.subscriber})).rows
        batch = self._batch_size(statements)
        bound = statements.bind(verb) if batch == 1 else statements.bind(f"{verb}_batch", {"limit": batch})
        return connection.fetch(bound).rows

    def _pop_in_transaction(self, connection: Connection, statements: WorkloadStatements) -> int:
        """Pop from a design that does not complete messages by a separate call.

        The messages are in progress while the transaction is open. If the consumer crashes during the transaction, they
        are ready again. In a ring, the messages become orphans, because the consumer has already moved past their
        numbers.
        """
        rows: _Rows = ()
        try:
            with connection.transaction():
                rows = self._pop_rows(connection, statements)
                if rows:
                    self.crash_if_ordered()
                    self._do_work()
                    if self.is_chosen(self.member.fail_share):
                        raise _GivenBackError
        except _GivenBackError:
            self.slot.add_count(CounterField.POP_ROLLED_BACK, len(rows))
            return len(rows)
        if rows:
            self.slot.add_count(CounterField.POPPED, len(rows))
        return len(rows)

    def _pop_and_complete(self, connection: Connection, statements: WorkloadStatements) -> int:
        """Pop from a design that completes messages by a separate call.

        The pop is committed, and the messages are in progress until they are completed.
        """
        rows = self._pop_rows(connection, statements, "take")
        if not rows:
            return 0
        self.slot.add_count(CounterField.POPPED, len(rows))
        self.crash_if_ordered()
        self._do_work()
        good = []
        for identity, payload, attempt, *_ in rows:
            if is_poison(payload) or self.is_chosen(self.member.fail_share):
                self._fail_message(connection, statements, str(identity), int(str(attempt)))
            else:
                good.append((str(identity), int(str(attempt))))
        if len(good) == 1:
            identity, attempt = good[0]
            done = statements.fetch_value(connection, "complete", {"id": identity, "attempt": attempt})
            self.slot.add_count(CounterField.COMPLETED, int(str(done)))
        elif good:
            done = statements.complete_batch(connection, good)
            self.slot.add_count(CounterField.COMPLETED, done)
        return len(rows)

    def _fail_message(
        self, connection: Connection, statements: WorkloadStatements, identity: str, attempt: int
    ) -> None:
        most = statements.layout.max_attempts
        state = statements.fetch_value(connection, "fail", {"id": identity, "attempt": attempt, "most": most})
        if state is not None:
            dead = statements.layout.state is not None and state == statements.layout.state.dead
            self.slot.add_count(CounterField.DIED if dead else CounterField.RETURNED)

    def _do_work(self) -> None:
        if self.member.work_s > 0:
            self.stop.wait(self.member.work_s)
