"""The load on a real server: it drives every design, counts correctly, fails on purpose, and ends all sessions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.errors import BadInput, ConnectionFailed
from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout_io import layout_to_json
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import PlannedFault, QueueLoad
from qmon.workload.run_load import LoadProgress, RunLoadText, run_load
from tests.facts import query, wait_until
from tests.queues import BYTES, DESIGNS, made, target_of
from tests.wordings import pattern

ROOT = Path(__file__).parents[2]
COMPLETING = ("batch_fast", "batch_single", "batch_split", "status")
HOSTILE: Final = ("heap", "lifo", "ring_pointer", "ring_subscribers", "batch_split")


def load_of(url: str, *loads: QueueLoad, faults: tuple[PlannedFault, ...] = ()) -> Load:
    return Load(target_of(url), loads, faults)


def number(url: str, sql: str) -> int:
    return int(str(query(url, sql)[0][0]))


def pushed(load: Load, queue: str = "orders") -> int:
    return load.counts.totals(queue).pushed


def popped(load: Load, queue: str = "orders") -> int:
    return load.counts.totals(queue).popped


def alive(pids: tuple[int, ...]) -> list[int]:
    """Return the processes that still run, without those that only wait for their parent."""
    return [pid for pid in pids if _state(pid) not in ("", "Z")]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""


_SLOTS: Final = "SELECT count(*) FROM {} WHERE message_id IS NOT NULL"
_ROWS: Final = "SELECT count(*) FROM {}"
_STATUS_0: Final = "SELECT count(*) FROM {} WHERE status = 0"
# The number of ready messages, by SQL; a ring with several subscribers returns one number for each.
READY: Final = {
    "naive": _ROWS,
    "heap": _ROWS,
    "fifo": _ROWS,
    "strict_fifo": _ROWS,
    "lifo": _ROWS,
    "pending": _ROWS,
    "status": "SELECT count(*) FROM {} WHERE status = 1",
    "flag": "SELECT count(*) FROM {} WHERE processed = 0",
    "batch_single": _STATUS_0,
    "batch_split": _STATUS_0,
    "batch_fast": _STATUS_0,
    "ring": _SLOTS,
    "ring_classic": _SLOTS,
    "ring_pointer": _SLOTS,
}
UNREAD: Final = "SELECT count(*) FROM {} WHERE unread & {} <> 0"


def ready(url: str, design: str, queue: str = "orders") -> int:
    if design == "ring_subscribers":
        return max(unread(url, queue))
    return number(url, READY[design].format(queue))


def unread(url: str, queue: str) -> tuple[int, ...]:
    return tuple(number(url, UNREAD.format(queue, bit)) for bit in (1, 2))


@pytest.mark.parametrize("batch", [1, 7])
def test_each_design_is_driven_and_the_counts_are_those_of_the_table(database: str, batch: int) -> None:
    layouts = {design: made(database, design, design, ring_size=500) for design in DESIGNS}
    loads = [
        QueueLoad(
            layout,
            producers=2,
            consumers=2,
            rate=80,
            pop_rate=50,
            batch=batch,
            # A classic ring never recovers from a number lost in a rollback.
            rollback_share=0.0 if design == "ring_classic" else 0.2,
            poison_share=0.2,
            fail_share=0.1 if layout.traits.deletes_on_pop or design == "flag" else 0.0,
            keeper=True,
            requeue_after_s=60,
            own_processes=batch == 1,
        )
        for design, layout in layouts.items()
    ]

    def driven(design: str) -> bool:
        totals = load.counts.totals(design)
        pushes = totals.push_rolled_back > 0 or design == "ring_classic"
        pops = totals.pop_rolled_back > 0 or not (layouts[design].traits.deletes_on_pop or design == "flag")
        gone = totals.archived > 0 or layouts[design].routine_for("archive") is None
        back = totals.returned > 0 or not layouts[design].traits.completes
        return totals.popped >= 60 and pushes and pops and gone and back

    with load_of(database, *loads) as load:
        for design in DESIGNS:
            wait_until(lambda design=design: driven(design), what=design)  # type: ignore[misc]
            members = 7 if design == "ring_subscribers" else 5
            wait_until(lambda d=design, m=members: load.connected_members(d) == m, what=design)  # type: ignore[misc]
    counts = load.counts
    for design, layout in layouts.items():
        totals = counts.totals(design)
        assert totals.errors == 0, design
        assert counts.depth_at(design, counts.last_at()) == ready(database, design, design), (design, totals)
        assert load.connected_members(design) == 0
        if layout.traits.completes:
            assert totals.completed + totals.returned + totals.died == totals.popped, design
        if layout.routine_for("archive") is not None:
            done = totals.popped if design == "flag" else totals.completed
            assert number(database, f"SELECT count(*) FROM {design}_archive_log") == totals.archived
            state = "processed = 1" if design == "flag" else "status = 2"
            assert number(database, f"SELECT count(*) FROM {design} WHERE {state}") == done - totals.archived
        if layout.sequence is not None:
            issued = number(database, f"SELECT last_value FROM {layout.sequence.name}")
            assert issued == totals.pushed + totals.push_rolled_back, design
    by = counts.totals("ring_subscribers").popped_by
    left = [counts.totals("ring_subscribers").pushed - each for each in by]
    assert tuple(left) == unread(database, "ring_subscribers")
    assert min(by) > 0
    assert alive(load.pids) == []


def test_every_subscriber_goes_on_where_the_last_load_has_left_it(database: str) -> None:
    layout = made(database, "ring_subscribers", ring_size=500)
    query(database, "SELECT orders_push('x') FROM generate_series(1, 40)")
    query(database, "SELECT orders_pop(2) FROM generate_series(1, 15)")
    with load_of(database, QueueLoad(layout, producers=0, consumers=2)) as load:
        wait_until(lambda: popped(load) == 40, what="both have read everything")
    assert load.counts.totals("orders").popped_by == (40, 25)
    assert load.counts.depth_at("orders", load.counts.last_at()) == 0
    assert unread(database, "orders") == (0, 0)


def test_several_queues_under_hostile_names_from_few_processes(database: str) -> None:
    names = ["[a]]b].[c d]", '"; drop table x; --', "🐘", "it's {odd} ? :name", "back\\slash"]
    layouts = [made(database, design, name) for design, name in zip(HOSTILE, names, strict=True)]
    load = load_of(database, *(QueueLoad(each, producers=2, consumers=1, rate=100, keeper=True) for each in layouts))
    with load:
        wait_until(lambda: all(popped(load, name) >= 20 for name in names))
        assert len(load.pids) == 2 + 5 + 1
    assert [load.counts.totals(name).errors for name in names] == [0] * 5


def test_counts_survive_kill_9_of_both_sides(database: str) -> None:
    layout = made(database, "fifo")
    load = load_of(database, QueueLoad(layout, producers=2, consumers=2, rate=400))
    with load:
        for goal in (50, 100):
            wait_until(lambda goal=goal: popped(load) >= goal)  # type: ignore[misc]
            for role in ("producer", "consumer"):
                before = load.pids_of("orders", role)
                load.kill_members("orders", role)
                assert alive(before) == []
        wait_until(lambda: load.connected_members("orders") == 4 and popped(load) >= 150, what="all are back")
    totals = load.counts.totals("orders")
    # Messages committed at the moment of a kill may be missing from the counts: one per killed connection.
    assert 0 <= number(database, "SELECT last_value FROM orders_id_seq") - totals.pushed <= 4
    assert abs(ready(database, "fifo") - (totals.pushed - totals.popped)) <= 8


@pytest.mark.parametrize("design", COMPLETING)
def test_consumers_that_crash_leave_rows_in_progress_of_a_dead_owner(database: str, design: str) -> None:
    layout = made(database, design)
    load = load_of(database, QueueLoad(layout, consumers=2, rate=100))
    orphans = """
        SELECT count(*) FROM orders AS q WHERE q.owner IS NOT NULL AND q.completed AND NOT EXISTS (
            SELECT FROM pg_stat_activity AS a WHERE split_part(q.owner, '/', 1) = CAST(a.pid AS text))""".replace(
        "q.completed", "q.status = 2" if design == "status" else "q.status = 1"
    )
    with load:
        wait_until(lambda: popped(load) > 10)
        load.inject_fault(PlannedFault("crash", "orders", for_s=0))
        wait_until(lambda: number(database, orphans) > 0, what="rows in progress whose owner is gone")
        fallen = popped(load)
        wait_until(lambda: popped(load) > fallen + 5, what="the consumers are back")
    with load_of(database, QueueLoad(layout, producers=0, consumers=0, keeper=True, requeue_after_s=0.0)) as keeper:
        wait_until(lambda: keeper.counts.totals("orders").requeued > 0, what="the keeper requeues them")
    assert number(database, orphans) == 0


def test_consumers_that_crash_in_their_transaction_give_their_messages_back(database: str) -> None:
    designs = [design for design in DESIGNS if TRAITS[design].deletes_on_pop or design == "flag"]
    loads = [QueueLoad(made(database, design, design), consumers=1, rate=60, work_s=0.01) for design in designs]
    with load_of(database, *loads) as load:
        for design in designs:
            wait_until(lambda design=design: popped(load, design) > 10, what=design)  # type: ignore[misc]
            before = load.pids_of(design, "consumer")
            load.inject_fault(PlannedFault("crash", design, for_s=0))
            wait_until(lambda pids=before: not alive(pids), what=f"{design} crashes")  # type: ignore[misc]
        for design in designs:
            fallen = popped(load, design)
            wait_until(lambda d=design, n=fallen: popped(load, d) > n, what=f"{design} is back")  # type: ignore[misc]
    for design in designs:
        totals = load.counts.totals(design)
        assert totals.pushed - totals.popped == ready(database, design, design), design


# The first of the five messages that come next, of 30.
HELD: Final = {"strict_fifo": 1, "fifo": 1, "lifo": 26, "pending": 1, "flag": 1, "batch_split": 1}


def test_a_session_that_holds_locks_has_those_messages_that_go_next(database: str) -> None:
    designs = (*HELD, "heap", "ring", "ring_classic", "ring_pointer", "ring_subscribers")
    layouts = {design: made(database, design, design, ring_size=40) for design in designs}
    for design in designs:
        payload = "'x'::bytea" if design in BYTES else "'x'"
        query(database, f"SELECT {design}_push({payload}) FROM generate_series(1, 30)")
    idle = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'load-fault' AND state = 'idle in transaction'"
    )
    with load_of(database, *(QueueLoad(each, producers=0, consumers=0) for each in layouts.values())) as load:
        for design in designs:
            load.inject_fault(PlannedFault("hold", design, for_s=600, amount=5))
        wait_until(lambda: number(database, idle) == len(designs), what="all hold their locks")
        for design, first in HELD.items():
            column = layouts[design].id
            free = {row[0] for row in query(database, f"SELECT {column} FROM {design} FOR UPDATE SKIP LOCKED")}
            assert set(range(1, 31)) - free == set(range(first, first + 5)), design
        assert len(query(database, "SELECT 1 FROM heap FOR UPDATE SKIP LOCKED")) == 25
        for design in designs[len(HELD) + 1 :]:
            slots = query(database, f"SELECT slot FROM {design} FOR UPDATE SKIP LOCKED")
            assert {(slot,) for slot in range(40)} - set(slots) == {(slot,) for slot in range(1, 6)}, design


@pytest.mark.parametrize("design", ["ring", "ring_pointer", "ring_subscribers"])
def test_a_crash_in_a_ring_leaves_an_orphan_and_the_keeper_repairs_it(database: str, design: str) -> None:
    layout = made(database, design, ring_size=50)
    with load_of(database, QueueLoad(layout, consumers=1, rate=100, keeper=True, requeue_after_s=0.2)) as load:
        wait_until(lambda: popped(load) > 5)
        # The consumers stay away: a returning one would take the orphan itself.
        load.inject_fault(PlannedFault("crash", "orders", for_s=600))
        wait_until(lambda: load.counts.totals("orders").repaired > 0, timeout=90, what="an orphan is repaired")
    with load_of(database, QueueLoad(layout, producers=0, consumers=1)):
        wait_until(lambda: ready(database, design) == 0, what="every message is popped")
    assert query(database, "SELECT DISTINCT reference_count FROM orders") == [(0,)]


@pytest.mark.parametrize("design", ["ring", "ring_pointer", "ring_subscribers"])
def test_a_consumer_that_starts_again_after_a_crash_takes_the_orphan(database: str, design: str) -> None:
    layout = made(database, design, ring_size=50)
    with load_of(database, QueueLoad(layout, consumers=1, rate=100)) as load:
        wait_until(lambda: popped(load) > 5)
        before = load.pids_of("orders", "consumer")
        load.inject_fault(PlannedFault("crash", "orders", for_s=0))
        wait_until(lambda: not alive(before), what="the consumer dies")
        load.change_members("orders", "producer", rate=0.0)
        wait_until(lambda: ready(database, design) == 0, timeout=90, what="every message is popped")
    assert query(database, "SELECT DISTINCT reference_count FROM orders") == [(0,)]


def test_faults_come_and_go(database: str) -> None:
    layout = made(database, "status")
    fault = (
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'load-fault' AND state = 'idle in transaction'"
    )
    load = load_of(
        database,
        QueueLoad(layout, producers=1, consumers=1, rate=60),
        faults=(PlannedFault("pin", at_s=0.0, for_s=600), PlannedFault("no_consumers", "orders", at_s=0.0, for_s=5.0)),
    )
    with load:
        wait_until(lambda: number(database, fault + " AND backend_xid IS NOT NULL") == 1, what="the pinned horizon")
        wait_until(lambda: pushed(load) > popped(load) + 50, what="consumers pause")
        load.inject_fault(PlannedFault("hold", "orders", for_s=600, amount=20))
        wait_until(lambda: number(database, fault) == 2, what="locks on the head")
        # While the horizon is pinned, each pop reads past all earlier ones, so the rest must end on any machine.
        load.change_members("orders", "producer", rate=0.0)
        wait_until(lambda: popped(load) + 20 == pushed(load), what="the rest goes on")
        load.inject_fault(PlannedFault("rollbacks", "orders", for_s=600, amount=1.0))
        load.change_members("orders", "producer", rate=60.0)
        rolled = load.counts.totals("orders").push_rolled_back
        wait_until(lambda: load.counts.totals("orders").push_rolled_back > rolled + 5)
        load.inject_fault(PlannedFault("slow", "orders", for_s=600, amount=600.0))
    # The server lists a session for a moment after its client has closed it.
    wait_until(lambda: number(database, fault) == 0, what="the end of the faults' sessions")
    assert load.counts.totals("orders").errors == 0


CONTROLLER = """
import sys
from tests.queues import target_of
from qmon.model.layout.layout_io import layout_from_json
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import QueueLoad
layout = layout_from_json(sys.argv[2])
load = Load(target_of(sys.argv[1]), [QueueLoad(layout, producers=2, consumers=2, rate=50, keeper=True)])
load.start()
print(*load.pids, flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("how", ["kill -9", "Ctrl-C", "terminal closed", "forgets to stop it"])
def test_workers_end_with_their_controller_however_it_ends(database: str, how: str) -> None:
    layout = made(database, "naive")
    command = [sys.executable, "-c", CONTROLLER, database, layout_to_json(layout)]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as controller:
        try:
            assert controller.stdin is not None
            assert controller.stdout is not None
            pids = tuple(int(word) for word in controller.stdout.readline().split())
            assert len(pids) == 3
            wait_until(lambda: number(database, "SELECT last_value FROM orders_seq") > 20)
            assert alive(pids) == list(pids)
            match how:
                case "kill -9":
                    controller.kill()
                case "Ctrl-C":
                    os.killpg(controller.pid, signal.SIGINT)
                case "terminal closed":
                    os.killpg(controller.pid, signal.SIGHUP)
                case _:
                    controller.stdin.close()
            wait_until(lambda: alive(pids) == [], 10, what="the workers end")
        finally:
            controller.kill()
    ours = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'load-%'"
    wait_until(lambda: number(database, ours) == 0, what="their sessions end")


@pytest.mark.server
def test_a_load_survives_a_restart_of_the_server() -> None:
    with EmbeddedServer() as server:
        server.create_database("work")
        url = server.url("work")
        load = load_of(url, QueueLoad(made(url, "fifo"), producers=1, consumers=1, rate=100))
        with load:
            wait_until(lambda: popped(load) > 10)
            server.kill()
            wait_until(lambda: load.counts.totals("orders").errors > 0)
            server.start()
            before = popped(load)
            wait_until(lambda: popped(load) > before + 10, 60, what="it goes on")
        assert number(url, "SELECT count(*) FROM orders") <= pushed(load)


def test_a_load_of_one_queue_tells_how_it_goes(database: str) -> None:
    layout = made(database, "status")
    told: list[LoadProgress] = []
    result = run_load(target_of(database), QueueLoad(layout, rate=200), 1.5, told.append)
    assert told
    assert told[-1].elapsed_s <= 1.5
    assert result.totals.pushed >= told[-1].totals.pushed > 0
    assert result.flow.pushed <= result.totals.pushed
    assert result.depth == ready(database, "status")
    stopped = run_load(target_of(database), QueueLoad(layout, rate=200), 3600, stopped=lambda: True)
    assert stopped.totals.pushed >= 0
    with pytest.raises(BadInput, match=pattern(RunLoadText.SECONDS)):
        run_load(target_of(database), QueueLoad(layout), 0)


def test_a_target_that_cannot_be_reached_starts_nothing(database: str) -> None:
    layout = made(database, "status")
    load = Load(target_of(database.replace("/test_", "/gone_")), [QueueLoad(layout)])
    with pytest.raises((ConnectionFailed, BadInput)):
        load.start()
    assert load.pids == ()
    load.stop()
