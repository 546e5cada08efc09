"""Omar Al Zabir, "Building High Performance Queue in Database" (2010)."""

from __future__ import annotations

import threading
from typing import Final

from qmon.workload.bench.bench_results import Dequeue
from tests.facts import connected, known, query, wait_until
from tests.soak.articles import common
from tests.soak.articles.claim import HOLDS, SQL_SERVER_ONLY, Claim, Found
from tests.soak.articles.rusanu import BENCHED, SECONDS
from tests.soak.articles.scene import Queue, Scene


def locking_select(scene: Scene) -> Found:
    """While one session has popped a batch and not committed, another pop waits; then it gets another message."""
    queue = scene.queue("batch_single")
    queue.fill(3)
    with scene.sessions(2) as (one, other):
        first = queue.pop(one)
        waited = queue.waits(other)
        other.rollback()
        one.commit()
        second = queue.pop(other)
    figure = f"the second consumer waited: {waited}; popped {first}, {second}"
    return Found(figure, waited and (first, second) == ("m1", "m2"))


def processed_rows(scene: Scene) -> Found:
    """Count pages of a pop before and after 20,000 processed rows of earlier dates, by two indexes."""
    pages = {}
    for design in ("batch_single", "batch_fast"):
        queue = scene.queue(design)
        columns = "queue_date_time, status" + (", text_data" if design == "batch_single" else "")
        rows = "now() - interval '1 day', 2" + (", 'x'" if design == "batch_single" else "")
        queue.fill(60)
        few = scene.pops(queue, 20)
        query(scene.url, f"INSERT INTO {queue.table} ({columns}) SELECT {rows} FROM generate_series(1, 20000)")
        query(scene.url, f"VACUUM ANALYZE {queue.table}")
        pages[design] = (few, scene.pops(queue, 20))
    told = "; ".join(f"{design}: {few:.0f}, then {many:.0f} pages a pop" for design, (few, many) in pages.items())
    (few, many), (fast, later) = pages["batch_single"], pages["batch_fast"]
    return Found(told, many > few + 3 and later < fast + 3)


def _dequeue(scene: Scene, design: str, batch: int) -> Dequeue:
    return next(each for each in scene.dequeues().dequeues if (each.design, each.batch) == (design, batch))


def payload_reads(scene: Scene) -> Found:
    """Return the pages of payloads that a batch of ten reads."""
    single, split = (known(_dequeue(scene, design, 10).first.payload) for design in ("batch_single", "batch_split"))
    return Found(f"{single:.0f} pages of payload a batch of 10; split {split:.0f}", single < 2 * split)


def split_reads(scene: Scene) -> Found:
    """Return all pages that a batch of ten reads."""
    single, split = (known(_dequeue(scene, design, 10).first.total) for design in ("batch_single", "batch_split"))
    return Found(
        f"{single:.0f} pages a batch of 10; split {split:.0f} ({split / single:.2f} times)", split > 0.9 * single
    )


def one_update(scene: Scene) -> Found:
    """Compare pages per message: SELECT then UPDATE of ten, one UPDATE of a hundred, and SELECT then UPDATE of a
    hundred."""
    ten, same, hundred = (
        known(_dequeue(scene, design, batch).first.total) / batch
        for design, batch in (("batch_split", 10), ("batch_split", 100), ("batch_fast", 100))
    )
    figure = f"{ten:.1f} pages a message (split, 10); {hundred:.1f} (one UPDATE, 100); split of 100: {same:.1f}"
    return Found(figure, hundred < min(ten, same))


def lock_timeouts(scene: Scene) -> Found:
    """Ten pops each while another transaction holds the first message."""
    given_up = {}
    for design in ("batch_split", "batch_fast"):
        queue = scene.queue(design)
        queue.fill(20)
        with scene.sessions(1) as (holder,), scene.sessions(1, autocommit=True) as (consumer,):
            queue.pop(holder)
            pop = f"SELECT id FROM {queue.routine('pop')}()"
            given_up[design] = common.timed_out(consumer, pop, 10)
    figure = f"{given_up['batch_split']} of 10 pops gave up; {given_up['batch_fast']} of 10 with SKIP LOCKED"
    return Found(figure, given_up == {"batch_split": 10, "batch_fast": 0})


