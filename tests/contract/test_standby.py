"""A hot standby: ages of rows are correct, counters of the primary are absent, and commands that write are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.engines.postgres.postgres_engine import PostgresText
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.reasons import Reason
from qmon.model.samples.server_state_samples import ServerState
from qmon.model.standby import StandbyText
from qmon.model.verdicts.server_health_verdicts import ServerHealthText
from qmon.model.view import QueueView, View
from qmon.monitor.probes.target_probes import READ_EVERY_S
from qmon.monitor.state.failover_and_plans import FailoverText
from qmon.operate.operator_context import create_context
from tests.cli.calling import call
from tests.contract.replica import Standby, replicated
from tests.contract.watching import installed, target_of, watching
from tests.facts import connected, query
from tests.wordings import has

JOBS = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="id",
    state=StateColumn("status", "ready", "working", "done"),
    started_at="started_at",
    enqueued_at="made_at",
)
LINE = Layout("line", "fifo", ObjectName("public", "line"), id="id")
TABLES = """
    CREATE TABLE jobs (id bigserial PRIMARY KEY, status text NOT NULL DEFAULT 'ready', started_at timestamptz,
                       made_at timestamptz DEFAULT clock_timestamp());
    CREATE INDEX ON jobs (status, id); CREATE INDEX ON jobs (status, started_at);
    CREATE TABLE line (id bigserial PRIMARY KEY, payload text)"""


@dataclass
class Pair:
    primary: str
    standby: str
    servers: tuple[EmbeddedServer, Standby]

    def write(self, sql: str) -> None:
        """Run this on the primary, and wait until it is replayed here."""
        query(self.primary, sql)
        self.servers[1].caught_up("qmon")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with replicated() as (primary, standby):
        made = Pair(primary.url(), standby.url(), (primary, standby))
        installed(made.primary, "ring", ring_size=64)
        query(made.primary, TABLES)
        made.write("SELECT ring_push('x')")
        yield made


def test_rates_come_from_rows_and_what_is_the_primarys_is_unknown(pair: Pair) -> None:
    pair.write("INSERT INTO jobs (status) SELECT 'ready' FROM generate_series(1, 40)")
    with watching(pair.standby, [JOBS, LINE]) as watched:
        watched.queue("jobs", lambda q: q.push_rate.value == 0)
        for _ in range(5):
            pair.write("INSERT INTO jobs (status) SELECT 'ready' FROM generate_series(1, 4)")
            pair.write("UPDATE jobs SET status = 'done' WHERE id IN (SELECT min(id) FROM jobs WHERE status = 'ready')")
            watched.view()
        view = watched.view(lambda v: v.queues[0].ready.value == 55 and v.queues[0].use is not None)
        used = [each.queues[0].use is not None for each in watched.views]
    jobs, line = view.queue("jobs"), view.queue("line")
    assert jobs is not None
    assert line is not None
    assert jobs.push_rate.value
    assert jobs.push_rate.estimated
    assert jobs.pop_rate.value == pytest.approx(jobs.push_rate.value / 4, rel=0.02)
    assert jobs.gap.value == 55, "the sequence itself is 32 ahead in the log"
    assert (jobs.in_progress.value, jobs.stuck.value) == (0, 0)
    assert jobs.complete_rate.value is None
    assert jobs.done.reason == Reason.STANDBY_COUNTERS
    assert jobs.producers.reason == Reason.STANDBY_SESSIONS
    assert jobs.bytes.value
    assert jobs.use is not None
    assert jobs.use.dead is None
    assert all(used[used.index(True) :]), "it stays between the polls that read it"
    assert jobs.verdict.code == "healthy"
    assert (line.in_progress.value, line.in_progress.reason) == (None, Reason.STANDBY_SESSIONS)
    assert line.verdict.code == "cannot tell"
    ring = view.queue("ring")
    if ring is not None:
        assert (ring.ready.value, ring.ready.reason) == (None, Reason.STANDBY_SEQUENCES)


def test_no_pops_is_not_said_of_a_queue_that_drains(pair: Pair) -> None:
    pair.write("INSERT INTO line (payload) SELECT 'x' FROM generate_series(1, 3000)")
    seen: list[QueueView] = []
    with watching(pair.standby, [LINE]) as watched:
        watched.queue("line")
        first = len(watched.views)
        for _ in range(30):
            pair.write("DELETE FROM line WHERE id IN (SELECT id FROM line ORDER BY id LIMIT 20)")
            watched.view()
        seen = [q for v in watched.views[first:] if (q := v.queue("line")) is not None]
    assert {q.verdict.code for q in seen} == {"cannot tell"}
    assert {q.pop_rate.value for q in seen} == {None}
    pair.write("TRUNCATE line")


def test_a_paused_replay_makes_every_figure_old_and_says_so(pair: Pair) -> None:
    pair.write("INSERT INTO jobs (status) VALUES ('ready')")
    with watching(pair.standby, [JOBS]) as watched:
        watched.queue("jobs", lambda q: q.ready.value and not q.ready.old)
        query(pair.standby, "SELECT pg_wal_replay_pause()")
        try:
            query(pair.primary, "INSERT INTO jobs (status) VALUES ('ready')")
            view = watched.view(lambda v: v.server.standby and v.server.standby.paused and v.server.standby.behind_s)
            queue = view.queue("jobs")
            assert queue is not None
            assert queue.ready.old
            assert queue.verdict.code == "cannot tell"
            assert has(queue.verdict.proof, StandbyText.REPLAY_PAUSED)
            answer = call("check", pair.standby, "--timeout", "20")
            assert answer.exit_code == 3, answer
            answer = call("doctor", pair.standby)
            assert has(answer.stdout, StandbyText.REPLAY_PAUSED), (answer.stderr, answer.exception)
        finally:
            query(pair.standby, "SELECT pg_wal_replay_resume()")
        watched.queue("jobs", lambda q: not q.ready.old and not has(q.verdict.proof, StandbyText.REPLAY_PAUSED))


def test_a_figure_is_as_old_as_the_standby_is_behind(pair: Pair) -> None:
    query(pair.standby, "ALTER SYSTEM SET recovery_min_apply_delay = '1h'")
    query(pair.standby, "SELECT pg_reload_conf()")
    try:
        with watching(pair.standby, [JOBS]) as watched:

            def behind(view: View) -> bool:
                if view.server.standby is not None and view.server.standby.behind_s:
                    return view.server.standby.behind_s > 2
                # The startup process may learn the new delay only after it has replayed the previous transaction.
                if view is watched.views[-1]:
                    query(pair.primary, "INSERT INTO jobs (status) VALUES ('ready')")
                return False

            view = watched.view(behind)
            queue = view.queue("jobs")
            assert queue is not None
            assert view.server.standby is not None
            assert queue.ready.age_s == pytest.approx(view.server.standby.behind_s or 0, abs=0.1)
            watched.queue("jobs", lambda q: q.ready.old and q.verdict.code == "cannot tell")
    finally:
        query(pair.standby, "ALTER SYSTEM RESET recovery_min_apply_delay")
        query(pair.standby, "SELECT pg_reload_conf()")
    pair.servers[1].caught_up("qmon")


WRITES = {
    "requeue": ["ring", "--yes"],
    "purge": ["ring", "--yes"],
    "pause": ["ring", "--yes"],
    "resume": ["ring", "--yes"],
    "undo": ["last", "--yes"],
    "repair": ["ring", "--yes"],
    "end-session": ["1", "--yes"],
    "trash empty": ["--yes"],
    "setup": [],
    "setup --gate jobs": ["--yes"],
    "setup --gate jobs --remove": ["--yes"],
    "design install": ["fifo", "--schema", "public"],
    "design uninstall": ["ring", "--yes"],
    "design bench": ["--designs", "fifo", "--for", "1s"],
    "design load": ["ring", "--for", "1s"],
    "design archive": ["ring"],
}


@pytest.mark.parametrize("command", WRITES)
def test_a_command_that_writes_is_refused_in_a_line_before_anything_is_sent(pair: Pair, command: str) -> None:
    words, log = command.split(), pair.servers[1].log
    before = log.stat().st_size
    answer = call(words[0], *words[1:], pair.standby, *WRITES[command])
    assert answer.exit_code == 2, answer
    assert has(answer.stderr, PostgresText.STANDBY)
    assert len(answer.stderr.strip().splitlines()) == 1, answer.stderr
    assert b"ERROR" not in log.read_bytes()[before:]


def test_what_only_reads_is_not_refused(pair: Pair) -> None:
    for command in ("operations", "trash list", "queues", "setup --print", "doctor"):
        answer = call(*command.split(), pair.standby)
        assert answer.exit_code in (0, 1), (command, answer.stderr)
        assert not has(answer.stderr, PostgresText.STANDBY)
    for purpose in ("operations", "pauses", "record"):
        create_context(target_of(pair.standby)).connect(purpose).close()


def test_after_a_promotion_the_figures_come_back_by_themselves() -> None:
    with replicated() as (primary, standby):
        query(primary.url(), TABLES)
        standby.caught_up("qmon")
        with watching(standby.url(), [JOBS, LINE]) as watched:
            watched.queue("line", lambda q: q.in_progress.value is None)
            query(standby.url(), "SELECT pg_promote()")
            watched.queue("line", lambda q: q.push_rate.value == 0 and q.in_progress.value == 0)
            with connected(standby.url()) as session:
                session.execute("INSERT INTO line (payload) SELECT 'x' FROM generate_series(1, 50)")
            line = watched.queue("line", lambda q: q.push_rate.value)
            assert not line.push_rate.estimated
            assert line.push_rate.value == pytest.approx(50 / (line.window_s or 0), rel=0.01)
            assert watched.views[-1].server.standby is None


def test_a_promotion_is_an_event_and_the_copies_are_those_that_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watched standby becomes the primary on a new timeline. The slot of a vanished replica remains."""
    monkeypatch.setitem(READ_EVERY_S, "replication", 0.0)
    with replicated() as (primary, standby):
        query(primary.url(), TABLES)
        standby.caught_up("qmon")
        with watching(primary.url(), [JOBS]) as watched:
            state = state_of(watched.view(lambda v: bool(state_of(v).replicas)))
            (copy,) = state.replicas
            assert (copy.state, copy.healthy, copy.synchronous, copy.connected) == ("streaming", True, False, True)
            assert state.local_server is not None
            assert (state.local_server.role, state.local_server.timeline) == ("primary", 1)
            query(primary.url(), "SELECT pg_create_physical_replication_slot('gone', true)")
            slot = state_of(watched.view(lambda v: len(state_of(v).replicas) > 1)).replicas[0]
            assert (slot.name, slot.connected, slot.unredone) == ("gone", False, None)
            assert slot.unsent is not None
        with watching(standby.url(), [JOBS]) as watched:
            local = state_of(watched.view(lambda v: state_of(v).local_server is not None)).local_server
            assert local is not None
            assert (local.role, local.state, local.timeline) == ("secondary", "receiving", 1)
            query(standby.url(), "SELECT pg_promote()")
            queue = watched.queue("jobs", lambda q: q.verdict.code == "failed over")
            assert has(queue.verdict.proof, ServerHealthText.FAILED_OVER)
            assert has(queue.verdict.proof, FailoverText.PRIMARY)
            local = state_of(watched.view()).local_server
            assert local is not None
            assert (local.role, local.timeline) == ("", 2)


def state_of(view: View) -> ServerState:
    return view.server.state or ServerState()
