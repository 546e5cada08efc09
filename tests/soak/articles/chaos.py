"""Every design in chaos: rollbacks, savepoints, sessions that are ended, several messages in a transaction.

Pushed, popped and completed messages are written into a ledger in the same transaction. Rings are not repaired.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import pyodbc

from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import Layout
from tests.contract import ledger
from tests.contract.hammer import LEDGER, orders_for
from tests.contract.hammering import BEGIN_ANEW, FULL, Orders
from tests.facts import query, wait_until
from tests.queues import made, routine
from tests.soak.articles.claim import HOLDS, Row

# The published ring loses a number with each rollback. So it gets one message per transaction, and no rollbacks.
GENTLE: Final = ("ring_classic",)
HEAL_S: Final = 90.0
# A producer that cannot push for this long, in seconds, is stuck.
PUSH_S: Final = 60.0
_SIDES: Final = 3
_MOST: Final = 4
# The driver's errors after a session was terminated.
_GONE: Final = frozenset({"57P01", "08S01", "08003", "08006", "08007", "HY000", "01000"})


@dataclass
class Storm:
    """Counts of transactions rolled back, savepoints rolled back, sessions ended, and deadlocks."""

    rollbacks: int = 0
    savepoints: int = 0
    ended: int = 0
    anew: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, what: str) -> None:
        """Add one."""
        with self.lock:
            setattr(self, what, getattr(self, what) + 1)


class _Undone(Exception):
    """The transaction is to be rolled back, or was."""


class Client:
    """A producer or consumer that commits, rolls back, or loses its session, at random."""

    def __init__(self, url: str, orders: Orders, storm: Storm, seed: int, *, gentle: bool) -> None:
        self.url, self.orders, self.storm, self.gentle = url, orders, storm, gentle
        self.dice = random.Random(seed)
        self.calm = threading.Event()
        self.drawn = 0
        self._session: pyodbc.Connection | None = None

    def session(self) -> pyodbc.Connection:
        """Return the session, a new one if the last one was ended."""
        if self._session is None:
            self._session = pyodbc.connect(self.orders.connection, autocommit=False)
            self._session.execute("SET application_name = 'hammer'")
            self._session.commit()
        return self._session

    def close(self) -> None:
        """End the session, if there is one."""
        if self._session is not None:
            with contextlib.suppress(pyodbc.Error):
                self._session.close()
            self._session = None

    def _values(self) -> list[object]:
        self.drawn += 1
        if self.orders.role == "consumer":
            return [self.orders.name]
        return [f"{self.orders.name}-{self.drawn}"] * 2

    def _one(self) -> tuple[int, int] | None:
        cursor = self.session().execute(self.orders.statement, self._values())
        row = cursor.fetchone()
        if row is None:
            return None
        number, attempt = (*row, 0)[:2]
        return int(number or 0), int(attempt)  # a heap does not number its messages

    def transaction(self) -> list[tuple[int, int]]:
        """Push or pop some messages in one transaction. Return the committed ones, with their attempts."""
        rough = not self.gentle and not self.calm.is_set()
        try:
            done = self._messages(self.dice.randint(1, _MOST) if rough else 1, rough=rough)
            fate = self.dice.random() if rough and done else 1.0
            if fate < 0.15:
                raise _Undone
            if fate < 0.2:
                self._end_session()
                return []
            self.session().commit()
        except _Undone:
            self.session().rollback()
            self.storm.count("rollbacks")
            return []
        except pyodbc.Error as error:
            self._lost(error)
            return []
        return done

    def _messages(self, count: int, *, rough: bool) -> list[tuple[int, int]]:
        done = []
        for _ in range(count):
            inside = rough and self.dice.random() < 0.3
            if inside:
                self.session().execute("SAVEPOINT s")
            found = self._one()
            if inside and self.dice.random() < 0.5:
                self.session().execute("ROLLBACK TO SAVEPOINT s")
                if found is not None:
                    self.storm.count("savepoints")
            elif found is not None:
                done.append(found)
            else:
                break
        return done

    def _end_session(self) -> None:
        """Terminate the session, as a crash of the client or an administrator would. Nothing is committed."""
        pid = self.session().execute("SELECT pg_backend_pid()").fetchval()
        query(self.url, "SELECT pg_terminate_backend(?)", pid)
        self.storm.count("ended")
        self.close()

    def _lost(self, error: pyodbc.Error) -> None:
        if error.args[0] in {*BEGIN_ANEW, FULL}:
            self.session().rollback()
            self.storm.count("anew" if error.args[0] != FULL else "rollbacks")
        elif error.args[0] in _GONE:
            self.close()
        else:
            raise error

    def finish(self, number: int, attempt: int) -> None:
        """Complete or fail a popped message in a separate transaction. Some are left to be requeued."""
        fate = self.dice.random() if not self.calm.is_set() else 1.0
        if fate < 0.05:
            return
        try:
            self.session().execute(self.orders.fail if fate < 0.15 else self.orders.complete, [number, attempt])
            self.session().commit()
        except pyodbc.Error as error:
            self._lost(error)


def _push(client: Client, share: int) -> None:
    pushed, until = 0, time.monotonic() + PUSH_S
    while pushed < share:
        assert time.monotonic() < until, f"{client.orders.name} pushed {pushed} of {share}: the queue does not move"
        if more := len(client.transaction()):
            pushed, until = pushed + more, time.monotonic() + PUSH_S
        if share - pushed < _MOST:
            client.calm.set()
    client.close()


def _pop(client: Client, over: threading.Event) -> None:
    while not over.is_set():
        done = client.transaction()
        if client.orders.complete:
            for each in done:
                client.finish(*each)
        if not done:
            over.wait(0.005)
    client.close()


@dataclass(frozen=True)
class Weathered:
    """The ledger's result after a storm. ``healed_s``: seconds from the last push until all messages were popped."""

    pushed: int
    pops: int
    storm: Storm
    lost: int
    doubled: int
    order: ledger.Order
    healed_s: float


