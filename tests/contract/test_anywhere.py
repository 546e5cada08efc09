"""What qmon promises, on every engine there is: install, push and pop, probes, verdicts, actions."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from qmon.engines import queries
from qmon.engines.base import Connection
from qmon.errors import ConnectionLost, QueryFailed
from qmon.model.layout import Layout
from qmon.model.operations import Choice, OwnerState, Side, State
from qmon.monitor.checkup import checkup
from qmon.monitor.rights import rights
from qmon.operate.install import install, registered, uninstall
from qmon.operate.operator import Operator
from tests.contract.anywhere import SERVER, VARIABLE, Place, sqlserver_database
from tests.contract.operating import applied
from tests.contract.watching import watching

SESSIONS = 16
MESSAGES = 160
ANY_OWNER = frozenset({OwnerState.DEAD, OwnerState.ALIVE, OwnerState.UNKNOWN})
COMPLETING = ("status", "batch_fast", "batch_single", "batch_split")


@pytest.fixture(params=["postgres", "sqlserver", "sqlserver with row versions"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A fresh database on each engine."""
    if request.param == "postgres":
        yield Place(request.getfixturevalue("database"), "public")
    elif not SERVER:
        pytest.skip(f"no SQL Server at hand: {VARIABLE} names one, such as mssql://sa:password@localhost/?trust=yes")
    else:
        with sqlserver_database(row_versions=request.param != "sqlserver") as found:
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


class _GivenUpError(Exception):
    """A popper rolls back."""


class Crowd:
    """Sessions that pop; of each popper's messages some are rolled back, and some end with its connection."""

    def __init__(self, place: Place, layout: Layout) -> None:
        self.place, self.layout = place, layout
        self.popped: list[object] = []
        self.problems: list[BaseException] = []

    def pop_all(self) -> None:
        """Until the queue looks empty to each."""
        threads = [threading.Thread(target=self._one, args=(number,)) for number in range(SESSIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    def _one(self, number: int) -> None:
        turn, more = number, True
        try:
            while more:
                with contextlib.suppress(ConnectionLost), self.place.opened(f"popper {number}") as connection:
                    while more:
                        turn += 1
                        more = self._pop(connection, turn)
        except BaseException as problem:
            self.problems.append(problem)

    def _pop(self, connection: Connection, turn: int) -> bool:
        """One message, perhaps; whether there was any."""
        taken: Sequence[object] | None = None
        with contextlib.suppress(_GivenUpError):
            with connection.transaction():
                taken = self.place.pop(connection, self.layout)
                if turn % 7 == 0:
                    connection.close()
                elif turn % 3 == 0:
                    raise _GivenUpError
            if taken is not None:
                self.popped.append(taken[0])
        return taken is not None


@pytest.mark.parametrize("design", ["fifo", "status", "flag", "heap"])
def test_sixteen_sessions_that_roll_back_and_are_cut_off_lose_nothing_and_deliver_nothing_twice(
    place: Place, design: str
) -> None:
    layout = made(place, design)
    with place.opened() as connection:
        place.push(connection, layout, MESSAGES)
    crowd = Crowd(place, layout)
    crowd.pop_all()
    assert crowd.problems == []
    with place.opened() as connection:
        while (row := place.pop(connection, layout)) is not None:
            crowd.popped.append(row[0])
    assert len(crowd.popped) == MESSAGES
    if design != "heap":
        assert len(set(crowd.popped)) == MESSAGES
