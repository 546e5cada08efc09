"""Thomas Kejser, "Implementing Message Queues in Relational Databases" (2012), with his answers to comments."""

from __future__ import annotations

import threading
import time
from typing import Final

import pyodbc

from tests.facts import connected, query, wait_until
from tests.soak.articles import common
from tests.soak.articles.claim import HOLDS, SQL_SERVER_ONLY, Claim, Found
from tests.soak.articles.rusanu import BENCHED, SECONDS
from tests.soak.articles.scene import Scene

HELD_S: Final = 20.0
_FULL: Final = "QM003"


def stale(scene: Scene) -> Found:
    """The queue is analyzed while it is full, and then emptied by pops."""
    queue = scene.queue("naive")
    queue.fill(5_000)
    query(scene.url, f"ANALYZE {queue.table}")
    query(scene.url, f"SELECT count(*) FROM {queue.routine('pop_batch')}(5000)")
    known = scene.number("SELECT reltuples FROM pg_class WHERE oid = CAST(CAST(? AS text) AS regclass)", queue.table)
    there = scene.number(f"SELECT count(*) FROM {queue.table}")
    return Found(f"statistics say {known:,.0f} rows, there are {there:,.0f}", known == 5_000 and there == 0)


def forced(scene: Scene) -> Found:
    """Count pages of a pop of 20,000 messages with the statistics of an empty table, and with true ones."""
    queue = scene.queue("naive")
    query(scene.url, f"ANALYZE {queue.table}")
    queue.fill(20_000)
    blind = scene.pops(queue, 50)
    query(scene.url, f"ANALYZE {queue.table}")
    known = scene.pops(queue, 50)
    return Found(f"{blind:.1f} pages a pop by stale statistics, {known:.1f} by true ones", blind < 1.5 * known + 3)


def analyzed(scene: Scene) -> Found:
    """Fill and empty a table while autovacuum runs, with the server's own thresholds and with the design's."""
    queue = scene.queue("naive")
    query(scene.url, "CREATE TABLE plain (id bigserial PRIMARY KEY, payload text)")
    scene.setting(autovacuum="on", autovacuum_naptime="1")
    try:
        count = "SELECT autoanalyze_count FROM pg_stat_user_tables WHERE relname = ?"

        def again() -> bool:
            query(scene.url, "INSERT INTO plain (payload) SELECT 'x' FROM generate_series(1, 500)")
            query(scene.url, "DELETE FROM plain")
            queue.fill(500)
            query(scene.url, f"SELECT count(*) FROM {queue.routine('pop_batch')}(500)")
            return scene.number(count, "plain") >= 3

        wait_until(again, 60, what="three analyzes")
        plain, ours = (scene.number(count, name) for name in ("plain", "naive"))
    finally:
        scene.setting(autovacuum="off")
    return Found(
        f"{plain:.0f} times with default thresholds, {ours:.0f} times naive meanwhile", plain >= 3 and ours == 0
    )


def in_place(scene: Scene) -> Found:
    """Run three laps of the ring, and a burst of that size through the naive queue: growth of the tables, and HOT
    updates."""
    ring, naive = scene.queue("ring"), scene.queue("naive")
    size = "SELECT pg_relation_size(CAST(CAST(? AS text) AS regclass)) / 8192"
    before = scene.number(size, ring.table)
    turned = scene.cycles(ring, 3_000)
    naive.fill(3_000, "repeat('x', 300)")
    query(scene.url, f"SELECT count(*) FROM {naive.routine('pop_batch')}(3000)")
    after, grown = scene.number(size, ring.table), scene.number(size, naive.table)
    hot = turned.hot / turned.updates
    figure = (
        f"ring {before:.0f}, then {after:.0f} pages, {hot:.0%} of updates HOT; naive 0, then {grown:.0f} until VACUUM"
    )
    return Found(figure, after <= 1.2 * before and hot > 0.95 and grown > 50)


