"""Sixteen sessions on one queue, some of which roll back or are killed, and a ledger in the database.

A session that pushes, pops or completes writes that into the ledger in the same transaction: both exist, or neither.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from typing import Final

from qmon.engines.base import Connection, Value
from qmon.errors import ConnectionFailed, QueryFailed
from qmon.model.layout.layout import Layout
from qmon.workload.workload_statements import WorkloadStatements
from tests.contract.anywhere import Place, Row, execute, message, rolled_back, rows

PRODUCERS: Final = 4
CONSUMERS: Final = 12
NAMES: Final = (*(f"producer{n}" for n in range(PRODUCERS)), *(f"consumer{n}" for n in range(CONSUMERS)))
LEDGER: Final = (
    "CREATE TABLE pushed (message varchar(20) NOT NULL)",
    "CREATE TABLE popped (message varchar(20) NOT NULL, subscriber int NOT NULL)",
)
_IDLE_S: Final = 0.005
SESSIONS: Final = {
    "postgres": "SELECT pid FROM pg_stat_activity WHERE application_name = '{name}' AND datname = current_database()",
    "sqlserver": (
        "SELECT s.session_id FROM sys.dm_exec_sessions AS s"
        " WHERE s.program_name = N'{name}' AND s.database_id = DB_ID()"
    ),
}
KILL: Final = {
    "postgres": "SELECT pg_terminate_backend({session}) AS ended",
    "sqlserver": "KILL {session}",
}


class Crowd:
    """The sessions of one run. ``each``: messages per producer; ``kills``: number of sessions killed during the run."""

    def __init__(self, place: Place, layout: Layout, *, each: int, kills: int, seed: int) -> None:
        self.place, self.layout = place, layout
        self.problems: list[BaseException] = []
        self.killed = 0
        self._each, self._kills = each, kills
        self._chance = random.Random(seed)
        self._pushing = PRODUCERS
        self._over = threading.Event()
        self._lock = threading.Lock()
        place.run(*LEDGER)

    @property
    def messages(self) -> int:
        """The number of messages pushed in all."""
        return PRODUCERS * self._each

    @property
    def subscribers(self) -> int:
        """The number of subscribers that pop each message."""
        ring = self.layout.ring
        return max(1, len(ring.subscribers)) if ring is not None else 1

    def run(self) -> None:
        """Push, pop and kill until all is pushed; then let all sessions end, repair the queue, and pop the rest."""
        threads = [threading.Thread(target=self._alive, args=(name,), daemon=True) for name in NAMES]
        for thread in threads:
            thread.start()
        with self.place.opened("killer") as connection:
            while (self._pushing or self.killed < self._kills) and not self.problems:
                if self.killed < self._kills and self._chance.random() < 0.5:
                    self._kill(connection)
                time.sleep(self._chance.random() * 0.02)  # so that the kill can come at any moment
        self._over.set()
        for thread in threads:
            thread.join(120)
        if self.problems:
            raise self.problems[0]
        self._drain()

    def ledger(self) -> tuple[int, int, int]:
        """Return three numbers of messages: pushed, popped as often as required, and wrong (doubled or invented)."""
        ((pushed,),) = self.place.ask("SELECT count(*) FROM pushed")
        once = f"SELECT message FROM popped GROUP BY message HAVING count(DISTINCT subscriber) = {self.subscribers}"
        ((popped,),) = self.place.ask(f"SELECT count(*) FROM ({once}) AS p")
        twice = "SELECT message FROM popped GROUP BY message, subscriber HAVING count(*) > 1"
        never = "SELECT message FROM popped EXCEPT SELECT message FROM pushed"
        ((wrong,),) = self.place.ask(f"SELECT count(*) FROM ({twice} UNION ALL ({never})) AS w")
        return int(str(pushed)), int(str(popped)), int(str(wrong))

    # ------------------------------------------------------------------------------------------------- one session

    def _alive(self, name: str) -> None:
        """A producer or consumer that reconnects if its session is killed, even while it connects."""
        try:
            work = self._push_all if name.startswith("producer") else self._pop_on
            while True:
                with contextlib.suppress(ConnectionFailed), self.place.opened(application=name) as connection:
                    work(connection, name)
                    break
        except BaseException as problem:
            self.problems.append(problem)
        finally:
            if name.startswith("producer"):
                with self._lock:
                    self._pushing -= 1

    def _push_all(self, connection: Connection, name: str) -> None:
        known = rows(connection, f"SELECT message FROM pushed WHERE message LIKE '{name}-%'")
        done = {str(row[0]) for row in known}  # a killed commit may still have committed
        chance = random.Random(name)
        for number in range(self._each):
            text = f"{name}-{number}"
            if text in done:
                continue
            if chance.random() < 0.2:
                with rolled_back(connection):
                    self._push(connection, text)
            with connection.transaction():
                self._push(connection, text)

    def _push(self, connection: Connection, text: str) -> None:
        rows(connection, self.place.called(self.layout, "push", self.place.literal(self.layout, text)))
        execute(connection, f"INSERT INTO pushed (message) VALUES ('{text}')")

    def _pop_on(self, connection: Connection, name: str) -> None:
        chance, subscriber = random.Random(name), 1 + int(name.removeprefix("consumer")) % self.subscribers
        while not self._over.is_set():
            if chance.random() < 0.2:
                with rolled_back(connection):
                    self._pop(connection, subscriber)
            if not self._pop_for_good(connection, subscriber):
                self._over.wait(_IDLE_S)

    def _pop_for_good(self, connection: Connection, subscriber: int) -> bool:
        """Pop one message, and complete it if the design has that step; return whether there was one."""
        if not self.layout.traits.completes:
            with connection.transaction():
                return self._pop(connection, subscriber) is not None
        row = self.place.pop(connection, self.layout)
        if row is not None:
            with connection.transaction():
                done: dict[str, Value] = {"id": str(row[0]), "attempt": int(str(row[2]))}
                if self._uses(connection).fetch_value(connection, "complete", done) == 1:
                    self._note(connection, row, subscriber)
        return row is not None

    def _pop(self, connection: Connection, subscriber: int) -> Row | None:
        row = self.place.pop(connection, self.layout, subscriber)
        if row is not None and not self.layout.traits.completes:
            self._note(connection, row, subscriber)
        return row

    def _note(self, connection: Connection, row: Row, subscriber: int) -> None:
        execute(connection, f"INSERT INTO popped (message, subscriber) VALUES ('{message(row)}', {subscriber})")

    # --------------------------------------------------------------------------------------------- kill and mend

    def _kill(self, connection: Connection) -> None:
        engine = self.place.engine.name
        found = rows(connection, SESSIONS[engine].format(name=self._chance.choice(NAMES)))
        for ((session),) in found:
            with contextlib.suppress(QueryFailed):  # the session may have ended by itself
                execute(connection, KILL[engine].format(session=session))
                self.killed += 1

    def _drain(self) -> None:
        """Requeue the messages of killed consumers, or repair the ring, and pop the rest until none is missing."""
        until = time.monotonic() + 60
        with self.place.opened("drain") as connection:
            while True:
                for subscriber in range(1, self.subscribers + 1):
                    while self._pop_for_good(connection, subscriber):
                        pass
                if self.ledger()[1] == self.messages or time.monotonic() > until:
                    return
                use = self._uses(connection)
                if use.has_routine("requeue"):
                    use.fetch_value(connection, "requeue", {"timeout": 0.0, "limit": 500, "max_attempts": 1_000_000})
                if use.has_routine("repair"):
                    use.repair_ring(connection, 0.0)

    def _uses(self, connection: Connection) -> WorkloadStatements:
        return WorkloadStatements(self.place.engine, self.layout, connection.version)
