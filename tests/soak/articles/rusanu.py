"""Remus Rusanu, "Using tables as Queues" (2010), and his answer on queues with multiple clients."""

from __future__ import annotations

from functools import partial
from typing import Final

import pyodbc

from tests.facts import query, wait_until
from tests.soak.articles import common
from tests.soak.articles.claim import HOLDS, SQL_SERVER_ONLY, Claim, Found
from tests.soak.articles.scene import Queue, Scene

# Designs that are measured under load, once for all claims about rates.
BENCHED: Final = ("naive", "ring", "fifo", "lifo", "flag", "batch_single", "batch_split", "batch_fast")
SECONDS: Final = 3.0


def destructive_read(scene: Scene) -> Found:
    """A pop in a transaction that is rolled back, and in one that is committed."""
    queue = scene.queue("fifo")
    queue.fill(1)
    with scene.sessions(2) as (one, other):
        first = queue.pop(one)
        one.rollback()
        again = queue.pop(other)
        other.commit()
        gone = queue.pop(one)
    return Found(
        f"popped {first}; after a rollback {again}; after a commit {gone}", (first, again, gone) == ("m1", "m1", None)
    )


def heap_order(scene: Scene) -> Found:
    """Vacuum frees the space of popped messages, and later messages reuse it."""
    queue = scene.queue("heap")
    queue.fill(1_000)
    with scene.sessions(1, autocommit=True) as (session,):
        query(scene.url, f"SELECT count(*) FROM {queue.routine('pop_batch')}(800)")
        session.execute(f"VACUUM {queue.table}")
        queue.fill(800, "'n' || n")
        popped = queue.drained(session)
    last = max(place for place, message in enumerate(popped) if message.startswith("m"))
    early = sum(message.startswith("n") for message in popped[:last])
    return Found(f"{early} of 800 later messages came before the last earlier one", early > 0)


def no_delete_from_cte(scene: Scene) -> Found:
    """The article's statement, and its equivalent in PostgreSQL."""
    queue = scene.queue("fifo")
    queue.fill(1)
    refused = ""
    with scene.sessions(1) as (session,):
        try:
            session.execute(f"WITH c AS (SELECT id FROM {queue.table} ORDER BY id LIMIT 1) DELETE FROM c")
        except pyodbc.Error as error:
            refused = str(error.args[0])
    plan = query(
        scene.url,
        f"EXPLAIN DELETE FROM {queue.table} WHERE id = (SELECT id FROM {queue.table} ORDER BY id LIMIT 1 "
        "FOR UPDATE SKIP LOCKED) RETURNING payload",
    )
    nodes = sum("(cost=" in str(line[0]) for line in plan)
    return Found(
        f"DELETE FROM a CTE: error {refused}; with a subquery: {nodes} plan nodes", refused == "42P01" and nodes > 0
    )


def lax_order(scene: Scene) -> Found:
    """T1 pops A, T2 pops B and commits, T1 rolls back: A is processed after B."""
    queue = scene.queue("fifo")
    with scene.sessions(2) as (one, other):
        queue.push(one, "A", "B")
        one.commit()
        first, second = queue.pop(one), queue.pop(other)
        other.commit()
        one.rollback()
        third = queue.pop(other)
    return Found(f"committed in the order {second}, {third}", (first, second, third) == ("A", "B", "A"))


def strict_order(scene: Scene) -> Found:
    """The second pop waits until the first has committed or rolled back, and then keeps the order."""
    queue = scene.queue("strict_fifo")
    with scene.sessions(2) as (one, other):
        queue.push(one, "A", "B")
        one.commit()
        queue.pop(one)
        waited = queue.waits(other)
        other.rollback()
        one.rollback()
        popped = [queue.pop(other), queue.pop(other)]
    return Found(
        f"the second pop waited: {waited}; after a rollback {popped[0]}, {popped[1]}", waited and popped == ["A", "B"]
    )


def only_due(scene: Scene) -> Found:
    """Push a later one, an earlier one, and the first due one, in sessions with different time zones."""
    queue = scene.queue("pending")
    due = ", clock_timestamp() {} CAST(? AS interval)"
    with scene.sessions(2, autocommit=True) as (producer, consumer):
        producer.execute("SET timezone = 'Pacific/Auckland'")
        consumer.execute("SET timezone = 'America/New_York'")
        for message, sign, when in (("later", "+", "1 hour"), ("second", "-", "1 min"), ("first", "-", "1 hour")):
            push = f"SELECT {queue.routine('push')}(convert_to(CAST(? AS text), 'UTF8'){due.format(sign)})"
            producer.execute(push, message, when).fetchall()
        popped = queue.drained(consumer)
        producer.execute(f"UPDATE {queue.table} SET due_time = clock_timestamp()")
        popped += [str(wait_until(lambda: queue.pop(consumer), what="it is due"))]
    return Found(f"popped {', '.join(popped)}; the last one once it was due", popped == ["first", "second", "later"])


def stack(scene: Scene) -> Found:
    """Measure cycles per second of both under the same load."""
    rates = scene.bench(BENCHED, SECONDS)
    return Found(f"{rates['lifo'] / rates['fifo']:.2f} times the cycles of fifo", rates["lifo"] < 0.9 * rates["fifo"])