def weather(url: str, design: str, messages: int, seed: int) -> Weathered:
    """Push this number of messages through a fresh queue of a design, in chaos, and read the ledger."""
    layout = made(url, design, ring_size=24)
    subscribers = max(1, len(layout.ring.subscribers)) if layout.ring is not None else 1
    query(url, LEDGER)
    storm, over, gentle = Storm(), threading.Event(), design in GENTLE
    producers = [
        Client(url, orders_for(url, layout, "producer", f"producer{n}"), storm, seed * 100 + n, gentle=gentle)
        for n in range(_SIDES)
    ]
    consumers = [
        Client(
            url,
            orders_for(url, layout, "consumer", f"consumer{n}", subscriber=n % subscribers + 1),
            storm,
            seed * 100 + 50 + n,
            gentle=gentle,
        )
        for n in range(_SIDES + subscribers - 1)
    ]
    share = messages // _SIDES
    with _running(over, [(_pop, (each, over)) for each in consumers]):
        with _running(None, [(_push, (each, share)) for each in producers]):
            pass
        pushed_at = time.monotonic()
        for each in consumers:
            each.calm.set()
        healed = _drained(url, layout, subscribers)
        healed_s = time.monotonic() - pushed_at
    lost = len(query(url, ledger.LOST)) + len(query(url, ledger.INVENTED))
    doubled = len(query(url, ledger.COUNTED if layout.traits.completes else ledger.DOUBLED))
    if layout.traits.completes:
        lost += len(query(url, ledger.NOT_COMPLETED_ONCE))
    pushed, pops = (int(str(query(url, f"SELECT count(*) FROM ledger_{each}")[0][0])) for each in ("pushed", "popped"))
    # Open transactions may hold this number of messages and end either way.
    order = ledger.order(url, layout, allowed=2 * _MOST * (len(producers) + len(consumers)))
    return Weathered(pushed, pops, storm, lost, doubled, order, healed_s if healed else -1.0)


def _drained(url: str, layout: Layout, subscribers: int) -> bool:
    """Wait until all messages are popped (and completed). Requeue messages left in progress; do not repair rings."""
    if layout.traits.completes:
        undone = "SELECT 1 FROM ledger_pushed EXCEPT ALL SELECT 1 FROM ledger_completed"
    else:
        undone = (
            f"SELECT 1 FROM ledger_pushed CROSS JOIN generate_series(1, {subscribers}) AS s(number) "
            "EXCEPT ALL SELECT 1 FROM ledger_popped"
        )

    def drained() -> bool:
        if layout.traits.completes:
            query(url, f"SELECT {routine(layout, 'requeue')}(1, 500, 1000000)")
        return not query(url, undone)

    with contextlib.suppress(AssertionError):
        return wait_until(drained, HEAL_S, what="everything is popped")
    return False


@contextlib.contextmanager
def _running(over: threading.Event | None, jobs: list[tuple[object, tuple[object, ...]]]) -> Iterator[None]:
    """Run these on threads; at the end signal the end, wait for them, and raise the first of their errors."""
    failed: list[BaseException] = []

    def run(job: object, arguments: tuple[object, ...]) -> None:
        try:
            job(*arguments)  # type: ignore[operator]
        except BaseException as error:  # handed on below
            failed.append(error)

    threads = [threading.Thread(target=run, args=each) for each in jobs]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        if over is not None:
            over.set()
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]


def row(version: str, url: str, design: str, messages: int, seed: int) -> Row:
    """Return a design's line of the table."""
    says = f"{design}: each message once, in the order promised"
    shown_by = f"make soak ARGS='--articles --chaos --designs {design} --seed {seed}'"
    told = (version, f"Chaos: {TRAITS[design].article}", says, shown_by)
    try:
        done = weather(url, design, messages, seed)
    except AssertionError as error:
        return Row(*told, str(error), "BROKEN: stands still", broken=True)
    storm = done.storm
    figure = (
        f"{done.lost} lost, {done.doubled} doubled, {done.order.violations} inverted of {done.pushed:,}; "
        f"{storm.rollbacks} rollbacks, {storm.savepoints} savepoints undone, {storm.ended} sessions ended, "
        f"{storm.anew} deadlocks; all popped {done.healed_s:.1f} s after the last push"
    )
    if done.lost or done.doubled or done.healed_s < 0:
        return Row(*told, figure, "BROKEN: lost, doubled or stranded", broken=True)
    if done.order.violations and design not in GENTLE:
        return Row(*told, figure, f"BROKEN: out of order by up to {done.order.furthest}", broken=True)
    if done.order.violations:
        return Row(*told, figure, "does not hold here, because the published ring inverts laps once it is full")
    verdict = HOLDS if not storm.anew else "holds otherwise: who is chosen in a deadlock tries again"
    return Row(*told, figure, verdict)
