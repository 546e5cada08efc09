"""Tables with several queues, found by shape: a configuration proposes one queue for each name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.config.config_file import parse_config
from qmon.engines.registry import engine_for
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.monitor.catalog.proposal import propose_config, read_known_and_found
from tests.contract.tables import qmon_connection
from tests.contract.watching import target_of, watching
from tests.facts import query

pytestmark = pytest.mark.server

TABLE: Final = (
    "CREATE TABLE job_queue (id bigserial PRIMARY KEY, {column} text, status text NOT NULL, body jsonb,"
    " started_at timestamptz, attempts int)"
)
ROWS: Final = (
    "INSERT INTO job_queue ({column}, status) SELECT 'mails', 'new' FROM generate_series(1, 3)",
    "INSERT INTO job_queue ({column}, status, started_at) VALUES ('mails', 'running', now())",
    "INSERT INTO job_queue ({column}, status) SELECT 'reports', 'new' FROM generate_series(1, 5)",
    "INSERT INTO job_queue ({column}, status) SELECT 'reports', 'done' FROM generate_series(1, 7)",
)


def proposed(url: str) -> tuple[ConfiguredQueue, ...]:
    """Return the queues that ``qmon init`` writes."""
    with qmon_connection(url) as connection:
        resolved, findings = read_known_and_found(connection, engine_for(target_of(url)), [])
    return (
        parse_config(propose_config(url, "t", None, resolved, findings, {}).text, Path("qmon.toml")).targets["t"].queues
    )


@pytest.mark.parametrize("retry", [False, True], ids=["a column of states", "a list of states"])
@pytest.mark.parametrize("column", ["queue", "queue_name", "q_name", "topic", "type", "kind", "task_name"])
def test_init_proposes_one_queue_for_each_name(database: str, column: str, *, retry: bool) -> None:
    for statement in (TABLE, *ROWS):
        query(database, statement.format(column=column))
    if retry:
        query(database, f"INSERT INTO job_queue ({column}, status) VALUES ('mails', 'retry')")
    before = proposed(database)
    query(database, "ANALYZE job_queue")
    assert proposed(database) == before
    with watching(database, before) as watched:
        view = watched.view(lambda v: len(v.queues) == 2 and all(q.done.value is not None for q in v.queues))
    found = {q.name: (q.ready.value, q.in_progress.value, q.done.value, q.scheduled.value) for q in view.queues}
    assert found == {
        "job_queue/mails": (3, 1, 0, 1 if retry else None),
        "job_queue/reports": (5, 0, 7, 0 if retry else None),
    }


@pytest.mark.parametrize("names", [1, 60])
def test_a_column_with_one_value_or_many_names_no_queues(database: str, names: int) -> None:
    query(database, TABLE.format(column="type"))
    rows = "INSERT INTO job_queue (type, status) SELECT 'kind ' || n % ?, 'new' FROM generate_series(1, 120) AS n"
    query(database, rows, names)
    query(database, "INSERT INTO job_queue (type, status) VALUES ('kind 0', 'running')")
    (queue,) = proposed(database)
    with watching(database, [queue]) as watched:
        assert [each.name for each in watched.view().queues] == ["job_queue"]
