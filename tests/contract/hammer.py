"""Hammers an installed queue with real processes that are killed at random, and keeps an exact ledger.

Each push, pop and complete writes its message into the ledger in the same statement, so both are there or neither.
"""

from __future__ import annotations

import multiprocessing
import random
import time
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Final

from qmon.model.layout.layout import Layout
from tests.contract.hammering import Orders, Role, carry_out
from tests.facts import connected, odbc, query, wait_until
from tests.queues import BYTES, routine

LEDGER: Final = """
    CREATE TABLE ledger_pushed (
        id bigint NOT NULL, message text NOT NULL, due timestamptz, pushed_at timestamptz DEFAULT clock_timestamp()
    );
    CREATE TABLE ledger_popped (
        serial bigserial, id bigint, message text NOT NULL, attempt int NOT NULL, consumer text NOT NULL,
        subscriber int NOT NULL, began_at timestamptz DEFAULT statement_timestamp(),
        popped_at timestamptz DEFAULT clock_timestamp()
    );
    CREATE TABLE ledger_completed (id bigint NOT NULL);
    CREATE INDEX ON ledger_pushed (message);
    CREATE INDEX ON ledger_popped (message)"""

# Due times of messages in a pending queue: most are due a little later than they are pushed.
SOON: Final = "clock_timestamp() + (random() - 0.3) * interval '100 milliseconds'"


def orders_for(url: str, layout: Layout, role: Role, name: str, **more: object) -> Orders:
    """Return the statements of a producer or a consumer of this queue, with the ledger in them."""
    bytes_ = layout.design in BYTES
    subscriber = more.get("subscriber", 1)
    complete = fail = ""
    if role == "producer":
        message = "convert_to(CAST(? AS text), 'UTF8')" if bytes_ else "CAST(? AS text)"
        due = "CAST(NULL AS timestamptz)"
        if layout.design == "pending":
            due, message = SOON, f"{message}, d.due"
        statement = f"""
            INSERT INTO ledger_pushed (id, message, due)
            SELECT p.id, CAST(? AS text), d.due
            FROM (SELECT {due} AS due) AS d CROSS JOIN LATERAL {routine(layout, "push")}({message}) AS p(id)
            WHERE p.id IS NOT NULL
            RETURNING id"""
    else:
        text = "convert_from(p.payload, 'UTF8')" if bytes_ else "p.payload"
        attempt = "p.attempt" if layout.traits.completes else "1"
        asked = str(subscriber) if layout.ring is not None and layout.ring.subscribers else ""
        statement = f"""
            INSERT INTO ledger_popped (id, message, attempt, consumer, subscriber)
            SELECT p.id, {text}, {attempt}, CAST(? AS text), {subscriber} FROM {routine(layout, "pop")}({asked}) AS p
            RETURNING id, attempt"""
        if layout.traits.completes:
            complete = f"""
                INSERT INTO ledger_completed
                SELECT v.id FROM (VALUES (CAST(? AS bigint), CAST(? AS int))) AS v(id, attempt)
                WHERE {routine(layout, "complete")}(v.id, v.attempt)"""
            fail = f"SELECT {routine(layout, 'fail')}(CAST(? AS bigint), CAST(? AS int), 1000000)"
    return Orders(odbc(url), role, name, statement, complete, fail, **more)  # type: ignore[arg-type]


# Each process is forked from one with all modules loaded: that takes a tenth of the time of a new Python.
_FORKED: Final = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload([carry_out.__module__])


