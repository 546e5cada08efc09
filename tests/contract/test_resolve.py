"""Resolve a target's queues on a real server: three lines are enough, and a queue that fails does not affect others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import pytest

from qmon.engines.base import Bound, Rows, Session, Target
from qmon.engines.sql import queries
from qmon.engines.urls import read_url
from qmon.model.config_reader import KeyText
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName, StateColumn
from qmon.model.layout.layout_io import layout_from_dict
from qmon.model.reasons import Reason
from qmon.monitor.catalog.catalog import Catalog, TableRow
from qmon.monitor.catalog.column_zones import ZoneText
from qmon.monitor.catalog.complete_layout import CompletionText
from qmon.monitor.catalog.queue_registry import QueueRegistryText
from qmon.monitor.catalog.resolve import NO_QUEUES, ResolveText, resolve_queues
from qmon.operate.install.install_queue import available_designs, install_queue
from tests.contract.tables import ARTICLES, ENGINE, JOBS, ORDINARY, make, qmon_connection, resolved
from tests.contract.watching import watching
from tests.facts import connected, query
from tests.wordings import has, pattern


def one(url: str, raw: dict[str, object]) -> Layout:
    found = resolved(url, raw)
    assert not found.problems, found.problems
    (layout,) = found.layouts
    return layout


def installed(url: str, design: str, queue: str, schema: str = "public") -> Layout:
    address = read_url(url, "the URL")
    connection = ENGINE.connect(Target("test", "postgres", address.keywords), Session("install"))
    try:
        return install_queue(connection, ENGINE, design, schema=schema, queue=queue, ring_size=64).layout
    finally:
        connection.close()


def test_three_lines_are_enough_for_a_job_table(database: str) -> None:
    make(database, JOBS)
    layout = one(database, {"name": "jobs", "table": "background_jobs", "design": "status"})
    assert layout.table == ObjectName("public", "background_jobs")
    assert layout.id == "id"
    assert layout.sequence == ObjectName("public", "background_jobs_id_seq")
    assert layout.state == StateColumn("status", "queued", "running", "succeeded", "failed")
    assert (layout.started_at, layout.due_at, layout.payload) == ("locked_at", "run_at", "args")
    assert layout.source is LayoutSource.CONFIGURATION


def test_ages_of_columns_without_a_time_zone_are_those_of_their_clock(database: str) -> None:
    name = database.partition("/test_")[2].partition("?")[0]
    query(database, f"""ALTER DATABASE "test_{name}" SET TimeZone = 'Asia/Kolkata'""")
    make(
        database,
        """CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, status int NOT NULL DEFAULT 1,
                              local_at timestamp NOT NULL DEFAULT now(), started_at timestamp,
                              utc_at timestamp NOT NULL DEFAULT timezone('utc', now()));
           CREATE INDEX ON jobs (status, id);
           INSERT INTO jobs (status, started_at) VALUES (1, NULL), (2, localtimestamp - interval '10 minutes')""",
    )
    raw = {"name": "jobs", "table": "jobs", "state": {"column": "status", "ready": 1, "in_progress": 2}}

    def oldest_and_stuck(**more: object) -> tuple[float | None, float | None]:
        """Return the figures by column, without those that need watching."""
        layout = layout_from_dict({**raw, "design": "status", **more})
        with watching(database, [layout]) as watched:
            seen = watched.queue("jobs", lambda q: q.oldest.value is not None, polls=2)
            oldest, stuck = (None if each.at_least else each.value for each in (seen.oldest, seen.stuck))
            return oldest, stuck

    assert oldest_and_stuck(enqueued_at="local_at") == (None, None), "each session has its own time zone"
    local, _ = oldest_and_stuck(enqueued_at="local_at", times="local")
    assert 0 <= (local or -1) < 300
    utc, stuck = oldest_and_stuck(enqueued_at="utc_at", started_at="started_at", times="local")
    assert 19800 <= (utc or 0) < 20100, "the configured time zone wins: it is 5:30 h old"
    assert stuck == 1
    utc, _ = oldest_and_stuck(enqueued_at="utc_at")
    assert 0 <= (utc or -1) < 300


@pytest.mark.parametrize("design", sorted(set(ARTICLES) - {"ring_classic"}))
def test_three_lines_are_enough_for_each_article(database: str, design: str) -> None:
    make(database, ARTICLES[design])
    table = ARTICLES[design].split("TABLE ", 1)[1].split(" (")[0]
    raw: dict[str, object] = {"name": "q", "table": table, "design": design}
    if design == "pending":
        (problem,) = resolved(database, raw).problems
        assert has(problem.reason, ZoneText.ZONE_UNKNOWN, column="duetime", effect=ZoneText.NOTHING_COUNTED)
        raw["times"] = "utc"
    found = resolved(database, raw)
    assert not found.problems
    assert found.facts["q"].table_id == query(database, f"SELECT CAST('{table}'::regclass::oid AS bigint)")[0][0]


def test_what_the_user_says_wins_and_letters_may_differ_in_case(database: str) -> None:
    make(database, ARTICLES["status"])
    state = {"column": "status", "ready": 7, "in_progress": 8}
    layout = one(database, {"name": "q", "table": "PUBLIC.queue", "design": "status", "id": "ID", "state": state})
    assert layout.table == ObjectName("public", "Queue")
    assert layout.id == "Id"
    assert layout.state == StateColumn("Status", 7, 8)


def test_a_table_with_none_of_the_optional_columns(database: str) -> None:
    make(database, "CREATE TABLE bare (id bigint, status int); INSERT INTO bare VALUES (1, 1), (2, 2)")
    found = resolved(database, {"name": "bare", "table": "bare", "design": "status"})
    (layout,) = found.layouts
    assert layout.state == StateColumn("status", 1, 2)
    facts = found.facts["bare"]
    assert not {"head", "progress", "stuck", "dead", "due"}.intersection(facts.indexes)
    assert facts.sequence_id is None
    assert set(facts.slow) == {"ready", "oldest", "in_progress", "stuck", "states"}
    assert all(has(facts.slow[figure], Reason.NO_INDEX_FOR_READY) for figure in ("ready", "oldest"))
    assert all(has(facts.slow[figure], Reason.NO_INDEX_FOR_PROGRESS) for figure in ("in_progress", "stuck"))
    assert has(facts.slow["states"], Reason.NO_INDEX_FOR_STATES, column="status")
    assert set(facts.unknown) == {"scheduled", "dead", "gap", "fill"}
    assert all(reason and "\n" not in reason for reason in facts.unknown.values())


@pytest.mark.parametrize(
    ("index", "order"),
    [("status, created_at", "created_at"), ("created_at", "id"), ("status, created_at) INCLUDE (id", "created_at")],
)
def test_an_index_of_ready_rows_by_push_time_gives_their_order(database: str, index: str, order: str) -> None:
    columns = "id bigint PRIMARY KEY, status text NOT NULL, created_at timestamptz NOT NULL DEFAULT now()"
    make(database, f"CREATE TABLE jobs ({columns}); CREATE INDEX ON jobs ({index})")
    state = {"column": "status", "ready": "new", "in_progress": "working", "done": "done"}
    found = resolved(database, {"name": "jobs", "table": "jobs", "design": "status", "state": state})
    facts = found.facts["jobs"]
    assert facts.order_by == order
    assert ("ready" in facts.slow) is (order == "id")


def test_a_heap_has_no_head_and_says_so(database: str) -> None:
    make(database, ARTICLES["heap"])
    found = resolved(database, {"name": "q", "table": "heapqueue", "design": "heap"})
    facts = found.facts["q"]
    assert facts.order_by is None
    assert facts.unknown["oldest"] == Reason.NO_ORDER
    assert "in_progress" in facts.unknown


@pytest.mark.parametrize(
    ("raw", "faults"),
    [
        ({"table": "nowhere", "design": "fifo"}, [pattern(ResolveText.NO_TABLE, name="nowhere")]),
        ({"table": "background_job", "design": "fifo"}, [pattern(KeyText.DID_YOU_MEAN, word="background_jobs")]),
        (
            {"table": "background_jobs", "design": "status", "id": "jid"},
            [pattern(CompletionText.NO_COLUMN, table="public.background_jobs", column="jid", key="id")],
        ),
        (
            {"table": "background_jobs", "design": "status", "started_at": "locked"},
            [pattern(CompletionText.NO_COLUMN, column="locked", key="started_at"), pattern(KeyText.DID_YOU_MEAN)],
        ),
        ({"table": "orders", "design": "flag"}, ["orders"]),
        (
            {"table": "twice", "design": "fifo"},
            [pattern(ResolveText.SEVERAL_TABLES, name="twice", tables="a.twice, b.twice")],
        ),
        ({"table": "customers", "design": "pending"}, [pattern(CompletionText.NEEDS_DUE_TIME)]),
        ({"table": "events", "design": "status"}, [pattern(CompletionText.NEEDS_STATE, design="status")]),
        ({"table": "background_jobs", "design": "ring"}, [pattern(CompletionText.NEEDS_SEQUENCES, design="ring")]),
        (
            {"table": "events", "design": "fifo", "sequence": "events_id_sec"},
            [
                pattern(CompletionText.NO_SEQUENCE, sequence="events_id_sec"),
                pattern(KeyText.DID_YOU_MEAN, word="public.events_id_seq"),
            ],
        ),
    ],
)
def test_each_fault_is_one_line_and_the_other_queues_go_on(
    database: str, raw: dict[str, object], faults: Sequence[str]
) -> None:
    make(database, JOBS + ";" + ORDINARY)
    make(database, "CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.twice (id int); CREATE TABLE b.twice (id int)")
    good: dict[str, object] = {"name": "good", "table": "background_jobs", "design": "status"}
    if raw["table"] == "orders":
        raw = {**raw, "state": {"column": "statuss", "ready": "new"}}
    found = resolved(database, {"name": "bad", **raw}, good)
    assert [layout.queue for layout in found.layouts] == ["good"]
    (problem,) = found.problems
    assert problem.queue == "bad"
    assert "\n" not in problem.reason
    for fault in faults:
        assert re.search(fault, problem.reason)


def test_without_permission_the_grant_is_named_and_helps(database: str) -> None:
    make(database, f"CREATE SCHEMA app; SET search_path = app; {ARTICLES['fifo']}")
    make(database, 'DROP ROLE IF EXISTS "read""er"; CREATE ROLE "read""er" LOGIN')
    url = database.replace("postgres@", "read%22er@", 1)
    raw: dict[str, object] = {"name": "q", "table": "app.fifoqueue", "design": "fifo"}
    try:
        (problem,) = resolved(url, raw).problems
        assert problem.reason == ResolveText.UNREADABLE.render(table="app.fifoqueue")
        make(database, problem.grant)
        found = resolved(url, raw)
        assert not found.problems
        assert has(found.facts["q"].unknown["gap"], Reason.SEQUENCE_UNREADABLE, names="app.fifoqueue_id_seq")
    finally:
        make(database, 'DROP OWNED BY "read""er"; DROP ROLE "read""er"')


def test_the_registry_is_read_and_the_configuration_wins(database: str) -> None:
    first, second = installed(database, "status", "orders"), installed(database, "fifo", "mails")
    found = resolved(database)
    assert [layout.table for layout in found.layouts] == [second.table, first.table]
    assert {layout.source for layout in found.layouts} == {LayoutSource.REGISTRY}
    raw: dict[str, object] = {"name": "mine", "table": "orders", "design": "status", "timeout": "9m"}
    found = resolved(database, raw)
    assert [layout.queue for layout in found.layouts] == ["mine", "mails"]
    mine = found.layouts[0]
    assert (mine.timeout_s, dict(mine.routines), mine.state) == (540.0, dict(first.routines), first.state)


def test_a_registry_that_may_not_be_read_or_holds_nonsense_is_a_problem(database: str) -> None:
    installed(database, "fifo", "mails")
    make(database, "DROP ROLE IF EXISTS stranger; CREATE ROLE stranger LOGIN; GRANT SELECT ON mails TO stranger")
    url = database.replace("postgres@", "stranger@", 1)
    try:
        (problem,) = resolved(url).problems
        assert problem.probe == "registry"
        make(database, problem.grant)
        assert [layout.queue for layout in resolved(url).layouts] == ["mails"]
    finally:
        make(database, "DROP OWNED BY stranger; DROP ROLE stranger")
    make(database, "INSERT INTO qmon.queues (queue, design, layout) VALUES ('odd', 'fifo', '{\"x\": 1}')")
    make(database, "INSERT INTO qmon.queues (queue, design, layout, version) VALUES ('new', 'fifo', '{}', 99)")
    make(database, "DROP TABLE mails")
    found = resolved(database)
    assert not found.layouts
    assert {problem.queue for problem in found.problems} == {"odd", "new", "mails"}
    assert next(p.reason for p in found.problems if p.queue == "new") == QueueRegistryText.NEWER


def test_nothing_configured_and_nothing_installed_shows_what_looks_like_a_queue(database: str) -> None:
    make(database, JOBS + ";" + ORDINARY)
    found = resolved(database)
    assert [(layout.queue, layout.source) for layout in found.layouts] == [("background_jobs", LayoutSource.DISCOVERY)]
    assert "due" in found.facts["background_jobs"].indexes
    with qmon_connection(database) as connection:
        assert resolve_queues(connection, ENGINE, [], by_shape=False).layouts == ()


# As published, their date index has rows of every state. The poll walks along it for a bounded distance.
WALKED = {"batch_single", "batch_split"}
# Designs that pop in the order of a date.
TIMED = WALKED | {"batch_fast"}
# No index and no order: scanned while it is small, otherwise counted slowly, and qmon reports that.
UNORDERED = {"heap"}


@pytest.mark.parametrize("design", available_designs(ENGINE))
def test_installed_designs_are_served_by_their_indexes(database: str, design: str) -> None:
    layout = installed(database, design, "it's [a] queue")
    found = resolved(database)
    assert not found.problems
    facts = found.facts[layout.queue]
    if design in UNORDERED:
        assert "head" not in facts.indexes
        assert has(facts.slow["ready"], Reason.SCANNED_UNLESS_SMALL)
        assert has(facts.slow["oldest"], Reason.FOUND_WHILE_SMALL)
        assert has(facts.unknown["in_progress"], Reason.UNLESS_SMALL)
        return
    assert facts.slow == {}
    assert ("head" in facts.indexes) is ("walk" not in facts.indexes)
    assert ("walk" in facts.indexes) is (design in WALKED)
    assert facts.order_by == ("queue_date_time" if design in TIMED else layout.id) or layout.ring is not None
    assert "in_progress" not in facts.unknown
    if layout.state is not None and layout.state.in_progress is not None:
        assert "progress" in facts.indexes
        assert "stuck" in facts.indexes
        assert "dead" in facts.indexes
    if layout.ring is not None:
        assert None not in (facts.push_sequence_id, facts.pop_sequence_id)
        assert len(facts.subscriber_sequence_ids) == len(layout.ring.subscribers)
        assert set(facts.subscriber_sequence_ids) <= set(facts.object_ids)
    elif layout.sequence is not None:
        assert facts.sequence_id is not None


SEEKS = {
    "head": ("probe/head_state", {"table", "id", "state", "enqueued_at"}),
    "progress": ("probe/progress", {"table", "state", "started_at"}),
    "stuck": ("probe/progress_oldest", {"table", "state", "started_at"}),
    "dead": ("probe/in_state", {"table", "state"}),
    "due": ("probe/head_state_due", {"table", "id", "state", "due_at"}),
}
VALUES = {"ready": "queued", "in_progress": "running", "value": "failed", "head": None, "limit": 1001, "timeout": 300}


@pytest.mark.parametrize("due", [True, False])
def test_the_server_uses_the_index_that_a_seek_names(database: str, due: bool) -> None:
    make(database, JOBS)
    make(database, "CREATE INDEX by_id ON background_jobs (id) WHERE status = 'queued'")
    make(
        database,
        "INSERT INTO background_jobs (status, job_type, run_at) SELECT CASE WHEN i % 50 < 3 THEN "
        "(ARRAY['queued', 'running', 'failed'])[1 + i % 50] ELSE 'succeeded' END, 'x', now() "
        "FROM generate_series(1, 20000) AS i; ANALYZE background_jobs",
    )
    if not due:
        make(database, "ALTER TABLE background_jobs DROP COLUMN run_at")
    found = resolved(database, {"name": "q", "table": "background_jobs", "design": "status"})
    layout, facts = found.layouts[0], found.facts["q"]
    assert (layout.due_at is not None) is due
    for seek in SEEKS.keys() - {"head" if due else "due"}:
        plan = planned(database, layout, SEEKS[seek])
        assert facts.indexes[seek] in plan, plan
        assert "Seq Scan" not in plan


def planned(url: str, layout: Layout, probe: tuple[str, set[str]]) -> str:
    """Return the server's plan for a probe of this layout."""
    assert layout.state is not None
    names: dict[str, queries.Name] = {
        "table": layout.table.parts,
        "id": layout.id,
        "state": layout.state.column,
        "started_at": layout.started_at,
        "enqueued_at": layout.enqueued_at,
        "due_at": layout.due_at,
    }
    name, used = probe
    statement = queries.render(queries.load_query("postgres", name, (18, 0)), {k: names[k] for k in used}, ENGINE)
    with connected(url) as raw:
        raw.execute("SET plan_cache_mode = force_custom_plan")
        rows = raw.execute("EXPLAIN " + statement.text, *(VALUES[p] for p in statement.parameters)).fetchall()
    return "\n".join(str(row[0]) for row in rows)