def ring_pages(scene: Scene) -> Found:
    """Count pages touched by a push and a pop of a message."""
    ring, naive = (scene.cycles(scene.queue(design), 1_000).pages / 1_000 for design in ("ring", "naive"))
    return Found(f"{ring:.1f} pages a message, naive {naive:.1f} ({ring / naive:.1f} times)", ring > naive)


def log_latency(scene: Scene) -> Found:
    """Measure twenty commits of a push with each flush of the log 50 ms slower."""
    queue = scene.queue("naive")
    spent = []
    for delay in ("0", "50000"):
        scene.setting(commit_delay=delay, commit_siblings="0")
        with connected(scene.url) as session:
            session.execute("SET synchronous_commit = on")
            began = time.monotonic()
            queue.push(session, *["x"] * 20)
            spent.append((time.monotonic() - began) / 20)
    scene.setting(commit_delay="0", commit_siblings="5")
    return Found(
        f"{1000 * spent[0]:.0f} ms a push, {1000 * spent[1]:.0f} ms with a flush 50 ms slower", spent[1] >= 0.05
    )


def fifteen_times(scene: Scene) -> Found:
    """Measure cycles per second of both, healthy."""
    rates = scene.bench(BENCHED, SECONDS)
    ratio = rates["ring"] / rates["naive"]
    return Found(f"ring {rates['ring']:,.0f}/s, naive {rates['naive']:,.0f}/s: {ratio:.1f} times", ratio < 5)


def held(scene: Scene) -> Found:
    """The same next to a transaction that is held open."""
    rates = scene.bench(("naive", "ring"), HELD_S, held=True)
    ratio = rates["ring"] / rates["naive"]
    return Found(f"ring {rates['ring']:,.0f}/s, naive {rates['naive']:,.0f}/s: {ratio:.1f} times", ratio > 1)


def full(scene: Scene) -> Found:
    """Push five messages into four slots, pop one, and push the fifth again."""
    queue = scene.queue("ring", ring_size=4)
    refused = ""
    with scene.sessions(1, autocommit=True) as (session,):
        queue.push(session, "a", "b", "c", "d")
        try:
            queue.push(session, "e", more=", 50")
        except pyodbc.Error as error:
            refused = str(error.args[0])
        popped = [str(queue.pop(session))]
        queue.push(session, "e")
        popped += queue.drained(session)
    return Found(
        f"the fifth: error {refused}; after a pop it went in; popped {''.join(popped)}",
        (refused, popped) == (_FULL, list("abcde")),
    )


def sequencer(scene: Scene) -> Found:
    """Four sessions draw 250 numbers each in transactions that stay open."""
    query(scene.url, "CREATE SEQUENCE numbers")
    drawn: list[int] = []
    with scene.sessions(4) as sessions:
        for session in sessions:
            session.execute("SET lock_timeout = '300ms'")
        for _ in range(250):
            drawn += [int(session.execute("SELECT nextval('numbers')").fetchval()) for session in sessions]
    return Found(f"{len(set(drawn)):,} numbers, none twice, nobody waited", sorted(drawn) == list(range(1, 1001)))


def cached(scene: Scene) -> Found:
    """Two sessions draw from a sequence with CACHE 100000."""
    query(scene.url, "CREATE SEQUENCE numbers CACHE 100000")
    with scene.sessions(2, autocommit=True) as sessions:
        one, other = (int(session.execute("SELECT nextval('numbers')").fetchval()) for session in sessions)
    return Found(f"one session draws {one:,}, the next {other:,}", (one, other) == (1, 100_001))


def ahead(scene: Scene) -> Found:
    """A pop of the published ring draws a number before there is a message, and waits for it."""
    queue = scene.queue("ring_classic")
    got: list[str | None] = []

    def pop() -> None:
        with connected(scene.url) as session:
            got.append(queue.pop(session, "20000, 0"))

    thread = threading.Thread(target=pop)
    thread.start()
    wait_until(lambda: query(scene.url, "SELECT 1 FROM ring_classic_pop_seq WHERE is_called"), what="a number drawn")
    with scene.sessions(1, autocommit=True) as (session,):
        queue.push(session, "later")
    thread.join()
    return Found(f"the pop that came first got {got[0]!r}", got == ["later"])