@dataclass(frozen=True, eq=False)
class _Hammering:
    """One process, and our end of the pipe that it watches."""

    role: Role
    subscriber: int
    process: ForkServerProcess
    pipe: Connection

    def kill(self) -> None:
        """Kill it at once."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Hammer:
    """The processes of one run: started, killed at random, started again."""

    def __init__(self, url: str, layout: Layout, **more: object) -> None:
        """``more``: fields of ``Orders`` for all processes."""
        self.url, self.layout, self._more = url, layout, more
        self._running: list[_Hammering] = []
        self.subscribers = max(1, len(layout.ring.subscribers)) if layout.ring is not None else 1
        self._started = 0
        self.killed = {"producer": 0, "consumer": 0}
        with connected(url) as raw:
            raw.execute(LEDGER)

    def start(self, role: Role, count: int = 1, **more: object) -> None:
        """Start this many producers or consumers."""
        for _ in range(count):
            self._started += 1
            subscriber = self._least_read() if role == "consumer" else 1
            asked = {"subscriber": subscriber, **self._more, **more}
            orders = orders_for(self.url, self.layout, role, f"{role}{self._started}", **asked)
            ours, its = _FORKED.Pipe()
            process = _FORKED.Process(target=carry_out, args=(orders, its), daemon=True)
            process.start()
            its.close()
            self._running.append(_Hammering(role, subscriber, process, ours))

    def _least_read(self) -> int:
        """Return the subscriber with the fewest consumers."""
        serving = [each.subscriber for each in self._running if each.role == "consumer"]
        return min(range(1, self.subscribers + 1), key=serving.count)

    def kill_one(self, role: Role, chance: random.Random) -> None:
        """Kill one process of this role with SIGKILL."""
        mine = [each for each in self._running if each.role == role and each.process.is_alive()]
        if mine:
            victim = chance.choice(mine)
            victim.kill()
            self._running.remove(victim)
            self.killed[role] += 1

    def stop(self, role: Role | None = None) -> None:
        """Let all processes (of one role) end their round, and wait for them. Fails if one has failed."""
        mine = [each for each in self._running if role in (None, each.role)]
        for each in mine:
            each.pipe.close()
        for each in mine:
            each.process.join(120)
            assert each.process.exitcode == 0, f"a {each.role} failed"
            self._running.remove(each)

    def wait_producers(self) -> None:
        """Wait until every producer has pushed all its messages."""
        wait_until(lambda: not self.busy("producer"), 120, what="all producers are done")
        self.stop("producer")

    def busy(self, role: Role) -> int:
        """Return the number of running processes of this role."""
        return sum(each.process.is_alive() for each in self._running if each.role == role)

    def pushed(self) -> int:
        """Return the number of messages in the ledger."""
        return int(str(query(self.url, "SELECT count(*) FROM ledger_pushed")[0][0]))

    def popped(self) -> int:
        """Return the number of messages popped at least once (by each subscriber), from the ledger."""
        read = "SELECT DISTINCT message, subscriber FROM ledger_popped"
        by_all = f"SELECT 1 FROM ({read}) AS r GROUP BY message HAVING count(*) = {self.subscribers}"
        return int(str(query(self.url, f"SELECT count(*) FROM ({by_all}) AS a")[0][0]))

    def sessions(self) -> int:
        """Return the number of sessions of hammering processes. That of a killed process takes a moment to end."""
        found = query(self.url, "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hammer'")
        return int(str(found[0][0]))

    def end(self) -> None:
        """Kill the remaining processes."""
        while self._running:
            self._running.pop().kill()

    def close(self) -> None:
        """Kill the remaining processes, and wait until the server has noticed."""
        self.end()
        wait_until(lambda: self.sessions() == 0, what="the sessions of killed processes end")


def strike(hammer: Hammer, *, producers: int, consumers: int, messages: int, kills: int, seed: int) -> None:
    """Push ``messages`` with these producers while these consumers pop, and kill processes of both sides."""
    chance = random.Random(seed)
    hammer.start("consumer", consumers)
    hammer.start("producer", producers)
    roles: tuple[Role, ...] = ("producer", "consumer")
    for number in range(1, kills + 1):
        goal = messages * number // (kills + 2)
        wait_until(partial(_reached, hammer, goal), 300, what="messages are pushed")
        for role in roles:
            time.sleep(chance.random() * 0.005)  # so that the kill can come at any moment of a round
            hammer.kill_one(role, chance)
            hammer.start(role)
    wait_until(partial(_reached, hammer, messages), 300, what="all messages are pushed")
    hammer.stop("producer")


def _reached(hammer: Hammer, goal: int) -> bool:
    return hammer.pushed() >= goal