def rebuilt_online(scene: Scene) -> Found:
    """Rebuild indexes of a small table and of a table with large payloads while a consumer pops."""
    during = {}
    for design in ("batch_fast", "batch_single"):
        queue = scene.queue(design)
        queue.fill(8_000, "repeat('x', 3000)")
        during[design] = _pops_during(queue, f"REINDEX TABLE CONCURRENTLY {queue.table}")
    figure = ", ".join(f"{design}: {count:,} pops meanwhile" for design, count in during.items())
    return Found(figure, min(during.values()) > 0)


def _pops_during(queue: Queue, statement: str) -> int:
    """Count the messages that a consumer pops while a statement runs. Fail if it waits five seconds for a lock."""
    over, popped = threading.Event(), list[str]()

    def pop() -> None:
        with connected(queue.url) as session:
            session.execute("SET lock_timeout = '5s'")
            while not over.is_set() and (message := queue.pop(session)) is not None:
                popped.append(message)

    thread = threading.Thread(target=pop)
    thread.start()
    wait_until(lambda: len(popped) > 3, what="pops")
    before = len(popped)
    query(queue.url, statement)
    count = len(popped) - before
    over.set()
    thread.join()
    return count


def delete_or_update(scene: Scene) -> Found:
    """Count pages and updates of pushes and pops, for a pop that deletes and one that sets a flag."""
    deletes, updates = (scene.cycles(scene.queue(design), 300).pages / 300 for design in ("fifo", "flag"))
    return Found(f"{deletes:.1f} pages a cycle deleting (fifo), {updates:.1f} updating (flag)", deletes < updates)


def archived(scene: Scene) -> Found:
    """Processed messages are archived in batches of 500 while one consumer has a message and others pop."""
    queue = scene.queue("batch_fast")
    queue.fill(2_010)
    with scene.sessions(1) as (holder,), scene.sessions(2, autocommit=True) as (consumer, archiver):
        consumer.execute(
            f"SELECT count({queue.routine('complete')}(p.id, p.attempt)) FROM {queue.routine('pop_batch')}(2000) AS p"
        ).fetchall()
        queue.pop(holder)
        moved = list[int]()
        archiver.execute("SET lock_timeout = '300ms'")
        while moved[-1:] != [0]:
            moved.append(int(archiver.execute(f"SELECT {queue.routine('archive')}(500)").fetchval()))
            assert queue.pop(consumer) is not None
    left = scene.number(f"SELECT count(*) FROM {queue.table}")
    figure = f"{sum(moved):,} moved in {len(moved) - 1} batches, a pop after each, nobody waited; {left:.0f} rows left"
    return Found(figure, moved == [500, 500, 500, 500, 0] and left == 10)


def bigger_batches(scene: Scene) -> Found:
    """Return pages per message by batch size."""
    ten, hundred = (known(_dequeue(scene, "batch_fast", batch).first.total) / batch for batch in (10, 100))
    return Found(f"{ten:.1f} pages a message in batches of 10, {hundred:.1f} of 100", hundred > 0.9 * ten)


def earlier_first(scene: Scene) -> Found:
    """A message that is pushed later with an earlier date is popped first."""
    queue = scene.queue("batch_fast")
    with scene.sessions(1, autocommit=True) as (session,):
        queue.push(session, "ordinary")
        queue.push(session, "urgent", more=", NULL, clock_timestamp() - interval '1 hour'")
        popped = queue.drained(session)
    return Found(f"popped {', '.join(popped)}", popped == ["urgent", "ordinary"])


def slower_by_and_by(scene: Scene) -> Found:
    """Count pages of a pop at first, after 20,000 pops next to an open transaction, and after vacuum."""
    queue = scene.queue("batch_fast")
    queue.fill(20_300)
    first = scene.pops(queue, 100)
    with scene.sessions(1) as (holder,):
        holder.execute("SELECT txid_current()")
        query(scene.url, f"SELECT count(*) FROM {queue.routine('pop_batch')}(20000)")
        worn = scene.pops(queue, 100)
    query(scene.url, f"VACUUM {queue.table}")
    tidy = scene.pops(queue, 100)
    figure = (
        f"{first:.0f} pages a pop, {worn:.0f} after 20,000 pops beside an open transaction, {tidy:.0f} after VACUUM"
    )
    return Found(figure, worn > 2 * first and tidy < worn / 2)


def rates(scene: Scene) -> Found:
    """Measure cycles per second under the same load."""
    found = scene.bench(BENCHED, SECONDS)
    single, split, fast = (found[design] for design in ("batch_single", "batch_split", "batch_fast"))
    return Found(
        f"split {split / single:.2f}, one UPDATE {fast / single:.2f} times the cycles of single", fast > single
    )


