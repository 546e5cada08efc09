"""Discovery on a real server: the tables of the articles and of applications are found, ordinary ones are not."""

from __future__ import annotations

import pytest

from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import LayoutSource, ObjectName
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.discovery.candidates import LIKELY, Candidate, CandidateText, discover_queues, is_likely
from qmon.monitor.catalog.discovery.shape import ShapeText
from tests.contract.tables import ARTICLES, ENGINE, JOBS, ORDINARY, make, qmon_connection
from tests.facts import connected


def found(url: str) -> dict[str, Candidate]:
    with qmon_connection(url) as connection:
        return {str(f.layout.table): f for f in discover_queues(Catalog(connection, ENGINE))}


@pytest.mark.parametrize("design", sorted(ARTICLES))
def test_each_table_of_the_articles_is_found_as_published(database: str, design: str) -> None:
    make(database, ARTICLES[design])
    (finding,) = found(database).values()
    # The tables of the two split designs are the same.
    assert finding.layout.design == ("batch_fast" if design == "batch_split" else design)
    assert is_likely(finding), (finding.score, finding.why, finding.missing)
    assert finding.layout.source is LayoutSource.DISCOVERY
    assert finding.why
    assert "\n" not in finding.summary


def test_all_of_them_side_by_side_and_no_ordinary_table_with_confidence(database: str) -> None:
    for design, script in ARTICLES.items():
        if design != "ring_classic":  # its table is the same as that of naive
            make(database, script)
    make(database, JOBS)
    make(database, ORDINARY)
    findings = found(database)
    confident = {name for name, finding in findings.items() if is_likely(finding)}
    assert confident == {
        "public.myq",
        "public.heapqueue",
        "public.fifoqueue",
        "public.lifoqueue",
        "public.pendingqueue",
        "public.Queue",
        "public.TABLE",
        "public.queueslow",
        "public.queuemeta",
        "public.background_jobs",
    }
    assert all(f.score < LIKELY for name, f in findings.items() if name not in confident)


def test_the_reasons_name_columns_values_and_what_the_rows_do(database: str) -> None:
    make(database, ARTICLES["status"])
    with connected(database) as raw:
        raw.execute('INSERT INTO "Queue" ("Status") SELECT 1 FROM generate_series(1, 97)')
        raw.execute('UPDATE "Queue" SET "Status" = 2 WHERE "Id" <= 48')
        raw.execute("SELECT pg_stat_force_next_flush()")
    finding = found(database)["public.Queue"]
    assert ShapeText.STATE.render(column="Status", values=ShapeText.WITH_VALUES.render(values="1, 2")) in finding.why
    assert ShapeText.UPDATED.render(share="48 %") in finding.why
    assert ShapeText.NUMBERED.render(column="Id") in finding.why
    state = finding.layout.state
    assert state is not None
    assert (state.column, state.ready, state.in_progress) == ("Status", 1, 2)


def test_a_state_column_whose_rows_leave_as_they_were_pushed_has_pops_that_delete(database: str) -> None:
    make(database, ARTICLES["status"] + '; ALTER TABLE "Queue" ALTER "Status" SET DEFAULT 1')
    assert found(database)["public.Queue"].layout.pop is None
    with connected(database) as raw:
        raw.execute('INSERT INTO "Queue" ("Status") SELECT 1 FROM generate_series(1, 200)')
        raw.execute('DELETE FROM "Queue" WHERE "Id" <= 150')
        raw.execute("SELECT pg_stat_force_next_flush()")
    finding = found(database)["public.Queue"]
    assert finding.layout.pop == "delete"
    assert CandidateText.POPS_DELETE.render(deleted=150) in finding.how
    with connected(database) as raw:
        raw.execute('UPDATE "Queue" SET "Status" = 2')
        raw.execute("SELECT pg_stat_force_next_flush()")
    assert found(database)["public.Queue"].layout.pop is None