def work_outside(scene: Scene) -> Found:
    """Return whether the next consumer waits while another works in its transaction, and after an early commit."""
    waited = {}
    for design in ("strict_fifo", "batch_single", "fifo"):
        queue = scene.queue(design)
        queue.fill(5)
        with scene.sessions(2) as (one, other):
            queue.pop(one)
            inside = queue.waits(other)
            other.rollback()
            one.commit()
            waited[design] = (inside, queue.waits(other))
            other.rollback()
    told = "; ".join(f"{design}: {'waits' if inside else 'passes by'}" for design, (inside, _) in waited.items())
    return Found(
        f"{told}; after a commit nobody waits",
        waited
        == {
            "strict_fifo": (True, False),
            "batch_single": (True, False),
            "fifo": (False, False),
        },
    )


def pointers(scene: Scene) -> Found:
    """Count pages per message of 20,000 characters in the ring, and in the ring of pointers."""
    payload = "".join(chr(33 + n * 7919 % 90) for n in range(20_000))
    costs = {}
    for design in ("ring", "ring_pointer"):
        found = scene.cycles(scene.queue(design), 100, payload)
        costs[design] = (found.pages + found.payload) / 100
    queue = scene.queue("ring_pointer", "spread")
    queue.fill(100)
    counts = query(scene.url, f"SELECT count(*) FROM {queue.layout.data_table} GROUP BY tableoid")
    parts = " ".join(str(count) for (count,) in counts)
    ring, pointer = costs["ring"], costs["ring_pointer"]
    figure = f"ring {ring:.0f} pages a message, ring_pointer {pointer:.0f}; 100 contents lie in parts of {parts}"
    return Found(figure, pointer > 0.7 * ring and parts == "25 25 25 25")


def groups(scene: Scene) -> Found:
    """Measure messages per second one by one, and in batches of a hundred."""
    one, many = (scene.bench(("fifo",), SECONDS, batch=batch)["fifo"] for batch in (1, 100))
    return Found(f"{many / one:.0f} times the messages a second in batches of 100", many > 2 * one)


def empty(scene: Scene) -> Found:
    """Count pages of a pop that finds no message."""
    found = {design: scene.pops(scene.queue(design), 50) for design in ("naive", "fifo", "ring", "status")}
    return Found(
        ", ".join(f"{name} {pages:.1f}" for name, pages in found.items()) + " pages a pop", max(found.values()) < 10
    )


