"""A queue under fire: producers and consumers are killed, a keeper repairs, and a producer sleeps for a lap."""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass
from typing import Final

from qmon.model.layout.layout import Layout
from tests.contract import ledger
from tests.contract.hammer import Hammer, orders_for, strike
from tests.facts import connected, query, wait_until
from tests.meanwhile import meanwhile
from tests.queues import call, made, opened

# Rings that are repaired.
MENDED: Final = ("ring", "ring_pointer", "ring_subscribers")
# Longer than the keeper takes for every possible repair.
STUCK_S: Final = 3.0
DEADLOCKS: Final = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


@dataclass(frozen=True)
class Fire:
    """How a queue is hammered.

    ``asleep``: again and again, a producer draws a number and sleeps until the others have used all numbers of the
    next lap.
    """

    producers: int = 8
    consumers: int = 8
    messages: int = 50_000
    kills: int = 100
    ring_size: int = 50
    asleep: bool = False
    seed: int = 7


@dataclass(frozen=True)
class Soaked:
    """Counts of a soak: messages pushed, pops, processes killed, laps slept, deadlocks, order, seconds."""

    design: str
    pushed: int
    pops: int
    producers_killed: int
    consumers_killed: int
    naps: int
    deadlocks: int
    order: ledger.Order
    seconds: float


def soak(url: str, design: str, fire: Fire) -> Soaked:
    """Hammer a fresh queue of a design; check delivery and order in the ledger, and that an empty answer is true.

    The published ring loses a number with each rollback and each kill, so it is hammered without them.
    """
    layout = made(url, design, ring_size=fire.ring_size)
    kills = 0 if design == "ring_classic" else fire.kills
    shares = {} if design == "ring_classic" else {"rollback_share": 0.02, "fail_share": 0.02}
    hammer = Hammer(url, layout, **shares)
    naps = [0]
    began = time.monotonic()
    try:
        with meanwhile(_keep, url, layout), meanwhile(_nap, url, layout, naps) if fire.asleep else _nothing():
            strike(
                hammer,
                producers=fire.producers,
                consumers=fire.consumers,
                messages=fire.messages,
                kills=kills,
                seed=fire.seed,
            )
        drain(hammer, layout)
    finally:
        hammer.close()
    seconds = time.monotonic() - began
    ledger.delivered(url, layout)
    with opened(url) as connection:
        assert call(connection, layout, "pop") == ()
    # Other consumers hold one message each, and producers are committing one each. Some more if times are drawn after
    # the id, or if the session of a killed process continues for a moment.
    order = ledger.order(url, layout, allowed=2 * (fire.producers + fire.consumers))
    deadlocks, pops = (int(str(query(url, sql)[0][0])) for sql in (DEADLOCKS, "SELECT count(*) FROM ledger_popped"))
    killed = hammer.killed
    return Soaked(
        design, hammer.pushed(), pops, killed["producer"], killed["consumer"], naps[0], deadlocks, order, seconds
    )


def drain(hammer: Hammer, layout: Layout) -> None:
    """Let consumers pop the remaining messages, and repair those that killed consumers held, as a script would."""
    pushed = hammer.pushed()

    def drained() -> bool:
        _mend(hammer.url, layout, age_s=0)
        if layout.traits.completes:
            return query(hammer.url, "SELECT count(DISTINCT id) FROM ledger_completed") >= [(pushed,)]
        return hammer.popped() >= pushed

    wait_until(drained, 120, what="everything is popped")
    hammer.stop()


def _mend(url: str, layout: Layout, *, age_s: float) -> None:
    with opened(url) as connection:
        if layout.design in MENDED:
            call(connection, layout, "repair", f"{age_s}, 200")
        elif layout.traits.completes:
            call(connection, layout, "requeue", "1, 500, 1000000")


def _keep(url: str, layout: Layout, over: threading.Event) -> None:
    """Do the same as an operator's script: each second, repair slots that have not moved for a second."""
    while not over.wait(1):
        _mend(url, layout, age_s=1)


def _nap(url: str, layout: Layout, naps: list[int], over: threading.Event) -> None:
    """A producer that draws a number, sleeps for a whole lap, and pushes: its message gets exactly that number.

    If nothing moves for ``STUCK_S``, it ends: a killed producer drew an earlier number, and no repair can prove that
    while a transaction that draws is open.
    """
    assert layout.ring is not None
    orders = orders_for(url, layout, "producer", "sleeper")
    statement = orders.statement.replace(") AS p(id)", ", p_null_when_full => true) AS p(id)")
    position = "SELECT last_value FROM orders_push_seq"
    while not over.wait(0.05):
        with connected(url, autocommit=False) as raw:
            number = raw.execute("SELECT nextval('orders_push_seq')").fetchval()
            last = number + layout.ring.size - 1
            at, since = number, time.monotonic()
            while at < last and time.monotonic() - since < STUCK_S and not over.wait(0.002):
                if (now := raw.execute(position).fetchval()) != at:
                    at, since = now, time.monotonic()
            if at < last:
                continue
            message = f"sleeper-{number}"
            row, since = None, time.monotonic()
            while row is None and time.monotonic() - since < STUCK_S:  # its slot still needs a repair
                row = raw.execute(statement, message, message).fetchone()
            raw.commit()
        assert row is None or row[0] == number, f"{number} became {row[0]}"
        naps[0] += row is not None


def _nothing() -> contextlib.AbstractContextManager[None]:
    return contextlib.nullcontext()
