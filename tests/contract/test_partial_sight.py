"""A role with few rights, and servers with settings turned off: unreadable values are unknown, never 0."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest

from qmon.cli.commands.status import StatusText
from qmon.engines.base import Connection, Session
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.result_records import to_records
from qmon.errors import PermissionMissing
from qmon.model.layout.layout import ClientPatterns, Layout, ObjectName, StateColumn
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import WriterSample
from qmon.model.snapshot import SESSIONS_PROBE
from qmon.model.status_report import status_object
from qmon.model.view import View
from qmon.model.waits.lock_chains import LockRole
from qmon.monitor.background import scan_counts
from qmon.monitor.catalog.discovery.candidates import CandidateText
from qmon.monitor.one_shot import view_over
from qmon.monitor.poll.withheld_samples import VisibilityText
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.tui.blocking import tree
from qmon.tui.blocking.tree import BlockingText
from qmon.tui.overview import overview_lines
from qmon.tui.spans import Line
from qmon.tui.waits import horizon_panel, waits_panel
from tests.cli.calling import call
from tests.contract.engines import opened, sql
from tests.contract.sessions import open_sessions
from tests.contract.watching import Watched, installed, said_at_once, target_of, watching
from tests.facts import connected, query
from tests.wordings import has


@pytest.fixture
def role(database: str) -> Iterator[str]:
    """A role of this database that may only log in."""
    name = f"few rights {database.rsplit('/', 1)[1].split('?')[0]}"
    query(database, f'CREATE ROLE "{name}" LOGIN')
    try:
        yield name
    finally:
        query(database, f'DROP OWNED BY "{name}"')
        query(database, f'DROP ROLE "{name}"')


def url_of(database: str, role: str) -> str:
    return database.replace("postgres@", f"{quote(role)}@", 1)


def reader(database: str, role: str) -> str:
    """The URL of the role, which may read the tables of applications."""
    query(database, f'GRANT SELECT ON ALL TABLES IN SCHEMA public TO "{role}"')
    return url_of(database, role)


def words(lines: Line | list[Line]) -> str:
    parts = [lines] if lines and isinstance(lines[0][0], str) else lines
    return "\n".join("".join(span[0] for span in line) for line in parts)


def the_reason(view: View) -> str:
    return next((failure.text for failure in view.failures if failure.probe == SESSIONS_PROBE), "")


def test_a_role_that_sees_no_other_session_is_shown_the_lock_chain_and_no_zeros(database: str, role: str) -> None:
    (layout,) = installed(database, "fifo")
    query(database, "SELECT fifo_push('x') FROM generate_series(1, 9)")
    with watching(reader(database, role), [layout]) as watched, open_sessions(database) as s:
        blocker = s.open("blocker", "LOCK TABLE fifo IN ROW EXCLUSIVE MODE", "SELECT pg_current_xact_id()")
        waiter = s.wait("waiter", "LOCK TABLE fifo IN SHARE MODE")
        view = watched.view(lambda v: v.server.blocking is not None and v.server.blocking.waiters == 1, polls=3)
        assert view.server.blocking is not None
        top, below = view.server.blocking.places
        assert (top.key, top.role, below.key) == ((blocker, ""), LockRole.RUNNING, (waiter, ""))
        assert below.session.object == "table public.fifo"
        assert (view.server.waits, view.server.waiting, view.server.horizon) == (None, None, None)
        assert "pg_read_all_stats" in the_reason(view)
        line = words(overview_lines.target_lines(view, 160))
        assert "blocked 1" in line
        assert "waits –" in line
        assert BlockingText.NOT_VISIBLE in words(tree.panel_lines(top, 160, 5))
        assert has(words(horizon_panel.horizon_lines(view, 200, 9)), VisibilityText.OWN_SESSIONS_ONLY)
        assert has(waits_panel.empty_text(view, ""), VisibilityText.OWN_SESSIONS_ONLY)


def test_the_report_of_such_a_role_has_null_and_the_reason(database: str, role: str) -> None:
    (layout,) = installed(database, "fifo")
    report = status_object(view_over(target_of(reader(database, role)), [layout], over_s=1.0))
    assert (report["blocked"], report["waits"], report["horizon"]) == (0, None, None)
    assert report["sessions"] is not None
    assert set(report["unknown"]) == {"waits", "horizon"}
    assert all(has(reason, VisibilityText.OWN_SESSIONS_ONLY) for reason in report["unknown"].values())
    told = call("status", reader(database, role), "--over", "1s").output
    assert 'GRANT pg_read_all_stats TO "few rights' in told


def test_consumers_of_others_are_counted_by_name_and_what_they_do_is_unknown(database: str, role: str) -> None:
    (layout,) = installed(database, "fifo")
    layouts = [replace(layout, consumers=ClientPatterns(application="mailer-*"))]
    with watching(reader(database, role), layouts) as watched, connected(database) as consumer:
        consumer.execute("SET application_name = 'mailer-1'")
        queue = watched.queue("fifo", lambda q: q.consumers.value == 1)
        assert (queue.consumers_waiting.value, queue.producers.value) == (None, None)


def test_waits_and_blocking_are_seen_while_activities_are_not_tracked(database: str) -> None:
    (layout,) = installed(database, "fifo")
    name = database.rsplit("/", 1)[1].split("?")[0]
    query(database, f'ALTER DATABASE "{name}" SET track_activities = off')
    with watching(database, [layout]) as watched, open_sessions(database) as s:
        s.open("blocker", "LOCK TABLE fifo IN ROW EXCLUSIVE MODE", "SELECT pg_current_xact_id()")
        s.wait("waiter", "LOCK TABLE fifo IN SHARE MODE")
        view = watched.view(lambda v: v.server.blocking is not None and v.server.blocking.waiters == 1, polls=3)
        assert any(wait.kind == "Lock" for wait in view.server.waits or ())
        assert has(the_reason(view), VisibilityText.UNTRACKED)
        queue = view.queue("fifo")
        assert queue is not None
        assert (queue.producers.value, queue.consumers.value) == (None, None)
        assert view.server.horizon is None
        assert has(words(horizon_panel.horizon_lines(view, 200, 9)), VisibilityText.UNTRACKED)


def ages_of_writers(connection: Connection) -> dict[int, float | None]:
    asked = StatementCache(Postgres(), connection.version).statement_for_target("writers")
    return {w.session: w.transaction_s for w in to_records(WriterSample, connection.fetch(asked.bound))}


def test_each_writer_says_itself_whether_its_age_is_seen(database: str, role: str) -> None:
    # The right to see sessions may be revoked between two statements of a poll.
    installed(database, "fifo")
    hidden = reader(database, role)
    with open_sessions(database) as s, opened(hidden) as few, opened(database) as every:
        blocker = s.open("blocker", "LOCK TABLE fifo IN ROW EXCLUSIVE MODE", "SELECT pg_current_xact_id()")
        assert ages_of_writers(few) == {blocker: None}
        assert (ages_of_writers(every)[blocker] or -1.0) > 0


@contextlib.contextmanager
def working(database: str, settings: str, *statements: str) -> Iterator[None]:
    """A session with these settings that runs the statements about twelve times a second."""
    done = threading.Event()

    def work() -> None:
        with connected(database) as worker:
            worker.execute(settings)
            while not done.wait(0.08):
                for statement in statements:
                    worker.execute(statement).fetchall()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def codes(watched: Watched) -> set[str]:
    return {verdict.code for view in watched.views for queue in view.queues for verdict in queue.verdicts}


@pytest.mark.parametrize("design", ["fifo", "status"])
@pytest.mark.parametrize("left", [0, 20], ids=["nothing stays ready", "some stay ready"])
def test_rates_are_unknown_while_the_sessions_of_the_workers_count_nothing(
    database: str, monkeypatch: pytest.MonkeyPatch, design: str, left: int
) -> None:
    said_at_once(monkeypatch)
    (layout,) = installed(database, design)
    query(database, f"SELECT {design}_push('x') FROM generate_series(1, {left})")
    work = (f"SELECT {design}_push('x')", f"SELECT {design}_pop()")
    with watching(database, [layout]) as watched, working(database, "SET track_counts = off", *work):
        watched.queue(design, lambda q: Reason.COUNTERS_STAND_STILL in (q.push_rate.reason, q.pop_rate.reason))
        after = len(watched.views)
        until = time.monotonic() + 12
        watched.view(lambda v: time.monotonic() >= until)
        queues = [queue for view in watched.views[after:] if (queue := view.queue(design)) is not None]
        assert all(queue.pop_rate.value is None and queue.push_rate.value is None for queue in queues)
        assert not {"consumers not claiming", "no consumers", "no pops"} & codes(watched)


def test_a_queue_that_nobody_pops_is_still_named_while_its_counters_stand_still(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said_at_once(monkeypatch)
    (layout,) = installed(database, "fifo")
    query(database, "SELECT fifo_push('x') FROM generate_series(1, 9)")
    with watching(database, [layout]) as watched:
        queue = watched.queue("fifo", lambda q: q.verdict.code in ("no pops", "no consumers"))
        assert queue.pop_rate.value == 0


def test_a_table_without_an_index_is_counted_again_although_its_counters_stand_still(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan_counts, "TRUSTED_S", 2.0)
    query(database, "CREATE TABLE jobs (id bigint, status text NOT NULL)")
    query(database, "INSERT INTO jobs SELECT n, 'new' FROM generate_series(1, 2000) AS n")
    query(database, "ANALYZE jobs")
    state = StateColumn("status", "new", "busy", "done")
    layout = Layout("jobs", "status", ObjectName("public", "jobs"), id="id", state=state)
    with watching(database, [layout]) as watched:
        watched.queue("jobs", lambda q: q.ready.value == 2000)
        with connected(database) as worker:
            worker.execute("SET track_counts = off")
            worker.execute("UPDATE jobs SET status = 'done' WHERE id <= 1500")
        watched.queue("jobs", lambda q: q.ready.value == 500)


def test_rates_are_unknown_if_the_server_counts_nothing(database: str) -> None:
    (layout,) = installed(database, "fifo")
    name = database.rsplit("/", 1)[1].split("?")[0]
    query(database, f'ALTER DATABASE "{name}" SET track_counts = off')
    work = ("SELECT fifo_push('x')", "SELECT fifo_pop()")
    with watching(database, [layout]) as watched, working(database, "SELECT 1", *work):
        view = watched.view(lambda v: any(f.probe == "track_counts" for f in v.failures), polls=4)
        queue = view.queue("fifo")
        assert queue is not None
        assert (queue.push_rate.value, queue.pop_rate.value) == (None, None)
        assert has(queue.pop_rate.reason, Reason.COUNTERS_OFF)


NEEDED = {
    "CREATE SCHEMA made": "GRANT CREATE ON DATABASE",
    "CREATE TEMP TABLE made (i int)": "GRANT TEMPORARY ON DATABASE",
    'CREATE TABLE "o\'dd".made (i int)': "GRANT USAGE, CREATE ON SCHEMA",
    'SELECT * FROM "o\'dd"."My jobs"': "GRANT USAGE ON SCHEMA",
    'SELECT j.id FROM public."My jobs" AS j': 'GRANT SELECT ON public."My jobs" TO',
    'INSERT INTO public."My jobs" (body) VALUES (1)': 'GRANT INSERT ON public."My jobs" TO',
    'INSERT INTO public."My jobs" (body) VALUES (1) RETURNING id': 'GRANT SELECT, INSERT ON public."My jobs" TO',
    'UPDATE public."My jobs" SET body = 1 WHERE id = 2': 'GRANT SELECT, UPDATE ON public."My jobs" TO',
    'DELETE FROM ONLY public."My jobs" WHERE id = 2': 'GRANT SELECT, DELETE ON public."My jobs" TO',
    'TRUNCATE public."My jobs"': 'GRANT TRUNCATE ON public."My jobs" TO',
    'SELECT id FROM public."My jobs" FOR UPDATE SKIP LOCKED': 'GRANT SELECT, UPDATE ON public."My jobs" TO',
    "SELECT nextval('public.numbers')": "GRANT USAGE ON SEQUENCE public.numbers TO",
    "SELECT setval('public.numbers', 7)": "GRANT UPDATE ON SEQUENCE public.numbers TO",
    "SELECT last_value FROM public.numbers": "GRANT SELECT ON SEQUENCE public.numbers TO",
    "SELECT public.work()": "GRANT EXECUTE ON FUNCTION public.work",
}


@pytest.mark.parametrize("statement", NEEDED)
def test_the_hint_names_the_right_that_the_statement_needs(database: str, role: str, statement: str) -> None:
    name = database.rsplit("/", 1)[1].split("?")[0]
    query(database, 'CREATE SCHEMA "o\'dd"')
    for schema in ('"o\'dd"', "public"):
        query(database, f'CREATE TABLE {schema}."My jobs" (id int GENERATED ALWAYS AS IDENTITY, body int)')
    query(database, "CREATE SEQUENCE public.numbers")
    query(database, "CREATE FUNCTION public.work() RETURNS int LANGUAGE sql RETURN 1")
    query(database, "REVOKE ALL ON FUNCTION public.work() FROM PUBLIC")
    query(database, f'REVOKE TEMPORARY ON DATABASE "{name}" FROM PUBLIC')
    given = []
    for _ in range(3):
        with opened(url_of(database, role), Session("test")) as connection:
            try:
                connection.execute(sql(statement))
                break
            except PermissionMissing as problem:
                given.append(problem.grant)
        query(database, "SET search_path = public; " + given[-1])
    else:
        pytest.fail(f"still refused after {given}")
    assert given
    assert given[0].startswith(NEEDED[statement]), given
    assert given[0].endswith(f'TO "{role}"')


def test_a_check_of_a_queue_does_not_fail_because_the_registry_is_closed(database: str, role: str) -> None:
    installed(database, "fifo")
    url = reader(database, role)
    query(database, "CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text)")
    query(database, f'GRANT SELECT ON fifo, jobs TO "{role}"')
    told = call("check", url, "--crit", "ready>1000")
    assert (told.exit_code, "CRITICAL" in told.output) == (0, False), told.output


@pytest.mark.parametrize(
    "columns",
    [
        "id bigserial PRIMARY KEY, status text NOT NULL, created_at timestamptz, payload text",
        "id bigserial PRIMARY KEY, enqueued_at timestamptz, payload text",
    ],
    ids=["states", "no states"],
)
def test_a_table_that_may_not_be_read_misses_the_right_and_nothing_else(database: str, role: str, columns: str) -> None:
    query(database, f"CREATE TABLE mail_queue ({columns})")
    reader = url_of(database, role)
    done = call("queues", reader, "--output", "json")
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["queues"]
    assert has(found["missing"], CandidateText.NO_RIGHT, table="public.mail_queue")
    assert found["missing"].endswith(f'GRANT SELECT ON "public"."mail_queue" TO "{role}"')
    assert StatusText.NO_QUEUE_KNOWN in call("status", reader).stderr
    query(database, f'GRANT SELECT ON mail_queue TO "{role}"')
    (found,) = json.loads(call("queues", reader, "--output", "json").stdout)["queues"]
    assert not has(found["missing"], CandidateText.NO_RIGHT)
