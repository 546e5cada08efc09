"""qmon's promises on every engine: install, push and pop, probes, figures."""

from __future__ import annotations

from typing import Final

import pytest

from qmon.engines.base import Connection, Value
from qmon.engines.sql import queries
from qmon.monitor.probe_checks import check_rights, run_checkup
from qmon.operate.install.install_queue import read_installed_layouts, uninstall_queue
from qmon.workload.workload_statements import WorkloadStatements
from tests.contract.anywhere import Place, execute, message, rolled_back, rows
from tests.contract.watching import watching
from tests.facts import wait_until

COMPLETING = ("status", "batch_fast", "batch_single", "batch_split")


@pytest.mark.each_form
def test_every_design_is_installed_pushed_to_popped_from_and_taken_away(place: Place) -> None:
    with place.opened() as connection:
        for design in queries.designs(place.engine.name):
            layout = place.made(design)
            place.push(connection, layout, 3)
            popped = [place.pop(connection, layout) for _ in range(4)]
            assert [row is not None for row in popped] == [True, True, True, False], design
            uninstall_queue(connection, place.engine, design)
        assert read_installed_layouts(connection, place.engine) == {}


@pytest.mark.each_form
def test_every_routine_of_every_design_does_its_work(place: Place, *, whole: bool) -> None:
    with place.opened() as connection:
        for design in queries.designs(place.engine.name) if whole else ("batch_fast", "flag", "ring_classic", "heap"):
            layout = place.made(design)
            use = WorkloadStatements(place.engine, layout, connection.version)
            pushed = pushed_by_every_way(connection, use)
            assert use.count_ready(connection) == pushed, design
            with rolled_back(connection):
                assert connection.fetch(use.hold_statement(2)).rows == ((2,),), design
            if layout.traits.completes:
                completed_by_every_way(connection, use, pushed)
            else:
                popped_by_every_way(place, connection, use, pushed)
            assert use.count_ready(connection) == 0, design
            if use.has_routine("repair"):
                assert use.repair_ring(connection, 0.0) == 0, design
            if layout.routine_for("reset") is not None:
                place.push(connection, layout, 2)
                assert rows(connection, place.called(layout, "reset")) == ((2,),)
                assert place.popped(connection, layout) == ["m0", "m1"]
            if f"{design}_maintain" in routines(place):
                execute(connection, f"EXEC {place.engine.quote((place.schema, f'{design}_maintain'))}")


def routines(place: Place) -> set[str]:
    """Return the procedures that no layout mentions; PostgreSQL needs none of that kind."""
    return {str(row[0]) for row in place.ask("SELECT name FROM sys.procedures")} if place.sqlserver else set()


def pushed_by_every_way(connection: Connection, use: WorkloadStatements) -> int:
    """Push messages one by one and, if the design can, many at once; return their number."""
    for number in range(3):
        assert use.push_message(connection, f"one {number}") is not None
    return 3 + (use.push_batch(connection, ["many 0", "many 1"]) if use.has_routine("push_batch") else 0)


def completed_by_every_way(connection: Connection, use: WorkloadStatements, pushed: int) -> None:
    """For designs that complete messages: pop, complete, fail, requeue and archive."""
    layout, state = use.layout, use.layout.state
    assert state is not None
    (first,) = connection.fetch(use.bind("take")).rows
    done: dict[str, Value] = {"id": str(first[0]), "attempt": int(str(first[2]))}
    assert [use.fetch_value(connection, "complete", done) for _ in range(2)] == [1, 0], layout.design
    (second,) = connection.fetch(use.bind("take")).rows
    failed: dict[str, Value] = {"id": str(second[0]), "attempt": 1, "most": 2}
    assert use.fetch_value(connection, "fail", failed) == state.ready
    (again,) = connection.fetch(use.bind("take")).rows
    assert (again[0], again[2]) == (second[0], 2), layout.design
    assert use.fetch_value(connection, "fail", failed | {"attempt": 2}) == state.dead
    taken = connection.fetch(use.bind("take_batch", {"limit": 10})).rows
    assert len(taken) == pushed - 2
    assert use.complete_batch(connection, [(str(taken[0][0]), 1)]) == 1
    moved = 0

    def requeued() -> bool:  # a pop in this millisecond is not yet older than 0 s
        nonlocal moved
        moved += int(str(use.fetch_value(connection, "requeue", {"timeout": 0.0, "limit": 10, "max_attempts": 9})))
        return moved == len(taken) - 1

    wait_until(requeued)
    taken = connection.fetch(use.bind("take_batch", {"limit": 10})).rows
    assert use.complete_batch(connection, [(str(row[0]), 2) for row in taken]) == moved
    if use.has_routine("archive"):
        assert use.fetch_value(connection, "archive", {"limit": 10}) == pushed - 1, layout.design


