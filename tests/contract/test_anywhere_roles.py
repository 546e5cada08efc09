"""Rights on every engine: separate logins in the roles that ``qmon setup`` makes."""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import pytest

from qmon.cli.commands.setup import SetupText
from qmon.errors import BadInput, PermissionMissing, QueryFailed
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OperationState, OwnerState, Side
from qmon.monitor.probe_checks import check_rights, run_checkup
from qmon.operate.actions.archiver import ARCHIVE_SESSION, Archiver, ArchiveText, check_can_archive
from qmon.operate.actions.requeue_sessions import RequeueSessionsText
from qmon.operate.operator import Operator
from qmon.operate.run.pacing import archive_pace
from qmon.operate.run.running_operation import PreparedAction
from tests.cli.calling import call
from tests.contract.anywhere import Place, execute, rolled_back, rows
from tests.contract.anywhere_acting import draw, every_row, finished, planned
from tests.contract.anywhere_server import Login, Server
from tests.contract.anywhere_sql import KEPT_OUT, MISUSED, SECRETS, WORKERS
from tests.contract.operating import YES, applied
from tests.contract.watching import watching
from tests.wordings import has, pattern

pytestmark = pytest.mark.once

ANYBODY: Final = Choice(owner_states=frozenset(OwnerState))
DESIGNS: Final = ("status", "batch_fast", "fifo", "ring")
# Statements that would change an ended operation. The server reports that they changed no row.
FINISHED: Final = {
    "postgres": (
        "SELECT qmon.operation_count('{0}', 1, 0, 0, 0, 0)",
        "SELECT qmon.operation_end('{0}', 'failed', '[]')",
        "SELECT qmon.operation_undone('{0}', 1)",
        "SELECT qmon.operation_emptied('{0}', 1)",
    ),
    "sqlserver": (
        "EXEC qmon.operation_count @id = '{0}', @done = 1, @skipped = 0, @changed = 0, @refused = 0, @busy_s = 0",
        "EXEC qmon.operation_end @id = '{0}', @state = 'failed', @notes = N'[]'",
        "EXEC qmon.operation_undone @id = '{0}', @done = 1",
        "EXEC qmon.operation_emptied @id = '{0}', @done = 1",
    ),
}


@dataclass(frozen=True, slots=True)
class Shop:
    """Queues with work for every action, created before there were roles."""

    place: Place
    layouts: dict[str, Layout]
    # An operation before there were roles.
    purged: str


@pytest.fixture
def shop(anywhere: Server, place: Place, tmp_path: Path) -> Iterator[Shop]:
    layouts = {design: place.made(design, ring_size=16) for design in DESIGNS}
    layouts["status"] = replace(layouts["status"], timeout_s=0.0)
    with place.opened() as connection:
        for design in DESIGNS:
            place.push(connection, layouts[design], 6)
        assert place.pop(connection, layouts["status"]) is not None
        taken = place.pop(connection, layouts["batch_fast"])
        assert taken is not None
        rows(connection, place.called(layouts["batch_fast"], "complete", str(taken[0]), str(taken[2])))
    ring = layouts["ring"].ring
    assert ring is not None
    draw(place, ring.pop_sequence, 1)
    place.run(*SECRETS, "INSERT INTO secrets (word) VALUES ('tell nobody')")
    owner = Operator(place.context(tmp_path))
    purged = applied(owner.purge(layouts["batch_fast"], Choice(ids=("5", "6"))))
    applied(owner.pause(layouts["fifo"], Side.PRODUCERS, for_s=600))
    with anywhere.roles(place):
        yield Shop(place, layouts, purged.operation)


def set_up(place: Place, role: str) -> list[str]:
    """Run ``qmon setup`` and the statements it prints, which give the role to a login."""
    told = call("setup", place.url, "--role", role)
    assert told.exit_code == 0, told.output
    assert not has(told.output, SetupText.REFUSED)
    again = call("setup", place.url, "--role", role)
    assert again.exit_code == 0, again.output
    printed = call("setup", place.url, "--role", role, "--print")
    assert printed.exit_code == 0, printed.output
    return re.findall(r"(?:ALTER (?:SERVER )?ROLE|GRANT) qmon_\w+ .*", told.stderr)


@contextlib.contextmanager
def member(anywhere: Server, place: Place, role: str) -> Iterator[Login]:
    """Yield a new login that has only this role."""
    giving = set_up(place, role)
    assert giving
    with anywhere.login(place) as found:
        name = place.engine.quote((found.name,))
        for text in giving:
            place.run(re.sub(r"\[user\]|\[login\]|their_role", name, text))
        yield found


@contextlib.contextmanager
def worker(anywhere: Server, place: Place) -> Iterator[Login]:
    """Yield an application's login: it may push and pop, and nothing else."""
    with anywhere.login(place) as found:
        place.run(*(text.format(found.name) for text in WORKERS[place.engine.name]))
        yield found


