"""What qmon promises, on every engine there is: install, push and pop, probes, verdicts, actions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon.engines import queries
from qmon.errors import QueryFailed
from qmon.model.layout import Layout
from qmon.model.operations import Choice, OwnerState, Side, State
from qmon.monitor.checkup import checkup
from qmon.monitor.rights import rights
from qmon.operate.install import install, registered, uninstall
from qmon.operate.operator import Operator
from tests.contract.anywhere import SERVER, VARIABLE, Place, sqlserver_database
from tests.contract.operating import applied
from tests.contract.watching import watching

ANY_OWNER = frozenset({OwnerState.DEAD, OwnerState.ALIVE, OwnerState.UNKNOWN})
COMPLETING = ("status", "batch_fast", "batch_single", "batch_split")


@pytest.fixture(params=["postgres", "sqlserver"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A fresh database on each engine."""
    if request.param == "postgres":
        yield Place(request.getfixturevalue("database"), "public")
    elif not SERVER:
        pytest.skip(f"no SQL Server at hand: {VARIABLE} names one, such as mssql://sa:password@localhost/?trust=yes")
    else:
        with sqlserver_database() as found:
            yield found


def made(place: Place, design: str, *, timeout_s: float = 300.0) -> Layout:
    with place.opened() as connection:
        return install(
            connection, place.engine, design, schema=place.schema, queue=design, ring_size=64, timeout_s=timeout_s
        ).layout


def test_every_design_is_installed_pushed_to_popped_from_and_taken_away(place: Place) -> None:
    with place.opened() as connection:
        for design in queries.designs(place.engine.name):
            layout = made(place, design)
            place.push(connection, layout, 3)
            popped = [place.pop(connection, layout) for _ in range(4)]
            assert [row is not None for row in popped] == [True, True, True, False], design
            uninstall(connection, place.engine, design)
        assert registered(connection, place.engine) == {}


def test_every_probe_of_every_design_works(place: Place) -> None:
    designs = queries.designs(place.engine.name)
    with place.opened() as connection:
        for design in designs:
            place.push(connection, made(place, design), 2)
    with place.opened("doctor", watch=True) as connection:
        checks = checkup(connection, place.engine, ())
        assert [check for check in checks if check.problem and not check.expected] == []
        assert {check.queue for check in checks if check.queue} == set(designs)
        assert all(right.held for right in rights(connection, place.engine))


@pytest.mark.parametrize("design", COMPLETING)
def test_depth_and_what_is_in_progress_are_those_of_the_table(place: Place, design: str) -> None:
    layout = made(place, design)
    with place.opened() as connection, watching(place.url) as watched:
        place.push(connection, layout, 5)
        place.pop(connection, layout)
        place.pop(connection, layout)
        queue = watched.queue(design, lambda q: q.ready.value == 3 and q.in_progress.value == 2)
        assert queue.stuck.value == 0
        assert queue.oldest.value is not None
        assert watched.view().failures == ()


def test_what_a_popper_holds_in_its_transaction_is_in_progress(place: Place) -> None:
    layout = made(place, "fifo")
    with place.opened() as connection, place.opened("popper") as popper, watching(place.url) as watched:
        place.push(connection, layout, 5)
        watched.queue("fifo", lambda q: q.ready.value == 5 and q.in_progress.value == 0)
        with popper.transaction():
            place.pop(popper, layout)
            watched.queue("fifo", lambda q: q.ready.value == 4 and q.in_progress.value == 1)
        queue = watched.queue("fifo", lambda q: q.ready.value == 4 and q.in_progress.value == 0)
        assert queue.stuck.value == 0


def test_a_ring_shows_its_positions(place: Place) -> None:
    layout = made(place, "ring")
    with place.opened() as connection, watching(place.url) as watched:
        place.push(connection, layout, 5)
        place.pop(connection, layout)
        queue = watched.queue("ring", lambda q: q.ready.value == 4)
        assert queue.gap.value == 4
        assert queue.fill.value == pytest.approx(4 / 64)


def test_stuck_messages_are_counted_requeued_purged_and_put_back(place: Place, tmp_path: Path) -> None:
    layout = made(place, "status", timeout_s=0.5)
    operator = Operator(place.desk(tmp_path))
    with place.opened() as connection, watching(place.url) as watched:
        place.push(connection, layout, 4)
        place.pop(connection, layout)
        place.pop(connection, layout)
        queue = watched.queue("status", lambda q: (q.stuck.value or 0) == 2)
        assert queue.in_progress.value == 2
        again = applied(operator.requeue(layout, Choice(owner_states=ANY_OWNER)))
        assert (again.state, again.done) == (State.DONE, 2)
        taken = applied(operator.undo(again.operation))
        assert (taken.state, taken.done) == (State.DONE, 2)
        again = applied(operator.requeue(layout, Choice(owner_states=ANY_OWNER)))
        assert (again.state, again.done) == (State.DONE, 2)
        watched.poller.poll_now(changed="status")
        watched.queue("status", lambda q: q.ready.value == 4 and q.stuck.value == 0, timeout=60)
        gone = applied(operator.purge(layout, Choice(state="ready")))
        assert (gone.state, gone.done) == (State.DONE, 4)
        watched.queue("status", lambda q: q.ready.value == 0, timeout=60)
        back = applied(operator.undo(gone.operation))
        assert (back.state, back.done) == (State.DONE, 4)
        watched.poller.poll_now(changed="status")  # as the dashboard does
        watched.queue("status", lambda q: q.ready.value == 4, timeout=60)


def test_paused_pushers_are_told_and_refused_until_they_may_go_on(place: Place, tmp_path: Path) -> None:
    layout = made(place, "naive")
    operator = Operator(place.desk(tmp_path))
    with place.opened() as connection, watching(place.url) as watched:
        place.push(connection, layout, 1)
        applied(operator.pause(layout, Side.PUSHERS, for_s=600))
        with pytest.raises(QueryFailed, match="paused"):
            place.push(connection, layout, 1)
        assert [pause.queue for pause in operator.pauses()] == ["naive"]
        watched.queue("naive", lambda q: any(verdict.code == "paused" for verdict in q.verdicts))
        applied(operator.resume(layout, Side.PUSHERS))
        place.push(connection, layout, 1)
        applied(operator.pause(layout, Side.POPPERS, for_s=600))
        with pytest.raises(QueryFailed, match="paused"):
            place.pop(connection, layout)
        applied(operator.resume(layout, Side.POPPERS))
        assert place.pop(connection, layout) is not None
        assert operator.pauses() == ()