def popped_by_every_way(place: Place, connection: Connection, use: WorkloadStatements, pushed: int) -> None:
    """For the other designs: pop one and many, until none is left."""
    layout = use.layout
    several = len(layout.ring.subscribers) if layout.ring is not None else 0
    for subscriber in range(1, 1 + max(1, several)):
        one = use.bind("pop_subscriber", {"subscriber": subscriber}) if several else use.bind("pop")
        found = list(connection.fetch(one).rows)
        if use.has_routine("pop_batch"):
            found += connection.fetch(use.bind("pop_batch", {"limit": 10})).rows
        while more := connection.fetch(one).rows:
            found += more
        wanted = {f"one {number}" for number in range(3)} | {f"many {number}" for number in range(pushed - 3)}
        assert {message(row) for row in found} == wanted, layout.design
        assert len(found) == pushed
    if use.has_routine("archive"):
        assert use.fetch_value(connection, "archive", {"limit": 10}) == pushed


# A storage setting of the queues' tables, by engine, and its values.
ANYWHERE_SETTINGS: Final = {
    "postgres": ("persistence", {"permanent"}),
    "sqlserver": ("lock escalation", {"table", "auto", "disabled"}),
}


@pytest.mark.each_form
def test_every_probe_of_every_design_works(place: Place) -> None:
    designs = queries.designs(place.engine.name)
    with place.opened() as connection:
        for design in designs:
            place.push(connection, place.made(design), 2)
    with place.opened("doctor", watch=True) as connection:
        found = run_checkup(connection, place.engine, ())
        checks = found.checks
        assert [check for check in checks if check.problem and not check.expected] == []
        named = {each.name: each for each in found.settings}
        assert named["version"].value
        of_tables, values = ANYWHERE_SETTINGS[place.engine.name]
        assert named[of_tables].object
        assert named[of_tables].value in values
        assert {check.queue for check in checks if check.queue} == set(designs)
        assert all(right.held for right in check_rights(connection, place.engine))


@pytest.mark.each_form
@pytest.mark.parametrize("design", COMPLETING)
def test_depth_and_what_is_in_progress_are_those_of_the_table(place: Place, design: str) -> None:
    layout = place.made(design)
    with place.opened() as connection, watching(place.url) as watched:
        place.push(connection, layout, 5)
        place.pop(connection, layout)
        place.pop(connection, layout)
        queue = watched.queue(design, lambda q: q.ready.value == 3 and q.in_progress.value == 2)
        assert queue.stuck.value == 0
        assert queue.oldest.value is not None
        assert watched.view().failures == ()


@pytest.mark.each_form
def test_what_a_consumer_holds_in_its_transaction_is_in_progress(place: Place) -> None:
    layout = place.made("fifo")
    with place.opened() as connection, place.opened("consumer") as consumer, watching(place.url) as watched:
        place.push(connection, layout, 5)
        watched.queue("fifo", lambda q: q.ready.value == 5 and q.in_progress.value == 0)
        with consumer.transaction():
            place.pop(consumer, layout)
            watched.queue("fifo", lambda q: q.ready.value == 4 and q.in_progress.value == 1)
        queue = watched.queue("fifo", lambda q: q.ready.value == 4 and q.in_progress.value == 0)
        assert queue.stuck.value == 0


@pytest.mark.each_form
def test_a_ring_shows_its_positions(place: Place) -> None:
    layout = place.made("ring")
    with place.opened() as connection, watching(place.url) as watched:
        place.push(connection, layout, 5)
        place.pop(connection, layout)
        queue = watched.queue("ring", lambda q: q.ready.value == 4)
        assert queue.gap.value == 4
        assert queue.fill.value == pytest.approx(4 / 64)