def half_a_million(scene: Scene) -> Found:
    """Measure pushes and pops per minute of the flag design, one per transaction, with 4 producers and 4 consumers."""
    operations = scene.bench(BENCHED, SECONDS)["flag"] * 2 * 60
    return Found(f"{operations:,.0f} pushes and pops a minute by 8 sessions", operations >= 500_000)


def second_index(scene: Scene) -> Found:
    """Count pages of a push and a pop, with and without an additional index on the id."""
    found = []
    for name in ("key_only", "and_id"):
        queue: Queue = scene.queue("flag", name)
        if name == "and_id":
            query(scene.url, f"CREATE INDEX ON {queue.table} (id)")
        found.append(scene.cycles(queue, 300).pages / 300)
    return Found(f"{found[0]:.1f} pages a cycle; {found[1]:.1f} with a second index", found[1] > found[0])


NAME: Final = "Rusanu, Using tables as Queues"
CLIENTS: Final = "Rusanu, queue with multiple clients"
CLAIMS: Final = (
    Claim(
        NAME,
        "DELETE … OUTPUT (RETURNING) is an atomic destructive read",
        "fifo_pop(); ROLLBACK; fifo_pop(); COMMIT; fifo_pop()",
        HOLDS,
        destructive_read,
    ),
    Claim(
        NAME,
        "A heap needs no index; its order is any",
        "heap: 1,000 pushed, 800 popped, VACUUM, 800 pushed, all popped",
        HOLDS,
        heap_order,
    ),
    Claim(
        NAME,
        "ROWLOCK, READPAST (SKIP LOCKED): consumers take rows without blocking each other",
        "<design>_pop() in two open transactions, lock_timeout 300 ms",
        HOLDS,
        common.passed_by,
    ),
    Claim(
        NAME,
        "An ordered index and ORDER BY give the order of insertion",
        "50 × fifo_push, fifo_pop",
        HOLDS,
        partial(common.ordered, design="fifo"),
    ),
    Claim(
        NAME,
        "DELETE from a CTE has a more compact plan than DELETE by a subquery",
        "WITH c AS (…) DELETE FROM c; EXPLAIN DELETE … WHERE id = (SELECT …)",
        "does not hold here, because PostgreSQL deletes from no CTE: a subquery with FOR UPDATE SKIP LOCKED does it",
        no_delete_from_cte,
    ),
    Claim(
        NAME,
        "With READPAST order is lax: a rollback lets a later message go first",
        "fifo_pop() in T1 and T2; T2 commits, T1 rolls back",
        HOLDS,
        lax_order,
    ),
    Claim(
        NAME,
        "Strict order lets one transaction pop at a time; the others wait",
        "strict_fifo_pop() in two transactions, lock_timeout 300 ms",
        HOLDS,
        strict_order,
    ),
    Claim(
        NAME,
        "ORDER BY … DESC is a stack",
        "50 × lifo_push, lifo_pop",
        HOLDS,
        partial(common.ordered, design="lifo", newest=True),
    ),
    Claim(
        NAME,
        "A stack has a hotter page than a queue",
        f"qmon design bench --designs fifo,lifo --producers 4 --consumers 4 --for {SECONDS:g}",
        HOLDS,
        stack,
        or_else="not seen on this machine: with so few sessions the log, not the page, is what they wait for",
    ),
    Claim(
        NAME,
        "A pending queue gives only what is due, the earliest first; UTC keeps time zones out of it",
        "pending_push(…, due) and pending_pop() in two time zones",
        "holds otherwise: timestamptz is a moment, whatever the session's time zone",
        only_due,
    ),
    Claim(
        NAME,
        "Service Broker's queues are hard to push into, fixed and not to be maintained",
        "none",
        SQL_SERVER_ONLY,
    ),
    Claim(NAME, "Only Service Broker activates a reader as messages come", "none", SQL_SERVER_ONLY),
    Claim(
        CLIENTS,
        "Find, skip what is locked, mark and return in one statement gives no message twice",
        "make soak ARGS='--articles --chaos --designs flag'",
        "see the chaos of flag",
    ),
    Claim(
        CLIENTS, "The flag must lead the key", "20 × flag_pop() among 20,000 processed rows", HOLDS, common.leading_key
    ),
    Claim(
        CLIENTS,
        "A second index on the queue costs",
        "300 × flag_push, flag_pop without and with an index on id",
        HOLDS,
        second_index,
    ),
    Claim(
        CLIENTS,
        "Any other query of the table leads to deadlocks and slows it down",
        "100 × flag_pop() beside a reader's open REPEATABLE READ transaction",
        "holds otherwise: a reader locks no rows; its open transaction keeps the dead ones",
        common.peeked,
    ),
    Claim(
        CLIENTS,
        "Half a million pushes and pops a minute",
        f"qmon design bench --designs flag --producers 4 --consumers 4 --for {SECONDS:g}",
        HOLDS,
        half_a_million,
        or_else="not shown on this machine, whose processors others use too: run qmon design bench on your server",
    ),
)
