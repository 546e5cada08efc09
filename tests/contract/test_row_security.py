"""A role that may see only part of a table's rows or columns: qmon reports that, and does not call the queue fine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from qmon.model.groups.conditions import ColumnRef, OneOf
from qmon.model.groups.group import Group, State
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.operation_records import Choice
from qmon.monitor.one_shot import view_over
from qmon.monitor.probe_checks import CheckupText, run_checkup
from qmon.operate.operator import Operator
from qmon.operate.table_structure import StructureText
from tests.cli.calling import call
from tests.contract.engines import opened
from tests.contract.operating import applied, desk_at
from tests.contract.watching import target_of, watching
from tests.facts import query
from tests.queues import ENGINE

JOBS: Final = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="id",
    state=StateColumn("status", "ready", "working"),
    started_at="started_at",
)

# The same table partitioned by a key.
SPLIT: Final = Group(
    "jobs",
    ObjectName("public", "jobs"),
    "id",
    (
        State("ready", "ready", OneOf(ColumnRef("status"), ("ready",))),
        State("working", "in_progress", OneOf(ColumnRef("status"), ("working",)), ColumnRef("started_at")),
    ),
    ColumnRef("tenant"),
)


@pytest.fixture
def tenant(database: str) -> Iterator[str]:
    """The URL for a role without rights on ``jobs`` yet. Its policy, once enabled, shows 5 of its 50 messages."""
    role = "tenant_" + database.rsplit("test_", 1)[1].split("?")[0]
    query(
        database,
        f"""CREATE TABLE jobs (id bigserial PRIMARY KEY, status text NOT NULL, tenant int, started_at timestamptz);
            CREATE INDEX ON jobs (status, id); CREATE INDEX ON jobs (status, started_at);
            INSERT INTO jobs (status, tenant) SELECT 'ready', n % 10 FROM generate_series(1, 50) AS n;
            CREATE ROLE {role} LOGIN; GRANT SELECT ON jobs_id_seq TO {role};
            CREATE POLICY own ON jobs USING (tenant = 1)""",
    )
    try:
        yield database.replace("postgres@", f"{role}@", 1)
    finally:
        query(database, f"DROP OWNED BY {role} CASCADE")
        query(database, f"DROP ROLE {role}")


def named(url: str) -> str:
    return url.partition("//")[2].partition("@")[0]


def test_figures_of_a_role_that_sees_a_part_are_at_least_so_much(database: str, tenant: str) -> None:
    query(database, f"GRANT SELECT ON jobs TO {named(tenant)}")
    with watching(tenant, [JOBS]) as watched:
        watched.queue("jobs", lambda q: q.ready.value == 50 and not q.ready.partial)
        query(database, "ALTER TABLE jobs ENABLE ROW LEVEL SECURITY")
        queue = watched.queue("jobs", lambda q: q.ready.value == 5, polls=2)
        assert queue.ready.at_least
        assert queue.ready.partial
        assert "some of the rows" in queue.ready.reason
        assert queue.verdict.code == "cannot tell"
        assert "some of the rows" in queue.verdict.proof
        query(database, "ALTER TABLE jobs DISABLE ROW LEVEL SECURITY")
        assert not watched.queue("jobs", lambda q: q.ready.value == 50, polls=2).ready.partial
    query(database, "ALTER TABLE jobs ENABLE ROW LEVEL SECURITY")
    assert call("check", tenant, "--timeout", "20").exit_code != 0
    with opened(tenant) as connection:
        (said,) = (each.problem for each in run_checkup(connection, ENGINE, [JOBS]).checks if each.probe == "(rows)")
    assert said == CheckupText.ROWS_HIDDEN.render(
        why="row-level security: your role sees only some of the rows",
        helps="the table owner and roles with BYPASSRLS see all rows",
    )


def test_queues_of_a_group_of_which_a_part_is_seen_are_at_least_so_much(database: str, tenant: str) -> None:
    query(database, f"GRANT SELECT ON jobs TO {named(tenant)}")
    query(database, "ALTER TABLE jobs ENABLE ROW LEVEL SECURITY")
    with watching(tenant, [SPLIT]) as watched:
        queue = watched.queue("jobs/1", lambda q: q.ready.value == 5, polls=2)
    assert queue.ready.partial
    assert "some of the rows" in queue.ready.reason
    assert queue.verdict.code == "cannot tell"
    with opened(tenant) as connection:
        assert [each.queue for each in run_checkup(connection, ENGINE, [SPLIT]).checks if each.probe == "(rows)"] == [
            "jobs"
        ]


def test_a_plan_of_a_role_that_sees_a_part_says_so_and_touches_no_other_row(
    database: str, tenant: str, tmp_path: Path
) -> None:
    query(database, f"GRANT ALL ON jobs TO {named(tenant)}")
    query(database, "UPDATE jobs SET status = 'working', started_at = now() - interval '1 day'")
    query(database, f"GRANT CREATE ON DATABASE {query(database, 'SELECT current_database()')[0][0]} TO {named(tenant)}")
    operator = Operator(desk_at(tenant, tmp_path))
    said = StructureText.ROWS_HIDDEN.render(
        why="row-level security: your role sees only some of the rows", table="public.jobs"
    )
    assert said not in operator.requeue(JOBS, Choice()).plan.consequences
    query(database, "ALTER TABLE jobs ENABLE ROW LEVEL SECURITY")
    requeue = operator.requeue(JOBS, Choice())
    assert (requeue.plan.count, said in requeue.plan.consequences) == (5, True)
    assert applied(requeue).done == 5
    assert query(database, "SELECT DISTINCT tenant FROM jobs WHERE status = 'ready'") == [(1,)]
    purge = operator.purge(JOBS, Choice(state="ready"))
    assert (purge.plan.count, said in purge.plan.consequences) == (5, True)


def test_what_a_role_without_some_columns_cannot_see_is_unknown_and_names_the_grant(database: str, tenant: str) -> None:
    query(database, f"GRANT SELECT (id, status) ON jobs TO {named(tenant)}")
    helps = f"GRANT SELECT ON public.jobs TO {named(tenant)}"
    with watching(tenant, [JOBS]) as watched:
        queue = watched.queue("jobs", lambda q: q.ready.value == 50, polls=2)
        for figure in (queue.in_progress, queue.stuck):
            assert figure.value is None
            assert figure.reason.count(helps) == 1
        assert queue.verdict.code == "cannot tell"
        assert queue.verdict.proof.count(helps) == 1
        with opened(tenant) as connection:
            assert helps in {each.grant for each in run_checkup(connection, ENGINE, [JOBS]).checks}
        query(database, helps)
        watched.queue("jobs", lambda q: q.in_progress.value == 0 and q.verdict.code != "cannot tell")


@pytest.mark.parametrize("allowed", ["jobs", "jobs, part"])
def test_partitions_that_our_role_may_read_through_their_parent_alone_are_counted_through_it(
    database: str, tenant: str, allowed: str
) -> None:
    query(
        database,
        f"""DROP TABLE jobs;
            CREATE TABLE jobs (id bigint, status text NOT NULL, started_at timestamptz) PARTITION BY RANGE (id);
            CREATE TABLE part PARTITION OF jobs FOR VALUES FROM (0) TO (1000);
            ALTER TABLE part ENABLE ROW LEVEL SECURITY;
            INSERT INTO jobs SELECT n, 'working', now() - interval '3 hours' FROM generate_series(1, 50) AS n;
            GRANT SELECT ON {allowed} TO {named(tenant)}""",
    )
    queue = view_over(target_of(tenant), [JOBS], over_s=1.0).queues[0]
    assert (queue.ready.value, queue.in_progress.value, queue.stuck.value) == (0, 50, 50)
    assert queue.verdict.code == "stuck in progress"
