"""Tables under ACCESS EXCLUSIVE: each loses only its own figures, and even a new qmon names the holder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from qmon.model.alerts.target_check import TargetCheckText
from qmon.model.figure import Severity
from qmon.model.snapshot import ProbeFailure
from qmon.model.view import QueueView
from qmon.model.waits.lock_holders import LockHolderText
from tests.cli.calling import call
from tests.contract.tables import JOBS, make
from tests.contract.watching import installed, watching
from tests.facts import connected, query
from tests.wordings import has


@contextmanager
def locked(url: str, *tables: str) -> Iterator[tuple[Any, str]]:
    """A session that locks these tables until it rolls back. Yields its name in verdicts."""
    with connected(url, autocommit=False) as holder:
        holder.execute("SET application_name = 'migration 0042'")
        holder.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
        session = holder.execute("SELECT pg_backend_pid()").fetchone()[0]
        holder.execute("SELECT set_config('app.who', 'Anna Bell', true) /* 4711 */")
        yield holder, f"{LockHolderText.LOCKED_BY.render(who=LockHolderText.SESSION.render(session=session))} ("


def whole(queue: QueueView) -> bool:
    return queue.ready.value == 5 and not queue.failures


def test_a_locked_queue_costs_its_own_figures_alone_and_names_the_session(database: str) -> None:
    installed(database, "fifo", "naive", "status", "ring")
    for design in ("naive", "status", "fifo"):
        query(database, f"SELECT {design}_push('x') FROM generate_series(1, 5)")
    with watching(database) as watched:
        for design in ("naive", "status", "fifo"):
            watched.queue(design, whole)
        with locked(database, "fifo") as (holder, named):
            found = watched.queue("fifo", lambda q: any(named in f.reason for f in q.failures))
            reason = next(f.reason for f in found.failures if named in f.reason)
            assert has(reason, LockHolderText.SINCE)
            assert "migration 0042" in reason
            assert reason.endswith("): SELECT set_config(…, …, true) …")
            view = watched.view(
                lambda v: all(q.verdict.code == "cannot tell" for q in v.queues if q.name == "fifo"), polls=12
            )
            fifo = view.queue("fifo")
            assert fifo is not None
            assert named in fifo.verdict.proof
            assert named in fifo.ready.reason
            assert fifo.verdict.severity is Severity.NOTICE
            for seen in watched.views[-8:]:
                assert [f for f in failures(seen.failures) if f.probe != "sizes"] == []
                for design in ("naive", "status"):
                    queue = seen.queue(design)
                    assert queue is not None
                    assert queue.failures == ()
                    assert queue.ready.value == 5
                    assert queue.push_rate.value is not None
            holder.rollback()
            assert named not in watched.queue("fifo", whole, polls=0).verdict.proof


def failures(found: tuple[ProbeFailure, ...]) -> list[ProbeFailure]:
    return [each for each in found if not each.grant]


def test_the_poll_that_meets_a_lock_still_reads_all_other_queues(database: str) -> None:
    others = ("naive", "status", "ring", "heap", "lifo", "flag", "pending", "batch_fast", "batch_single", "batch_split")
    installed(database, "fifo", *others)
    with watching(database) as watched:
        watched.view(lambda view: all(queue.pop_rate.value is not None for queue in view.queues), polls=12)
        before = len(watched.views)
        with locked(database, "fifo"):
            watched.queue("fifo", lambda queue: any(failure.probe == "head" for failure in queue.failures))
            watched.view(polls=12)  # longer than the locked table is left out
        for view in watched.views[before:]:
            for name in others:
                queue = view.queue(name)
                assert queue is not None
                assert queue.ready.age_s == 0, f"poll {view.sequence}: {name}: {queue.ready.reason}"
                assert queue.verdict.code != "cannot tell", f"{name}: {queue.verdict.proof}"


def test_what_may_be_a_queue_is_not_called_none_while_it_is_locked(database: str) -> None:
    make(database, JOBS)
    query(
        database,
        "INSERT INTO background_jobs (status, job_type, run_at) VALUES ('queued', 'a', now()), ('running', 'b', now())",
    )
    with locked(database, "background_jobs") as (holder, named), watching(database) as watched:
        found = watched.queue("background_jobs", lambda q: q.failures)
        assert found.verdict.code == "cannot tell"
        assert named in found.verdict.proof
        assert found.ready.value is None
        assert named in found.ready.reason
        holder.rollback()
        back = watched.queue("background_jobs", lambda q: q.ready.value == 1)
        assert back.failures == ()
        assert back.layout.state is not None


def test_commands_say_that_a_lock_is_why_and_not_that_there_is_no_queue(database: str) -> None:
    make(database, JOBS)
    with locked(database, "background_jobs") as (_, named):
        status = call("status", database, "--over", "500ms")
        assert status.exit_code == 0
        assert "cannot tell" in status.stdout
        assert f"background_jobs: {named}" in status.stdout
        assert not has(status.output, TargetCheckText.NO_QUEUE_KNOWN)
        (queue,) = json.loads(call("status", database, "--over", "500ms", "--output", "json").stdout)["queues"]
        assert queue["ready"] is None
        assert named in queue["unknown"]["ready"]
        check = call("check", database)
        assert check.exit_code == 3
        assert named in check.stdout
        assert f"cannot tell: {named}" in " ".join(call("queues", database).stdout.split())


def test_what_was_locked_and_is_no_queue_goes_away(database: str) -> None:
    make(database, "CREATE TABLE mail_jobs (id int PRIMARY KEY, status text, locked_at timestamptz)")
    query(database, "INSERT INTO mail_jobs VALUES (1, 'zig'), (2, 'zag')")
    with locked(database, "mail_jobs") as (holder, _), watching(database) as watched:
        assert watched.queue("mail_jobs", lambda q: q.failures).verdict.code == "cannot tell"
        holder.rollback()
        assert watched.view(lambda v: not v.queues).failures == ()


def test_a_locked_sequence_costs_no_other_queue_its_ids(database: str) -> None:
    installed(database, "fifo", "status")
    query(database, "SELECT fifo_push('x'), status_push('x')")
    with watching(database) as watched, connected(database, autocommit=False) as holder:
        watched.queue("status", lambda q: q.gap.value is not None)
        watched.queue("fifo", lambda q: q.gap.value is not None)
        holder.execute("TRUNCATE fifo RESTART IDENTITY")
        watched.queue("fifo", lambda q: q.failures)
        after = len(watched.views)
        watched.view(polls=8)
        gaps = [view.queue("status") for view in watched.views[after:]]
        assert all(queue is not None and queue.gap.value is not None for queue in gaps)
        assert [f for view in watched.views[after:] for f in failures(view.failures) if f.probe != "sizes"] == []
