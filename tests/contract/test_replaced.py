"""Another table behind a queue's name: no figure of the old table is carried over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.view import QueueView
from qmon.monitor.catalog.resolve import ResolveText
from tests.contract.watching import Watched, watching
from tests.facts import connected, query
from tests.wordings import has

OLD, NEW = 12_262, 5_018
JOBS = Layout("jobs", "fifo", ObjectName("public", "jobs"), id="id")


def table(name: str, rows: int, first: int = 1) -> str:
    return f"""CREATE TABLE {name} (id bigserial PRIMARY KEY, payload text);
               INSERT INTO {name} (id, payload) SELECT n, 'x' FROM generate_series({first}, {first + rows - 1}) AS n;
               ANALYZE {name};"""


CHANGES = {
    "dropped and made anew": ("", f"DROP TABLE jobs; {table('jobs', NEW)}"),
    "swapped by renaming": (
        table("jobs_next", NEW, first=9_000_000),
        "BEGIN; ALTER TABLE jobs RENAME TO jobs_old; ALTER TABLE jobs_next RENAME TO jobs; COMMIT",
    ),
    "swapped with another schema": (
        f"CREATE SCHEMA other; {table('other.jobs', NEW)} CREATE SCHEMA attic",
        "BEGIN; ALTER TABLE jobs SET SCHEMA attic; ALTER TABLE other.jobs SET SCHEMA public; COMMIT",
    ),
    "truncated and filled again": (
        "",
        f"""BEGIN; TRUNCATE jobs RESTART IDENTITY;
            INSERT INTO jobs (payload) SELECT 'x' FROM generate_series(1, {NEW}); COMMIT; ANALYZE jobs""",
    ),
}


@pytest.fixture
def jobs(database: str) -> Iterator[str]:
    query(database, table("jobs", OLD, first=1_000_000))
    yield database


def carried(watched: Watched) -> None:
    """Wait until the queue's depth is known from a count, and its head from a stored position."""
    watched.queue("jobs", lambda q: q.ready.value == OLD and q.push_rate.value is not None)
    watched.view(polls=6)


def after(watched: Watched, from_view: int) -> list[QueueView]:
    return [q for v in watched.views[from_view:] if (q := v.queue("jobs")) is not None]


@pytest.mark.parametrize("change", CHANGES)
def test_no_figure_spans_two_tables_that_had_the_same_name(jobs: str, change: str) -> None:
    before, now = CHANGES[change]
    if before:
        query(jobs, before)
    with watching(jobs, [JOBS]) as watched:
        carried(watched)
        query(jobs, now)
        changed = len(watched.views) + 1  # a poll may be under way
        watched.queue("jobs", lambda q: q.ready.value == NEW and q.push_rate.value is not None, polls=2)
        seen = after(watched, changed)
    for q in seen:
        assert q.ready.value in (None, NEW) or (q.ready.at_least and q.ready.value <= NEW), q.ready
        assert not q.push_rate.value, q.push_rate
        assert not q.pop_rate.value, q.pop_rate
        assert q.oldest.value is None or q.oldest.value < 60, q.oldest
        assert q.gap.value in (None, NEW), q.gap
        assert q.verdict.code in ("healthy", "cannot tell", "cannot see"), q.verdict
    assert next(n for n, q in enumerate(seen) if q.ready.value == NEW) <= 6


def test_a_table_of_another_kind_is_read_as_it_is_at_the_next_poll(jobs: str) -> None:
    with watching(jobs, [JOBS]) as watched, connected(jobs) as other:
        carried(watched)
        other.execute("DROP TABLE jobs; CREATE TABLE jobs (id text PRIMARY KEY, payload text)")
        other.execute("INSERT INTO jobs VALUES ('b', 'x'), ('a', 'x')")
        polls = len(watched.views)
        watched.queue("jobs", lambda q: q.ready.value == 2)
        assert len(watched.views) - polls <= 3


def test_a_queue_renamed_away_is_lost_and_back_within_two_polls(jobs: str) -> None:
    with watching(jobs, [JOBS]) as watched:
        carried(watched)
        for _ in range(2):
            query(jobs, "ALTER TABLE jobs RENAME TO elsewhere")
            polls = len(watched.views)
            gone = watched.queue("jobs", lambda q: q.ready.old)
            assert has(gone.ready.reason, ResolveText.MOVED, now="public.elsewhere")
            assert len(watched.views) - polls <= 2
            query(jobs, "ALTER TABLE elsewhere RENAME TO jobs")
            polls = len(watched.views)
            watched.queue("jobs", lambda q: q.ready.evidence.value is not None)
            assert len(watched.views) - polls <= 3
