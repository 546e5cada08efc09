"""Partition maintenance while qmon watches: new and dropped tables raise no critical verdict and are counted once."""

from __future__ import annotations

from qmon.engines.registry import engine_for
from qmon.model.figure import Severity
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.discovery.candidates import Candidate, discover_queues
from qmon.monitor.catalog.discovery.relatives import RelativeText
from qmon.monitor.catalog.resolve import resolve_queues
from tests.contract.watching import connect, target_of, watching
from tests.facts import query
from tests.wordings import has

_COLUMNS = "status text NOT NULL, locked_at timestamptz, attempts int NOT NULL DEFAULT 0, payload text"
BY_ID = f"""
    CREATE TABLE job_queue (id bigserial, {_COLUMNS}, PRIMARY KEY (id)) PARTITION BY RANGE (id);
    CREATE TABLE job_queue_1 PARTITION OF job_queue FOR VALUES FROM (1) TO (1000);
    CREATE TABLE job_queue_2 PARTITION OF job_queue FOR VALUES FROM (1000) TO (2000);
    CREATE INDEX ON job_queue (status, id);
    INSERT INTO job_queue (status) SELECT 'ready' FROM generate_series(1, 30);
    INSERT INTO job_queue (status, locked_at) VALUES ('processing', now());
    INSERT INTO job_queue (id, status) SELECT n, 'ready' FROM generate_series(1000, 1019) AS n;
    ANALYZE"""
INHERITED = f"""
    CREATE TABLE job_queue (id bigserial PRIMARY KEY, {_COLUMNS});
    CREATE TABLE job_queue_2 (PRIMARY KEY (id)) INHERITS (job_queue);
    CREATE INDEX ON job_queue (status, id);
    INSERT INTO job_queue (status) SELECT 'ready' FROM generate_series(1, 30);
    INSERT INTO job_queue (status, locked_at) VALUES ('processing', now());
    INSERT INTO job_queue_2 (status) SELECT 'ready' FROM generate_series(1, 20);
    INSERT INTO job_queue_2 (status, locked_at) VALUES ('processing', now());
    ANALYZE"""


def watched_queues(url: str) -> list[str]:
    """Return the names of the queues watched without a configuration."""
    connection = connect(url)
    try:
        return [layout.queue for layout in resolve_queues(connection, engine_for(target_of(url)), ()).layouts]
    finally:
        connection.close()


def findings(url: str) -> dict[str, Candidate]:
    """Return the discovered queues by table."""
    connection = connect(url)
    try:
        found = discover_queues(Catalog(connection, engine_for(target_of(url))))
    finally:
        connection.close()
    return {finding.layout.table.name: finding for finding in found}


def test_a_detached_partition_is_no_queue_of_its_own(database: str) -> None:
    query(database, BY_ID)
    query(database, "ALTER TABLE job_queue DETACH PARTITION job_queue_2")
    query(database, "ANALYZE")
    assert watched_queues(database) == ["job_queue"]
    assert findings(database)["job_queue_2"].missing == RelativeText.DETACHED.render(table="public.job_queue")
    query(database, "DROP TABLE job_queue CASCADE")
    assert watched_queues(database) == ["job_queue_2"], "now it looks like a queue"


def test_a_detached_partition_is_no_queue_even_if_nothing_shows_that_its_parent_is_one(database: str) -> None:
    query(database, BY_ID)
    query(
        database, "DELETE FROM job_queue WHERE id < 1000; ALTER TABLE job_queue DETACH PARTITION job_queue_2; ANALYZE"
    )
    query(database, "SELECT pg_stat_reset()")
    assert watched_queues(database) == []
    assert has(findings(database)["job_queue_2"].missing, RelativeText.DETACHED, table="public.job_queue")