def refused(place: Place, text: str) -> str:
    """Return the server's error for a statement that it refuses."""
    with pytest.raises(QueryFailed) as problem, place.opened() as connection:
        execute(connection, text)
    return str(problem.value)


def test_an_operator_by_the_role_that_setup_makes_may_do_everything_and_nothing_else(
    anywhere: Server, shop: Shop, tmp_path: Path
) -> None:
    place, layouts = shop.place, shop.layouts
    with member(anywhere, place, "operator") as anna, worker(anywhere, place) as mailer:
        operator = Operator(anna.place.context(tmp_path))
        assert shop.purged in [each.id for each in operator.read_operations()]
        # Rows return with their own ids, to tables that the operator may not alter.
        assert finished(applied(operator.undo(shop.purged))) == 2
        for design in ("status", "batch_fast"):
            before = every_row(place, layouts[design])
            gone = applied(operator.purge(layouts[design], Choice(ids=("3", "4"))))
            assert finished(gone) == 2, design
            assert finished(applied(operator.undo(gone.operation, Choice(ids=("4",))))) == 1, design
            assert finished(applied(operator.undo(gone.operation))) == 1, design
            assert every_row(place, layouts[design]) == before, design
        again = applied(operator.requeue(layouts["status"], ANYBODY))
        assert finished(again) == 1
        assert finished(applied(operator.undo(again.operation))) == 1
        applied(operator.purge(layouts["status"], Choice(ids=("6",))))
        assert finished(applied(operator.empty_trash(None, 0.0))) == 1
        assert finished(applied(operator.resume(layouts["fifo"], Side.PRODUCERS))) == 1
        for side in Side:
            done = operator.pause(layouts["status"], side, for_s=600).apply(YES, lambda now: None, lambda: True)
            assert finished(done) == 1
            assert finished(applied(operator.resume(layouts["status"], side))) == 1
        assert finished(applied(planned(anna.place, tmp_path, layouts["ring"], 1))) == 1
        assert archived(anna.place, layouts["batch_fast"]) == 1
        with mailer.place.opened(application="mailer") as consumer, rolled_back(consumer):
            assert place.pop(consumer, layouts["fifo"]) is not None
            prepared = operator.requeue(layouts["fifo"], Choice(older_than_s=0.0))
            session = RequeueSessionsText.SESSION.render(session=consumer.session_id)
            assert session in prepared.plan.predicate, prepared.plan
            assert finished(applied(prepared)) == 1
        with mailer.place.opened(application="mailer") as consumer, rolled_back(consumer):
            assert place.pop(consumer, layouts["fifo"]) is not None
            assert finished(applied(operator.end_session(consumer.session_id, None))) == 1
        assert {each.state for each in operator.read_operations()} == {OperationState.DONE}
        for text in KEPT_OUT[place.engine.name]:
            refused(anna.place, text)
        written = place.ask("SELECT id, done, state, undone, emptied, login FROM qmon.operations ORDER BY id")
        with anna.place.opened() as connection:
            for text in FINISHED[place.engine.name]:
                assert rows(connection, text.format(shop.purged)) == ((0,),), text
        assert place.ask("SELECT id, done, state, undone, emptied, login FROM qmon.operations ORDER BY id") == written
        if place.sqlserver:
            misused(place, anna.place)
        assert place.ask("SELECT word FROM secrets") == (("tell nobody",),)
        assert place.count(layouts["status"].table) == 5


def archived(place: Place, layout: Layout) -> int:
    """Return how many messages this login has archived."""
    with place.opened() as connection:
        check_can_archive(connection, place.engine, layout)
    archiver = Archiver(
        lambda: place.engine.connect(place.target, ARCHIVE_SESSION),
        place.engine,
        layout,
        archive_pace(10, 0.0),
        threading.Event(),
    )
    return archiver.run(until_empty=True).moved


def misused(owner: Place, operator: Place) -> None:
    """The procedures that run as their owner refuse an operator anything he may not do himself."""
    ((trash,),) = owner.ask("SELECT MAX(object_id) FROM sys.tables WHERE schema_id = SCHEMA_ID(N'qmon_store')")
    table, status = (owner.ask(f"SELECT OBJECT_ID(N'dbo.{name}')")[0][0] for name in ("secrets", "status"))
    before = owner.ask("SELECT COUNT(*) FROM sys.tables")
    for text in MISUSED:
        assert ": no table" in refused(operator, text.format(table=table, status=status, trash=trash))
    assert owner.ask("SELECT COUNT(*) FROM sys.tables") == before


