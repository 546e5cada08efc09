"""Logins with few rights, and databases that hide locks or columns: known and unknown figures there."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Final

import pytest

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.reasons import Reason
from qmon.model.view import QueueView, View
from qmon.monitor.probe_checks import check_rights, run_checkup
from tests.contract.anywhere import Place, execute, rolled_back, rows
from tests.contract.anywhere_server import FORMS, Login, Server
from tests.contract.anywhere_sql import JOBS_WITH_OWNERS, MASK, MAY_SEE_STATE, MAY_SELECT
from tests.contract.watching import watching

# The rights of the second login, by the prefixes of their names in ``qmon doctor``.
HELD: Final = {"postgres": "pg_read_all_stats", "sqlserver": "VIEW DATABASE"}


def layout(place: Place) -> Layout:
    """Return the layout of the table as a configuration would define it."""
    return Layout(
        "jobs",
        "status",
        ObjectName(place.schema, "jobs"),
        id="id",
        state=StateColumn("state", 0, 1, 2),
        started_at="started_at",
        payload="payload",
        timeout_s=60.0,
    )


@contextlib.contextmanager
def reader(anywhere: Server, place: Place, *more: str) -> Iterator[Login]:
    """Yield a login that may read the tables. ``more``: other grants, with ``{0}`` for the login."""
    with anywhere.login(place) as found:
        texts = (*MAY_SELECT[place.engine.name], *more)
        place.run(*(text.format(found.name, place.schema) for text in texts))
        yield found


def held(login: Login) -> set[str]:
    """Return the rights of this login as ``qmon doctor`` shows them."""
    with login.place.opened("doctor", watch=True) as connection:
        return {right.name for right in check_rights(connection, login.place.engine) if right.held}


def of_rows(queue: QueueView) -> tuple[float | None, ...]:
    """Return the figures that come from the table's rows."""
    return queue.ready.value, queue.in_progress.value, queue.stuck.value


def why_no_rates(view: View) -> str:
    """Return all texts about the rates of the only queue."""
    (queue,) = view.queues
    said = [each.text for each in (*view.failures, *queue.failures)]
    return " ".join([queue.push_rate.reason, *said])


@pytest.mark.each_form
def test_a_login_that_may_only_select_sees_rows_and_is_told_what_else_it_takes(anywhere: Server, place: Place) -> None:
    place.run(*JOBS_WITH_OWNERS)
    with reader(anywhere, place) as anna, watching(anna.place.url, [layout(place)]) as watched:
        watched.queue("jobs", lambda q: of_rows(q) == (3, 1, 1))
        last = watched.view(polls=3)
        (queue,) = last.queues
        assert of_rows(queue) == (3, 1, 1)
        assert not any(name.startswith(HELD[place.engine.name]) for name in held(anna))
        if place.sqlserver:  # PostgreSQL shows the counters of tables to all roles
            assert queue.push_rate.value is None, "not 0"
            assert "VIEW DATABASE" in why_no_rates(last)
            assert last.server.waiting is None
        assert last.queues[0].verdict.code in ("stuck in progress", "cannot tell")


@pytest.mark.each_form
def test_a_login_that_also_sees_the_state_of_the_database_has_rates(anywhere: Server, place: Place) -> None:
    place.run(*JOBS_WITH_OWNERS)
    with (
        reader(anywhere, place, *MAY_SEE_STATE[place.engine.name]) as anna,
        watching(anna.place.url, [layout(place)]) as watched,
    ):
        watched.queue("jobs", lambda q: of_rows(q) == (3, 1, 1) and q.push_rate.value is not None)
        assert any(name.startswith(HELD[place.engine.name]) for name in held(anna))
        if place.sqlserver:
            last = watched.view()
            assert last.server.waiting is None, "waits require the right to see the server's state"
            assert any("VIEW SERVER" in each.text for each in last.failures)
        with anna.place.opened("doctor", watch=True) as connection:
            checks = run_checkup(connection, place.engine, [layout(place)]).checks
        counted = {
            each.probe: each.problem for each in checks if each.queue == "jobs" and each.probe.endswith("counters")
        }
        assert counted == {"table_counters" if place.sqlserver else "counters": ""}


def test_figures_of_a_masked_column_are_unknown_and_name_the_right(anywhere: Server, place: Place) -> None:
    if not place.sqlserver or anywhere.version < 13:
        pytest.skip("dynamic data masking is in SQL Server from 2016 on")
    place.run(*JOBS_WITH_OWNERS, MASK)
    with reader(anywhere, place, *MAY_SEE_STATE["sqlserver"]) as anna:
        with watching(anna.place.url, [layout(place)]) as watched:
            queue = watched.queue("jobs", lambda q: q.ready.value == 3 and q.in_progress.value == 1)
            assert queue.stuck.value is None
            assert "started_at is masked" in queue.stuck.reason
            assert "UNMASK" in queue.stuck.reason
        place.run(f"GRANT UNMASK TO [{anna.name}]")
        with watching(anna.place.url, [layout(place)]) as watched:
            watched.queue("jobs", lambda q: of_rows(q) == (3, 1, 1))


@pytest.mark.each_form
def test_rows_that_optimized_locking_hides_make_lower_bounds_and_never_zeros(
    place: Place, request: pytest.FixtureRequest
) -> None:
    if "OPTIMIZED_LOCKING = ON" not in FORMS[request.node.callspec.params["anywhere"]].options:
        pytest.skip("this database has no optimized locking")
    place.run(*JOBS_WITH_OWNERS)
    deleted = Layout("jobs", "fifo", ObjectName(place.schema, "jobs"), id="id", payload="payload")
    with (
        place.opened(application="worker") as consumer,
        watching(place.url, [deleted]) as watched,
        rolled_back(consumer),
    ):
        execute(consumer, "DELETE TOP (1) FROM jobs")
        queue = watched.queue("jobs", lambda q: q.in_progress.at_least)
        assert Reason.ROWS_HIDDEN in queue.in_progress.reason
        assert queue.verdict.code not in ("healthy", "empty")


@pytest.mark.each_form
def test_a_database_has_the_options_of_its_form(place: Place, request: pytest.FixtureRequest) -> None:
    options = FORMS[request.node.callspec.params["anywhere"]].options
    if not place.sqlserver:
        assert options == ()
        return
    ((level, versions),) = place.ask(
        "SELECT compatibility_level, CAST(is_read_committed_snapshot_on AS int) FROM sys.databases"
        " WHERE database_id = DB_ID()"
    )
    assert versions == int("READ_COMMITTED_SNAPSHOT ON" in options)
    assert (level == 100) == ("COMPATIBILITY_LEVEL = 100" in options)
    with place.opened() as connection:
        if "OPTIMIZED_LOCKING = ON" in options:
            on = rows(
                connection, "SELECT CAST(is_optimized_locking_on AS int) FROM sys.databases WHERE name = DB_NAME()"
            )
            assert on == ((1,),)