NAME: Final = "Kejser"
CLAIMS: Final = (
    Claim(
        NAME,
        "Statistics of a queue are never right",
        "5,000 pushed, ANALYZE, all popped; pg_class.reltuples",
        HOLDS,
        stale,
    ),
    Claim(
        NAME,
        "So all plans must be forced",
        "50 × naive_pop() of 20,000 by stale and by true statistics",
        "holds otherwise: the routines carry their plan (SET enable_seqscan = off, generic)",
        forced,
    ),
    Claim(
        NAME,
        "Statistics are updated again and again; see also the verdict statistics",
        "pg_stat_user_tables.autoanalyze_count, autovacuum_naptime = 1",
        "holds otherwise: by default; the designs' thresholds keep it away",
        analyzed,
    ),
    Claim(
        NAME,
        "The root of the B-tree is split again and again (ACCESS_METHODS_HOBT_VIRTUAL_ROOT)",
        "none",
        SQL_SERVER_ONLY,
    ),
    Claim(
        NAME,
        "The pages at both ends of the index are fought over (PAGELATCH_EX)",
        "make soak ARGS='--articles --verdicts'",
        "see the verdict latch-bound",
    ),
    Claim(
        NAME,
        "INSERT and DELETE take and give back pages all the time; slots updated in place do not",
        "3,000 × ring_push, ring_pop, as many through naive in a burst; pg_relation_size, n_tup_hot_upd",
        HOLDS,
        in_place,
    ),
    Claim(
        NAME,
        "Writes depend on the latency of the log",
        "20 × naive_push() with commit_delay 0 and 50 ms",
        HOLDS,
        log_latency,
    ),
    Claim(
        NAME,
        "UPDATE of a slot costs less than INSERT and DELETE",
        "1,000 × push, pop; pg_statio_user_tables",
        "does not hold here, because an UPDATE writes a new version of the row, and the ring looks before it writes",
        ring_pages,
    ),
    Claim(
        NAME,
        "The ring does 15 times what the naive queue does",
        f"qmon design bench --designs naive,ring --producers 4 --consumers 4 --for {SECONDS:g}",
        "does not hold here, because both write a row version and wait for one commit a message",
        fifteen_times,
        or_else=HOLDS,
    ),
    Claim(
        NAME,
        "…with a transaction held open",
        f"qmon design bench --designs naive,ring --producers 4 --consumers 4 --for {HELD_S:g}",
        "holds otherwise: the naive queue steps over all that was popped since, the ring does not",
        held,
        or_else="not seen on this machine in so short a time",
    ),
    Claim(
        NAME,
        "A push never overwrites what was not popped; a full ring makes it wait and try again",
        "5 × ring_push() into 4 slots",
        HOLDS,
        full,
    ),
    Claim(
        NAME,
        "A sequence gives each number once, and nobody waits for it",
        "250 × nextval() in 4 open transactions",
        HOLDS,
        sequencer,
    ),
    Claim(
        NAME,
        "CACHE 100000 makes it quick",
        "nextval() in two sessions",
        "does not hold here, because each session caches numbers of its own: the order would be gone",
        cached,
    ),
    Claim(
        NAME,
        "A pop may run ahead of the pushes and waits for its message",
        "ring_classic_pop(20000, 0); ring_classic_push()",
        HOLDS,
        ahead,
    ),
    Claim(
        NAME,
        "A pop never takes an empty slot or another lap's message",
        "make soak ARGS='--articles --chaos --designs ring ring_pointer'",
        "see the chaos of ring",
    ),
    Claim(
        NAME,
        "Several producers and subscribers",
        "make soak ARGS='--articles --chaos --designs ring_subscribers'",
        "see the chaos of ring_subscribers",
    ),
    Claim(
        NAME,
        "Pop, commit, then call others: work in the popping transaction does not scale",
        "<design>_pop() beside an open transaction that has popped, and after its commit",
        "holds otherwise: where pops wait for locks; one that passes by only keeps vacuum waiting",
        work_outside,
    ),
    Claim(
        NAME,
        "Stamp who has a message, so that it can be had again after a crash",
        "status_pop(), session closed, owner read, status_requeue(0)",
        HOLDS,
        common.kept_while_at_work,
    ),
    Claim(
        NAME,
        "Above a page, put pointers into the ring and the content into partitioned tables",
        "100 × push, pop of 20,000 characters; ring_pointer's data by partition",
        "holds otherwise: TOAST keeps large values apart by itself, so that it saves little",
        pointers,
        or_else=HOLDS,
    ),
    Claim(
        NAME,
        "Groups of messages allow many more messages",
        f"qmon design bench --designs fifo --batch 1,100 --producers 4 --consumers 4 --for {SECONDS:g}",
        HOLDS,
        groups,
        or_else="not seen on this machine",
    ),
    Claim(NAME, "Poll an empty queue in a loop, a few milliseconds apart", "50 × pop of an empty queue", HOLDS, empty),
    Claim(
        NAME,
        "A range of numbers cannot be drawn at once",
        "none",
        "holds by documentation: nextval() gives one number; sessions that draw many interleave",
    ),
    Claim(NAME, "IDENTITY makes a hot page, user counters and @@DBTS could number messages", "none", SQL_SERVER_ONLY),
    Claim(
        NAME,
        "Service Broker does 10,000 messages a second, MSMQ does not scale to 100,000",
        "none",
        SQL_SERVER_ONLY,
    ),
)
