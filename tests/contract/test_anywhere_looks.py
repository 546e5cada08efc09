"""Facts that qmon reads only sometimes, or only for some tables, on every engine."""

from __future__ import annotations

import contextlib
import threading
from typing import Any, Final

import pytest

from qmon.engines.base import Connection, Value
from qmon.engines.result_records import to_records
from qmon.errors import QueryFailed
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.reasons import Reason
from qmon.model.view import View
from qmon.monitor.background.table_scan import Scan
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.discovery.candidates import discover_queues
from qmon.monitor.catalog.relation_kind import RelationText
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.monitor.probe_checks import run_checkup
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_statements import ProbeStatement, StatementCache
from qmon.monitor.probes.queue_probes import QueueSpec
from qmon.monitor.source import ReadScope
from qmon.workload.workload_statements import WorkloadStatements
from tests.contract.anywhere import Place, execute, rolled_back
from tests.contract.anywhere_sql import BROKER
from tests.contract.anywhere_tables import ROWS, TABLES, layouts
from tests.contract.watching import watching
from tests.queues import DESIGNS
from tests.wordings import has

pytestmark = pytest.mark.once  # qmon polls in READ UNCOMMITTED, without row versions

READY: Final = {"tasks": 2, "ranked": 3, "staged": 2, "loose": 2, "heaped": 2, "local": 2}


def test_tables_of_every_making_have_the_figures_that_sql_counts(place: Place) -> None:
    place.run(*TABLES, *ROWS)
    with watching(place.url, layouts(place)) as watched:
        view = watched.view(
            lambda v: (
                {q.name: q.ready.value for q in v.queues} == READY
                and all(q.in_progress.value == 1 for q in v.queues if q.name in ("tasks", "loose"))
            ),
            timeout=120,
        )
        assert view.failures == ()
        queues = {queue.name: queue for queue in view.queues}
        assert (queues["tasks"].scheduled.value, queues["tasks"].dead.value) == (1, 1)
        assert queues["tasks"].stuck.value == 1
        assert queues["tasks"].oldest.value == pytest.approx(3600, abs=120)
        if place.engine.name == "postgres":  # such a default has the time zone of whichever session inserted
            assert queues["local"].oldest.value is None
            assert has(queues["local"].oldest.reason, Reason.NO_TIME_ZONE)
        else:
            assert queues["local"].oldest.value == pytest.approx(0, abs=120)
        place.run("DELETE FROM loose", "DELETE FROM heaped")
        watched.poller.poll_now(changed="loose")
        watched.queue("loose", lambda q: q.ready.value == 0)


def test_a_checkup_of_tables_of_every_making_finds_nothing_wrong(place: Place) -> None:
    place.run(*TABLES, *ROWS)
    with place.opened("doctor", watch=True) as connection:
        checks = run_checkup(connection, place.engine, layouts(place)).checks
        assert [check for check in checks if check.problem and not check.expected] == []
        assert any(check.index.startswith("CREATE ") for check in checks if check.queue == "loose")


def test_a_poller_that_watches_every_design_and_lists_its_rows_has_nothing_to_complain_of(place: Place) -> None:
    with place.opened() as connection:
        for design in DESIGNS:
            layout = place.made(design)
            place.push(connection, layout, 3)
            assert place.pop(connection, layout) is not None
    with watching(place.url) as watched:
        watched.view(lambda v: {queue.name for queue in v.queues} == set(DESIGNS))
        for design in sorted(set(DESIGNS) - {"heap"}):  # its rows have no order for lists
            watched.poller.set_focus(ReadScope(rows_of=design))
            listed = watched.queue(design, lambda q: q.messages)
            assert listed.messages is not None
            assert {row.payload for row in listed.messages} <= {"m0", "m1", "m2"}, design
        watched.poller.set_focus(ReadScope(blocking=True))
        last = watched.view(lambda v: v.server.blocking is not None)
    assert last.failures == ()
    assert all(queue.failures == () for queue in last.queues)


def test_tables_that_look_like_queues_are_found_and_other_names_are_refused_as_what_they_are(place: Place) -> None:
    starts = "" if place.sqlserver else "AS bigint "
    place.run(
        *TABLES,
        *ROWS,
        "CREATE TABLE turns (slot int NOT NULL PRIMARY KEY, message_id bigint, reference_count int NOT NULL,"
        " turn bigint NOT NULL, payload {text})",
        "INSERT INTO turns VALUES (0, NULL, 0, 0, NULL), (1, NULL, 0, 1, NULL)",
        f"CREATE SEQUENCE turns_push_seq {starts}START WITH 1",
        f"CREATE SEQUENCE turns_pop_seq {starts}START WITH 1",
        "CREATE TABLE job_queue (id int NOT NULL PRIMARY KEY, status varchar(20) NOT NULL, created_at {time},"
        " payload {text})",
        "CREATE INDEX job_queue_status ON job_queue (status, id)",
        "INSERT INTO job_queue (id, status) VALUES (1, 'ready'), (2, 'done')",
        "CREATE VIEW seen AS SELECT id FROM tasks",
    )
    with place.opened("queues", watch=True) as connection:
        found = {finding.layout.queue: finding.layout for finding in discover_queues(Catalog(connection, place.engine))}
        assert {"tasks", "turns", "job_queue"} <= found.keys()
        ring, states = found["turns"].ring, found["job_queue"].state
        assert ring is not None and ring.size == 2
        assert states is not None and states.ready == "ready"
        (problem,) = resolve_queues(
            connection, place.engine, [Layout("seen", "fifo", ObjectName(place.schema, "seen"), id="id")]
        ).problems
        assert has(problem.reason, RelationText.OF_BASE, tables=f"{place.schema}.tasks")
        assert has(problem.reason, RelationText.NAME_BASE, table=f"{place.schema}.tasks")