@pytest.mark.heavy
def test_a_watcher_by_the_role_that_setup_makes_sees_everything_and_changes_nothing(
    anywhere: Server, shop: Shop, tmp_path: Path
) -> None:
    place, layouts = shop.place, shop.layouts
    with member(anywhere, place, "monitor") as otto, worker(anywhere, place) as mailer:
        give_what_is_asked_for(anywhere, place, otto)
        before = {design: every_row(place, layout) for design, layout in layouts.items()}
        with (
            mailer.place.opened(application="mailer") as consumer,
            rolled_back(consumer),
            watching(otto.place.url) as watched,
        ):
            assert place.pop(consumer, layouts["fifo"]) is not None
            queue = watched.queue("fifo", lambda q: q.ready.value == 5 and q.in_progress.value == 1)
            assert queue.failures == ()
            assert watched.queue("status", lambda q: q.ready.value == 5 and q.in_progress.value == 1).failures == ()
            watched.queue("ring", lambda q: q.gap.value is not None)
            for name, prepared in everything(Operator(otto.place.context(tmp_path)), shop, consumer.session_id).items():
                assert prepared.plan.refused, name
                with pytest.raises((BadInput, PermissionMissing)):
                    applied(prepared)
            assert rows(consumer, "SELECT 1 AS alive") == ((1,),)
            with otto.place.opened() as connection, pytest.raises(BadInput, match=pattern(ArchiveText.RIGHTS_MISSING)):
                check_can_archive(connection, place.engine, layouts["batch_fast"])
        for text in (*KEPT_OUT[place.engine.name], "DELETE FROM status", "UPDATE status SET status = 1"):
            refused(otto.place, text)
        assert {design: every_row(place, layout) for design, layout in layouts.items()} == before


def give_what_is_asked_for(anywhere: Server, place: Place, somebody: Login) -> None:
    """Run the statements that ``qmon doctor`` prints for missing rights. After that, every probe works.

    The right to end sessions is left out.
    """
    with somebody.place.opened("doctor", watch=True) as connection:
        asked = [right.grant for right in check_rights(connection, place.engine) if not right.held]
        for grant in (grant for grant in asked if not re.search("CONNECTION|signal", grant)):
            if "SERVER" in grant:
                anywhere.run(grant)
            else:
                place.run(grant)
    with somebody.place.opened("doctor", watch=True) as connection:
        checks = run_checkup(connection, place.engine, ()).checks
        assert [each for each in checks if each.problem and not each.expected] == []
        left = [right.grant for right in check_rights(connection, place.engine) if not right.held]
        assert [grant for grant in left if not re.search("CONNECTION|signal", grant)] == []


def everything(operator: Operator, shop: Shop, session: int) -> dict[str, PreparedAction]:
    """Return a plan of every action."""
    layouts = shop.layouts
    jobs = replace(layouts["fifo"], switch=None)
    return {
        "requeue": operator.requeue(layouts["status"], ANYBODY),
        "requeue by ending sessions": operator.requeue(layouts["fifo"], Choice(older_than_s=0.0)),
        "purge": operator.purge(layouts["status"], Choice(state="ready")),
        "undo": operator.undo(shop.purged),
        "empty trash": operator.empty_trash(None, 0.0),
        "pause producers": operator.pause(layouts["status"], Side.PRODUCERS),
        "pause consumers": operator.pause(layouts["status"], Side.CONSUMERS),
        "resume": operator.resume(layouts["fifo"], Side.PRODUCERS),
        "install a gate": operator.install_gate(jobs),
        "remove a gate": operator.remove_gate(jobs),
        "repair": operator.repair(layouts["ring"]),
        "end a blocker": operator.end_session(session, None),
    }


@pytest.mark.heavy
def test_a_watcher_who_loses_sight_of_a_table_is_told_so_until_it_is_given_back(anywhere: Server, shop: Shop) -> None:
    place = shop.place
    with member(anywhere, place, "monitor") as otto:
        give_what_is_asked_for(anywhere, place, otto)
        with watching(otto.place.url) as watched:
            watched.queue("status", lambda q: q.ready.value == 5)
            place.run(f"REVOKE SELECT ON {place.schema}.status FROM qmon_monitor")
            lost = watched.queue("status", lambda q: q.verdict.code == "cannot see")
            assert lost.ready.old
            place.run(f"GRANT SELECT ON {place.schema}.status TO qmon_monitor")
            watched.queue("status", lambda q: q.ready.value == 5 and not q.ready.old and not q.failures)


@pytest.mark.heavy
def test_what_is_printed_for_the_dba_is_all_that_is_needed(anywhere: Server, shop: Shop, tmp_path: Path) -> None:
    place = shop.place
    printed = call("setup", place.url, "--role", "operator", "--print")
    assert printed.exit_code == 0
    with place.opened() as connection:
        for batch in re.split(r"^GO\n", printed.stdout, flags=re.MULTILINE) if place.sqlserver else [printed.stdout]:
            if batch.strip():
                execute(connection, batch)
    with anywhere.login(place) as anna:
        name = place.engine.quote((anna.name,))
        for text in re.findall(r"(?:ALTER (?:SERVER )?ROLE|GRANT) qmon_\w+ .*", printed.stderr):
            place.run(re.sub(r"\[user\]|\[login\]|their_role", name, text))
        gone = applied(Operator(anna.place.context(tmp_path)).purge(shop.layouts["status"], Choice(ids=("3",))))
        assert finished(gone) == 1