def test_a_queue_with_the_columns_of_a_partitioned_one_is_a_queue(database: str) -> None:
    """One has its own sequence, one has no sequence and another name, and one only looks detached."""
    query(database, BY_ID)
    query(
        database,
        f"""
        CREATE TABLE job_queue_of_mails (id bigserial PRIMARY KEY, {_COLUMNS});
        CREATE TABLE mail_queue (id bigint PRIMARY KEY, {_COLUMNS});
        CREATE TABLE job_queue_2025 (id bigint PRIMARY KEY, {_COLUMNS});
        CREATE INDEX ON job_queue_of_mails (status, id);
        CREATE INDEX ON mail_queue (status, id);
        CREATE INDEX ON job_queue_2025 (status, id);
        INSERT INTO job_queue_of_mails (status, locked_at) VALUES ('processing', now()), ('ready', NULL);
        INSERT INTO mail_queue (id, status, locked_at) VALUES (1, 'processing', now()), (2, 'ready', NULL);
        INSERT INTO job_queue_2025 (id, status, locked_at) VALUES (1, 'processing', now()), (2, 'ready', NULL);
        ANALYZE""",
    )
    assert sorted(watched_queues(database)) == ["job_queue", "job_queue_of_mails", "mail_queue"]
    assert has(findings(database)["job_queue_2025"].missing, RelativeText.DETACHED)


def test_a_child_by_inheritance_is_counted_once(database: str) -> None:
    query(database, INHERITED)
    assert watched_queues(database) == ["job_queue"]
    assert "job_queue_2" not in findings(database), "partitions are not listed either"
    query(database, "ALTER TABLE job_queue_2 NO INHERIT job_queue; DROP TABLE job_queue CASCADE")
    assert watched_queues(database) == ["job_queue_2"]


def test_a_guessed_queue_that_becomes_a_partition_or_is_dropped_leaves_quietly(database: str) -> None:
    for name in ("job_queue_2", "mail_queue"):
        query(database, f"CREATE TABLE {name} (id bigserial PRIMARY KEY, {_COLUMNS})")
        query(database, f"CREATE INDEX ON {name} (status, id)")
        query(database, f"INSERT INTO {name} (status, locked_at) VALUES ('processing', now()), ('ready', NULL)")
    query(database, "ANALYZE")
    with watching(database) as watched:
        watched.view(lambda v: len(v.queues) == 2)
        first = len(watched.views)
        query(
            database,
            f"""CREATE TABLE job_queue (id bigint NOT NULL, {_COLUMNS}, PRIMARY KEY (id)) PARTITION BY RANGE (id);
                ALTER TABLE job_queue ATTACH PARTITION job_queue_2 FOR VALUES FROM (1) TO (1000)""",
        )
        query(database, "DROP TABLE mail_queue")
        view = watched.view(lambda v: v.queue("mail_queue") is None and v.queue("job_queue_2") is None)
        said = [q.verdict for each in watched.views[first:] for q in each.queues if q.verdict.code == "cannot see"]
    assert all(queue.verdict.code != "cannot see" for queue in view.queues)
    assert [verdict for verdict in said if verdict.severity is Severity.CRITICAL] == []


def test_tables_that_both_number_their_rows_are_no_halves_of_one_queue(database: str) -> None:
    query(database, "CREATE TABLE queue_jobs (id bigserial PRIMARY KEY, status text, locked_at timestamptz)")
    query(database, "CREATE TABLE queue_events (id bigserial PRIMARY KEY, payload text)")
    query(database, "INSERT INTO queue_jobs (status) VALUES ('ready'), ('processing')")
    query(database, "INSERT INTO queue_events (payload) VALUES ('x'), ('y')")
    assert all(finding.layout.data_table is None for finding in findings(database).values())
    query(database, "ALTER TABLE queue_events ADD FOREIGN KEY (id) REFERENCES queue_jobs")
    (paired,) = (finding for finding in findings(database).values() if finding.layout.data_table is not None)
    assert str(paired.layout.table) == "public.queue_jobs"