def test_a_table_that_is_renamed_is_missed_and_seen_again(place: Place) -> None:
    place.run(*TABLES, *ROWS)
    layout = next(each for each in layouts(place) if each.queue == "ranked")

    def rename(name: str, new: str) -> None:
        place.run(f"EXEC sp_rename N'{name}', N'{new}'" if place.sqlserver else f"ALTER TABLE {name} RENAME TO {new}")

    with watching(place.url, [layout]) as watched:
        watched.queue("ranked", lambda q: q.ready.value == 3)
        rename("ranked", "elsewhere")
        assert watched.queue("ranked", lambda q: q.verdict.code == "cannot see").ready.old
        rename("elsewhere", "ranked")
        watched.queue("ranked", lambda q: q.ready.value == 3 and not q.ready.old)


@pytest.mark.each_form
def test_deadlocks_are_counted(place: Place) -> None:
    place.run(
        "CREATE TABLE pair (id int NOT NULL PRIMARY KEY, n int NOT NULL)", "INSERT INTO pair VALUES (1, 0), (2, 0)"
    )
    both, victims = threading.Barrier(2), list[QueryFailed]()

    def lock(first: int, then: int) -> None:
        with (
            place.opened(application=f"locks {first}") as connection,
            contextlib.suppress(QueryFailed),  # the transaction of the victim cannot be committed
            connection.transaction(),
        ):
            execute(connection, f"UPDATE pair SET n = n + 1 WHERE id = {first}")
            both.wait(120)
            try:
                execute(connection, f"UPDATE pair SET n = n + 1 WHERE id = {then}")
            except QueryFailed as problem:
                victims.append(problem)

    with watching(place.url) as watched:
        watched.view()
        watched.poller.set_focus(ReadScope(closely=True))
        threads = [threading.Thread(target=lock, args=pair, daemon=True) for pair in ((1, 2), (2, 1))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
        assert [problem.sqlstate for problem in victims] == ["40P01" if not place.sqlserver else "40001"]
        watched.view(lambda v: (v.server.deadlocks.value or 0) > 0)
    assert place.ask("SELECT n FROM pair ORDER BY id") == ((1,), (1,))


def test_what_is_read_seldom_is_read(place: Place) -> None:
    layout = place.made("status")
    with place.opened() as connection:
        place.push(connection, layout, 2)
        place.pop(connection, layout)
        with rolled_back(connection):
            assert connection.fetch(WorkloadStatements(place.engine, layout, connection.version).bind("pin")).rows
    with place.opened("poll", watch=True) as connection:
        found = resolve_queues(connection, place.engine, [])
        statements = StatementCache(place.engine, connection.version)
        ids = place.engine.ids_value([found.facts["status"].table_id])
        for each in (place.made("heap"), layout):  # as if rows could not be read range by range
            facts = resolve_queues(connection, place.engine, []).facts[each.queue]
            scan = Scan(statements, QueueSpec(each, facts), ())
            scan.read_next_range(connection, OwnUses(), 16)
            assert (scan.is_done, scan.to_count(60.0).ready) == (True, 1 if each is layout else 0)
        (readable,) = asked(connection, statements.statement_for("readable", {"tables": ids}))
        assert readable.readable
        if place.sqlserver:
            names = {verb: layout.routine_for(verb) for verb in ("push", "push_batch", "pop", "pop_batch")}
            parts = {verb: None if name is None else name.parts for verb, name in names.items()}
            routines = asked(connection, statements.statement_for("routines", names=parts))
            assert {row.verb for row in routines} == {"push", "pop"}
            ids = place.engine.ids_value([row.procedure_id for row in routines])
            reads = asked(connection, statements.statement_for("procedures", {"procedures": ids}))
            assert {row.procedure_id for row in reads} <= {row.procedure_id for row in routines}
            graphs = asked(connection, statements.statement_for("deadlock_graphs", {"chars": 200}))
            assert all(row.session != row.blocker for row in graphs)
            for each in asked(connection, statements.statement_for("deadlock_file")):
                start: dict[str, Value] = {"path": each.path, "file": "", "offset": -1, "chars": 200}
                reports = asked(connection, statements.statement_for("deadlock_reports", start))
                assert all(row.session != row.blocker for row in reports)
                if reports:  # and reports newer than the newest of them
                    last = max(reports, key=lambda row: row.offset)
                    after = start | {"file": last.file, "offset": last.offset}
                    later = asked(connection, statements.statement_for("deadlock_reports", after))
                    assert all(row.offset > last.offset for row in later)


def asked(connection: Connection, job: ProbeStatement) -> list[Any]:
    """Return the result of a single probe."""
    return to_records(job.record, connection.fetch(job.bound))


def test_queues_of_service_broker_are_seen(place: Place) -> None:
    if not place.sqlserver:
        pytest.skip("there is no Service Broker")
    place.run(*BROKER)
    with watching(place.url) as watched:

        def told(view: View) -> bool:
            broker = view.server.broker
            if broker is None or broker.transmission is None or not broker.monitored:
                return False
            depths = {each.name: each.depth.value for each in broker.queues}
            return (depths, broker.transmission.messages) == ({"dbo.heard": 1, "dbo.said": 0}, 1)

        assert watched.view(told).failures == ()
