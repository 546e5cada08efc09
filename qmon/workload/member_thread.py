"""One member of a worker process: its thread, connection and counters, and its recovery after a fault."""

from __future__ import annotations

import abc
import os
import random
import threading
import time
from dataclasses import replace
from typing import Final

from qmon import system
from qmon.engines import registry
from qmon.engines.base import SILENCE_S, Bound, Connection, Session, Target
from qmon.engines.sql import queries
from qmon.errors import ConnectionFailed, ConnectionLost, QmonError
from qmon.model.layout.layout import Layout
from qmon.workload.counter_slots import CounterField, CounterSlot
from qmon.workload.spec import MemberSpec
from qmon.workload.workload_statements import WorkloadStatements

# After a pause, a member catches up on the messages of at most this many seconds.
MAX_DEBT_S: Final = 0.5


class Pacer:
    """Compute how long to wait before the next messages. Callers pass the current time, in seconds."""

    def __init__(self, now: float) -> None:
        self._due = now

    def wait_s(self, now: float, messages: int, rate: float | None) -> float:
        """Return the seconds to wait before ``messages`` may be sent. 0 or less: they may be sent now.

        ``rate``: messages per second from now on; ``None``: no limit; 0: never send (the result is infinite). The
        messages count as sent only if the result is 0 or less.
        """
        if rate is None:
            self._due = now
            return 0.0
        if rate <= 0:
            self._due = now
            return float("inf")
        self._due = max(self._due, now - MAX_DEBT_S)
        if self._due <= now:
            self._due += messages / rate
            return 0.0
        return self._due - now


# Changes of the rate take effect within this time, in seconds.
_CHECK_S: Final = 0.1

# Pauses between attempts to connect, in seconds. The last pause is repeated.
_RETRY_S: Final = (0.1, 0.2, 0.5, 1.0)


def connect_as(target: Target, application: str, silence_s: float | None = SILENCE_S) -> Connection:
    """Connect under the name of an application. ``silence_s``: see ``Session``.

    Raises ``QmonError`` if the connection fails.
    """
    engine = registry.engine_for(target)
    session = Session(idle_transaction_timeout_s=None, application=application, writes=True, silence_s=silence_s)
    connection = engine.connect(target, session)
    try:
        query = queries.load_query(engine.name, "action/workload/session", connection.version)
        connection.set_up_session(Bound(queries.render(query, {}, engine)))
    except BaseException:
        connection.close()
        raise
    return connection


class Worker(abc.ABC):
    """Run rounds until asked to stop, and reconnect when the connection breaks. One thread runs ``run``."""

    def __init__(
        self, target: Target, layout: Layout, member: MemberSpec, slot: CounterSlot, stop: threading.Event
    ) -> None:
        # An order that changes the member replaces the whole object.
        self.member = member
        self.slot = slot
        self.stop = stop
        # True: kill the whole process after the next pop, before the message is completed. This is the worst moment.
        self.must_crash = False
        self.random = random.Random()
        self._target = target
        self._layout = layout
        self._connection: Connection | None = None
        self._cancelled = False
        self._pacer = Pacer(time.monotonic())

    @abc.abstractmethod
    def run_round(self, connection: Connection, statements: WorkloadStatements) -> None:
        """Run one round, and count its commits."""

    def change_member(self, **changes: object) -> None:
        """Change fields of ``MemberSpec`` from the next round on."""
        self.member = replace(self.member, **changes)  # type: ignore[arg-type]  # checked by WorkerThreads

    def run(self) -> None:
        """Work until asked to stop."""
        attempt = 0
        while not self.stop.is_set():
            try:
                # Calls need no deadline, because the process is killed if it does not end. A deadline would need a
                # thread for each call, and the measured times would include this thread.
                connection = self._connection = connect_as(self._target, self.member.application, silence_s=None)
            except QmonError:
                self.slot.add_count(CounterField.ERRORS)
                self.stop.wait(_RETRY_S[min(attempt, len(_RETRY_S) - 1)])
                attempt += 1
                continue
            attempt = 0
            self.slot.set_connected(True)
            try:
                self._run_rounds(connection)
            finally:
                self.slot.set_connected(False)
                connection.close()

    def _run_rounds(self, connection: Connection) -> None:
        statements = WorkloadStatements(registry.engine_for(self._target), self._layout, connection.version)
        while not self.stop.is_set():
            try:
                self.run_round(connection, statements)
            except (ConnectionLost, ConnectionFailed):
                self.slot.add_count(CounterField.ERRORS)
                return
            except QmonError:
                if not self._cancelled:
                    self.slot.add_count(CounterField.ERRORS)
                self.stop.wait(_RETRY_S[0])

    def cancel_statement(self) -> None:
        """Cancel the running statement, without counting it as an error. Called from another thread."""
        self._cancelled = True
        if (connection := self._connection) is not None:
            connection.cancel()

    def wait_for_rate(self, messages: int) -> bool:
        """Return whether the rate allows ``messages`` now.

        If not, wait for a short time and return false. The caller must then call again.
        """
        wait = self._pacer.wait_s(time.monotonic(), messages, self.member.rate)
        if wait > 0:
            self.stop.wait(min(wait, _CHECK_S))
            return False
        return True

    def is_chosen(self, share: float) -> bool:
        """Return true at random, for this share of all calls."""
        return share > 0 and self.random.random() < share

    def crash_if_ordered(self) -> None:
        """Kill this process with SIGKILL if a crash was ordered."""
        if self.must_crash:
            os.kill(os.getpid(), system.KILL)