NAME: Final = "Al Zabir"
_BENCH: Final = "qmon design bench --designs batch_single,batch_split,batch_fast"
CLAIMS: Final = (
    Claim(
        NAME,
        "Several receivers that read without locks get the same item",
        "SELECT in two sessions, UPDATE in both",
        HOLDS,
        common.race,
    ),
    Claim(
        NAME,
        "SELECT with UPDLOCK (FOR UPDATE), then UPDATE: nobody gets it twice, and the others wait",
        "batch_single_pop() in two transactions, lock_timeout 300 ms",
        HOLDS,
        locking_select,
    ),
    Claim(
        NAME,
        "A state column cannot be indexed usefully: each dequeue scans the processed rows",
        "20 × pop before and after 20,000 processed rows",
        "holds otherwise: by the published index (18 skips most of it); a partial index has the ready rows alone",
        processed_rows,
    ),
    Claim(
        NAME,
        "Read and write in one table make deadlocks and waits",
        "SELECT … FOR UPDATE in opposite orders",
        HOLDS,
        common.deadlock,
    ),
    Claim(
        NAME,
        "In one table a dequeue reads each payload three times, apart from it once",
        _BENCH,
        "does not hold here, because payloads lie in TOAST, read once for the messages that a pop returns",
        payload_reads,
    ),
    Claim(
        NAME,
        "Meta apart from payload: 9 % fewer reads a batch",
        _BENCH,
        "does not hold here, because a second row a message is one more to find and write",
        split_reads,
        or_else="holds",
    ),
    Claim(
        NAME,
        "One UPDATE that returns rows reads at least three times less",
        _BENCH,
        "holds otherwise: fewer, not a third, and by the single statement: larger batches of the other read as much",
        one_update,
    ),
    Claim(NAME, "The split table has almost no page splits", "none", SQL_SERVER_ONLY),
    Claim(
        NAME,
        "The faster queues do more transactions a second",
        f"qmon design bench --producers 4 --consumers 4 --for {SECONDS:g}",
        HOLDS,
        rates,
        or_else="not seen on this machine: one commit a message, so that the log sets the pace",
    ),
    Claim(
        NAME,
        "Fewer lock timeouts",
        "10 × batch_split_pop(), batch_fast_pop() beside a holder, lock_timeout 50 ms",
        HOLDS,
        lock_timeouts,
    ),
    Claim(
        NAME,
        "Indexes of the small table can be rebuilt online, those beside payloads cannot be",
        "REINDEX TABLE CONCURRENTLY while a consumer pops",
        "holds otherwise: those beside payloads can be, too",
        rebuilt_online,
    ),
    Claim(
        NAME,
        "DELETE in the dequeue costs more than UPDATE of the state",
        "300 × fifo, flag push and pop",
        "does not hold here, because an UPDATE writes a new row and its index entries, a DELETE neither",
        delete_or_update,
    ),
    Claim(
        NAME,
        "Rows deleted by the dequeue are lost when the process fails; with a state they can be had again",
        "fifo_pop(), status_pop(), session closed, status_requeue(0)",
        HOLDS,
        common.kept_while_at_work,
    ),
    Claim(
        NAME,
        "What is not processed in time goes to the front of the queue",
        "push A, B, C; pop; requeue(0); pop",
        HOLDS,
        common.front,
    ),
    Claim(
        NAME,
        "Archive all the time in small batches, without holding up the queue",
        "batch_fast_archive(500) beside an open pop, lock_timeout 300 ms",
        HOLDS,
        archived,
    ),
    Claim(
        NAME,
        "Larger batches read less a message",
        _BENCH,
        "does not hold here, because each row and index entry is found and written by itself; they save commits",
        bigger_batches,
    ),
    Claim(
        NAME,
        "The date orders the queue, so that what is urgent goes first",
        "batch_fast_push(…, date); batch_fast_pop()",
        HOLDS,
        earlier_first,
    ),
    Claim(
        NAME,
        "A queue gets slower from day to day until its indexes are rebuilt",
        "pages of 100 pops at first, after 20,000 pops, after VACUUM",
        "holds otherwise: dead rows make it slow while a transaction keeps them; VACUUM is enough",
        slower_by_and_by,
    ),
)