class CountedTables(list[TableRow]):
    """Tables that count how often all of them are searched."""

    searches = 0

    def __iter__(self) -> Iterator[TableRow]:
        self.searches += 1
        return super().__iter__()


def test_the_work_grows_linearly_with_the_number_of_queues(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the statements nor the searches through all tables depend on the number of queues."""
    read_tables, listed = Catalog.read_tables, list[CountedTables]()

    def counted_tables(catalog: Catalog) -> CountedTables:
        listed.append(CountedTables(read_tables(catalog)))
        return listed[-1]

    monkeypatch.setattr(Catalog, "read_tables", counted_tables)
    work: list[list[tuple[int, int]]] = []
    with qmon_connection(database) as connection:
        fetch, statements = connection.fetch, list[Bound]()

        def counted_fetch(bound: Bound) -> Rows:
            statements.append(bound)
            return fetch(bound)

        monkeypatch.setattr(connection, "fetch", counted_fetch)
        for first, last in ((0, 4), (4, 24)):
            for number in range(first, last):
                query(database, f"CREATE TABLE jobs_{number} (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY)")
            layouts = [Layout(f"q{n}", "fifo", ObjectName("public", f"jobs_{n}")) for n in range(last)]
            before, done = NO_QUEUES, list[tuple[int, int]]()
            for configured in (layouts, []):  # then as queues that were watched before
                statements.clear()
                before = resolve_queues(connection, ENGINE, configured, before=before)
                assert len(before.layouts) == last
                done.append((len(statements), listed[-1].searches))
            work.append(done)
    assert work[0] == work[1]