def test_a_job_table_has_its_columns_and_states_told_apart(database: str) -> None:
    make(database, JOBS)
    layout = found(database)["public.background_jobs"].layout
    assert layout.state is not None
    assert (layout.state.ready, layout.state.in_progress) == ("queued", "running")
    assert (layout.state.done, layout.state.dead) == ("succeeded", "failed")
    assert (layout.id, layout.due_at, layout.started_at) == ("id", "run_at", "locked_at")
    assert (layout.enqueued_at, layout.attempts, layout.payload) == ("created_at", "attempts", "args")
    assert layout.owner is not None
    assert (layout.owner.column, layout.owner.kind) == ("locked_by", "name")
    assert TRAITS[layout.design].completes


def test_split_tables_and_rings_have_all_their_parts(database: str) -> None:
    make(database, ARTICLES["batch_split"])
    make(database, ARTICLES["ring_classic"])
    findings = found(database)
    split = findings["public.queuemeta"].layout
    assert (split.data_table, split.data_id) == (ObjectName("public", "queuedata"), "queueid")
    assert split.payload == "title"
    ring = findings["public.myq"].layout.ring
    assert ring is not None
    assert (ring.size, ring.turn) == (100, None)
    assert ring.push_sequence == ObjectName("public", "pushsequence")
    assert ring.pop_sequence == ObjectName("public", "popsequence")


def test_a_table_whose_rows_come_and_go_is_found_whatever_it_is_called(database: str) -> None:
    make(database, "CREATE TABLE wibble (id bigserial PRIMARY KEY, payload bytea)")
    assert not found(database)
    make(database, "INSERT INTO wibble (payload) SELECT 'x' FROM generate_series(1, 500)")
    make(database, "DELETE FROM wibble WHERE id <= 400; SELECT pg_stat_force_next_flush()")
    finding = found(database)["public.wibble"]
    assert ShapeText.DELETED.render(share="80 %") in finding.why
    assert not is_likely(finding)


def test_hostile_names_are_found_and_read(database: str) -> None:
    hostile = ["a]]b].[c d", '"; drop table x; --', "queue 🐘 'quoted'", "{table} :head ? %s queue"]
    for name in hostile:
        quoted = '"' + name.replace('"', '""') + '"'
        make(
            database,
            f"CREATE SCHEMA {quoted}; CREATE TABLE {quoted}.{quoted} (id bigserial PRIMARY KEY, "
            f'"Status" text, locked_at timestamptz, attempts int, {quoted} bytea); '
            f"INSERT INTO {quoted}.{quoted} (\"Status\") VALUES ('ready'), ('in progress')",
        )
    findings = found(database)
    assert set(findings) == {f"{name}.{name}" for name in hostile}
    for finding in findings.values():
        assert finding.layout.state is not None
        assert finding.layout.state.in_progress == "in progress"


def test_states_that_cannot_be_told_are_left_to_the_user(database: str) -> None:
    make(
        database,
        "CREATE TABLE jobs (id bigserial PRIMARY KEY, status text, locked_at timestamptz, attempts int);"
        "INSERT INTO jobs (status) VALUES ('zig'), ('zag')",
    )
    finding = found(database)["public.jobs"]
    assert "zag, zig" in finding.missing
    assert not is_likely(finding)


def test_a_locked_table_holds_nothing_up(database: str) -> None:
    make(database, JOBS)
    make(database, ARTICLES["fifo"])
    with connected(database, autocommit=False) as raw:
        raw.execute("LOCK TABLE background_jobs IN ACCESS EXCLUSIVE MODE")
        assert {"public.fifoqueue", "public.background_jobs"} <= set(found(database))


def test_two_tables_of_one_name_get_two_queue_names(database: str) -> None:
    make(database, "CREATE SCHEMA other; SET search_path = other;" + ARTICLES["heap"])
    make(database, ARTICLES["heap"])
    assert {f.layout.queue for f in found(database).values()} == {"public.heapqueue", "other.heapqueue"}
