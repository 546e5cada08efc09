"""A queue that disappears stays visible: critical, with the reason and its last figures and their age."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

import pytest

from qmon.model.figure import Severity
from qmon.model.layout.layout import Layout, LayoutSource, ObjectName, StateColumn
from qmon.model.verdicts.access_verdicts import AccessVerdictText
from qmon.model.view import QueueView
from qmon.monitor.catalog.queue_registry import QueueRegistryText
from qmon.monitor.catalog.resolve import ResolveText
from tests.cli.calling import call
from tests.contract.watching import Watched, installed, watching
from tests.facts import query
from tests.wordings import has, pattern

JOBS: Final = Layout(
    "jobs", "status", ObjectName("public", "jobs"), id="id", state=StateColumn("state", 1, 2), started_at="started_at"
)
ROLE: Final = "watcher"

# The statement that removes a table from view, its cure, and the texts that may be shown.
FAULTS: Final = {
    "revoked": (
        "REVOKE SELECT ON {0} FROM watcher",
        "GRANT SELECT ON {0} TO watcher",
        ("denied", pattern(ResolveText.UNREADABLE), "GRANT SELECT ON"),
    ),
    "renamed": (
        "ALTER TABLE {0} RENAME TO elsewhere",
        "ALTER TABLE elsewhere RENAME TO {0}",
        ("does not exist", pattern(ResolveText.MOVED, now="public.elsewhere")),
    ),
    "moved": (
        "ALTER TABLE {0} SET SCHEMA attic",
        "ALTER TABLE attic.{0} SET SCHEMA public",
        ("does not exist", pattern(ResolveText.MOVED)),
    ),
}


@pytest.fixture
def watched_as(database: str) -> Iterator[str]:
    """The URL for a role that may read only granted tables. Each new table is granted to it."""
    query(database, f"CREATE ROLE {ROLE} LOGIN")
    query(database, f"GRANT pg_read_all_stats TO {ROLE}")
    query(database, f"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {ROLE}")
    query(database, f"ALTER DEFAULT PRIVILEGES GRANT SELECT ON SEQUENCES TO {ROLE}")
    query(database, "CREATE SCHEMA attic")
    try:
        yield database.replace("postgres@", f"{ROLE}@", 1)
    finally:
        query(database, f"DROP OWNED BY {ROLE}")
        query(database, f"ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM {ROLE}")
        query(database, f"ALTER DEFAULT PRIVILEGES REVOKE SELECT ON SEQUENCES FROM {ROLE}")
        query(database, f"DROP ROLE {ROLE}")


def jobs(url: str) -> None:
    """Create a table with five messages, which looks like a queue."""
    query(
        url,
        "CREATE TABLE jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state int NOT NULL DEFAULT 1, "
        "started_at timestamptz, created_at timestamptz NOT NULL DEFAULT now(), attempts int NOT NULL DEFAULT 0, "
        "payload text)",
    )
    query(url, "CREATE INDEX ON jobs (state, id)")
    query(url, "INSERT INTO jobs (payload) SELECT 'x' FROM generate_series(1, 5)")


def lost(watched: Watched, name: str) -> QueueView:
    """Return the queue in the second poll from now, because the first may be under way."""
    found = watched.view(polls=2).queue(name)
    assert found is not None, "it is no longer on the screen"
    return found


def checked_gone(queue: QueueView, words: tuple[str, ...]) -> None:
    worst = Severity.WARNING if queue.layout.is_guess else Severity.CRITICAL
    assert (queue.verdict.code, queue.verdict.severity) == ("cannot see", worst)
    assert said(queue, words), queue.verdict.proof
    assert has(queue.verdict.proof, AccessVerdictText.LAST_SEEN)
    assert (queue.ready.value, queue.ready.old, queue.ready.age_s > 0) == (5, True, True)
    assert queue.ready.evidence.value is None
    assert queue.history[-1].ready is None


def seen(queue: QueueView) -> bool:
    return queue.ready.value == 5 and not queue.ready.old and queue.verdict.code != "cannot see"


@pytest.mark.parametrize("source", list(LayoutSource))
def test_a_queue_that_is_gone_is_critical_at_the_next_poll_and_comes_back_by_itself(
    database: str, watched_as: str, source: LayoutSource
) -> None:
    name = "fifo" if source is LayoutSource.REGISTRY else "jobs"
    if source is LayoutSource.REGISTRY:
        installed(database, "fifo")
        query(database, f"GRANT USAGE ON SCHEMA qmon TO {ROLE}")
        query(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA qmon TO {ROLE}")
        query(database, "SELECT fifo_push('x'::bytea) FROM generate_series(1, 5)")
    else:
        jobs(database)
    with watching(watched_as, [JOBS] if source is LayoutSource.CONFIGURATION else []) as watched:
        assert watched.queue(name, seen).layout.source is source
        for fault, (inflict, cure, words) in FAULTS.items():
            if source is LayoutSource.DISCOVERY and fault != "revoked":
                continue
            query(database, inflict.format(name))
            checked_gone(lost(watched, name), words)
            checked_gone(watched.queue(name, partial(said, words=words[1:])), words[1:])
            query(database, cure.format(name))
            back = watched.queue(name, seen)
            assert back.verdict.severity < Severity.WARNING, (fault, back.verdict)
        query(database, f"DROP TABLE {name} CASCADE")
        if source is LayoutSource.DISCOVERY:
            watched.view(lambda v: v.queue(name) is None)
            return
        gone = lost(watched, name)
        checked_gone(gone, ("does not exist", pattern(ResolveText.NO_TABLE)))


def said(queue: QueueView, words: tuple[str, ...]) -> bool:
    """Return whether the catalog has been read since, which gives more detail than the failed statement."""
    return any(re.search(word, queue.verdict.proof) for word in words)


def test_a_registry_that_is_closed_keeps_its_queues_and_says_so(database: str, watched_as: str) -> None:
    installed(database, "fifo")
    query(database, f"GRANT USAGE ON SCHEMA qmon TO {ROLE}")
    query(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA qmon TO {ROLE}")
    assert call("check", watched_as, environment=ALONE).exit_code == 0
    query(database, f"REVOKE SELECT ON qmon.queues FROM {ROLE}")
    done = call("check", watched_as, environment=ALONE)
    assert done.exit_code == 3, done.stdout
    assert has(done.stdout, QueueRegistryText.UNREADABLE)
    assert "GRANT SELECT ON" in done.stdout
    assert call("check", watched_as, "--crit", "depth>1000", environment=ALONE).exit_code == 0


# No configured queues, only discovered ones.
ALONE: Final = {"XDG_CONFIG_HOME": "/nonexistent"}


def test_a_fresh_look_at_a_configured_or_registered_queue_that_is_gone_is_critical(
    database: str, watched_as: str
) -> None:
    installed(database, "fifo")
    query(database, f"GRANT USAGE ON SCHEMA qmon TO {ROLE}")
    query(database, f"GRANT SELECT ON ALL TABLES IN SCHEMA qmon TO {ROLE}")
    query(database, f"REVOKE SELECT ON fifo FROM {ROLE}")
    done = call("check", watched_as, environment=ALONE)
    assert done.exit_code == 2, done.stdout
    unreadable = ResolveText.UNREADABLE.render(table="public.fifo")
    assert f"fifo: cannot see: {unreadable}" in done.stdout
    assert call("check", watched_as, "--crit", "depth>1000", environment=ALONE).exit_code == 2, (
        "a limit does not hide it"
    )
    status = call("status", watched_as, environment=ALONE)
    assert "cannot see" in status.stdout
    assert "GRANT SELECT ON" in status.stdout
