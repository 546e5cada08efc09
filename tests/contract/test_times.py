"""Times that mean never, times in another session's time zone, and data that cause an exception."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Final

import pytest

from qmon import log
from qmon.engines.registry import engine_for
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.reasons import Reason
from qmon.model.verdicts.judge import QUEUE_RULES
from qmon.monitor.catalog.column_zones import ZoneText
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.monitor.poll.queue_samples import QueueFiling
from qmon.monitor.probe_checks import run_checkup
from qmon.monitor.source import Phase, ReadScope
from qmon.monitor.state import sample_figures
from qmon.monitor.state.sample_figures import FigureText
from tests.cli.calling import call
from tests.contract.tables import qmon_connection
from tests.contract.watching import target_of, watching
from tests.facts import query
from tests.wordings import has

pytestmark = pytest.mark.server

TABLE: Final = (
    "CREATE TABLE {} (id bigint PRIMARY KEY, status text NOT NULL, created_at timestamptz, started_at timestamptz,"
    " run_at timestamptz)"
)
NEVER: Final = ("infinity", "-infinity", "0001-01-01", "9999-12-31 23:59:59.9999999")


def layout(name: str, *, due: bool = False) -> Layout:
    return Layout(
        name,
        "status",
        ObjectName("public", name),
        "id",
        state=StateColumn("status", "ready", "working", dead="dead"),
        started_at="started_at",
        enqueued_at="created_at",
        due_at="run_at" if due else None,
    )


@pytest.mark.parametrize("index", ["", "(status, id)", "(status, started_at)"])
@pytest.mark.parametrize("never", NEVER)
def test_a_time_that_stands_for_never_leaves_that_age_unknown_and_all_else_as_it_is(
    database: str, never: str, index: str
) -> None:
    for name in ("jobs", "others"):
        query(database, TABLE.format(name))
        if index:
            query(database, f"CREATE INDEX ON {name} {index}")
        query(database, f"INSERT INTO {name} SELECT i, 'ready', now() FROM generate_series(11, 13) AS i")
        query(database, f"INSERT INTO {name} VALUES (20, 'working', now(), now() - interval '1 h')")
    query(database, f"INSERT INTO jobs VALUES (1, 'ready', '{never}')")
    query(database, f"INSERT INTO jobs VALUES (2, 'working', '{never}', '{never}')")
    with watching(database, [layout("jobs"), layout("others")]) as watched:
        watched.poller.set_focus(ReadScope(rows_of="jobs"))
        view = watched.view(lambda v: all(q.ready.value and q.stuck.value for q in v.queues), polls=3)
    jobs, others = view.queues
    assert (jobs.failures, others.failures) == ((), ())
    assert [figure.value for figure in (jobs.ready, jobs.in_progress, jobs.stuck)] == [4, 2, 1]
    assert [figure.value for figure in (others.ready, others.in_progress, others.stuck)] == [3, 1, 1]
    oldest = jobs.oldest.value
    assert oldest is None or oldest < 600, "a message of the year 1 is not 2,000 years old"
    assert others.oldest.value is not None
    assert all(each.age_s is None or 0 <= each.age_s < 7200 for each in jobs.messages or ())


@pytest.mark.parametrize(("never", "ready"), [("infinity", 1), ("-infinity", 2), ("0001-01-01", 2)])
def test_a_message_due_at_the_end_of_time_is_scheduled_and_one_due_at_its_beginning_is_ready(
    database: str, never: str, ready: int
) -> None:
    query(database, TABLE.format("jobs"))
    query(database, f"INSERT INTO jobs VALUES (1, 'ready', now(), NULL, now()), (2, 'ready', now(), NULL, '{never}')")
    with watching(database, [layout("jobs", due=True)]) as watched:
        queue = watched.queue("jobs", lambda q: q.ready.value is not None and q.scheduled.value is not None)
    assert (queue.ready.value, queue.scheduled.value, queue.failures) == (ready, 2 - ready, ())


def test_status_prints_all_queues_of_a_target_with_such_times(database: str) -> None:
    query(database, TABLE.format("job_queue"))
    query(
        database,
        "INSERT INTO job_queue VALUES (1, 'ready', '-infinity', NULL), (2, 'working', 'infinity', '-infinity')",
    )
    for command in (("status", database), ("status", database, "--output", "json"), ("queues", database)):
        done = call(*command)
        assert done.exit_code == 0, done.output
        assert "went wrong" not in done.output


def test_states_told_by_times_take_such_times_too(database: str) -> None:
    query(
        database,
        "CREATE TABLE outbox (id bigserial PRIMARY KEY, payload text, created_at timestamptz NOT NULL DEFAULT now(),"
        " processed_at timestamptz)",
    )
    for created, processed in (("now()", "NULL"), ("'-infinity'", "NULL"), ("now()", "'-infinity'")):
        query(database, f"INSERT INTO outbox (created_at, processed_at) VALUES ({created}, {processed})")
    with watching(database, []) as watched:
        queue = watched.view(lambda v: v.queues and v.queues[0].done.value is not None).queues[0]
    assert (queue.ready.value, queue.done.value, queue.failures) == (2, 1, ())
    assert queue.oldest.value is not None
    assert queue.oldest.value < 600


def test_the_default_of_the_inserting_session_proves_nothing(database: str) -> None:
    query(
        database,
        "CREATE TABLE jobs (id bigserial PRIMARY KEY, status text NOT NULL, created_at timestamp DEFAULT now(),"
        " started_at timestamp DEFAULT (now() AT TIME ZONE 'utc'))",
    )
    query(database, "SET timezone = 'Asia/Tokyo'; INSERT INTO jobs (status) VALUES ('ready')")
    asked = layout("jobs")
    with qmon_connection(database) as connection:
        found = resolve_queues(connection, engine_for(target_of(database)), [asked])
    reason = next(line for line in found.reasons["jobs"] if line.startswith("`created_at`"))
    assert has(reason, ZoneText.SESSION_TIME)
    with watching(database, [asked]) as watched:
        queue = watched.queue("jobs", lambda q: q.ready.value == 1)
    assert (queue.oldest.at_least, queue.oldest.reason) == (
        True,
        Reason.WATCHED.render(reason=FigureText.NO_USABLE_TIME.render(column="created_at")),
    )
    assert (queue.oldest.value or 0) < 600, "not 9 h, the offset of that time zone"


def _is_jobs(given: object) -> bool:
    found = getattr(given, "layout", None)
    return isinstance(found, Layout) and found.queue == "jobs"


def _broken(work: Callable[..., object]) -> Callable[..., object]:
    """The same function, which raises an exception for the queue ``jobs``."""

    def broken(*given: object, **more: object) -> object:
        if any(map(_is_jobs, given)):
            raise OverflowError("cannot convert float infinity to integer")
        return work(*given, **more)

    return broken


_STUCK: Final = next(rule for rule in QUEUE_RULES if rule.code == "stuck in progress")
DEFECTS: Final = {
    "fault: samples": (QueueFiling, "samples_for"),
    "fault: view": (sample_figures, "done_figure"),
    "fault: oldest": (sample_figures, "oldest_figure"),
    "fault: dead": (sample_figures.FROM_SAMPLES, "dead"),
    "fault: rule stuck in progress": (_STUCK, "proof"),
}


@pytest.mark.parametrize("part", DEFECTS)
def test_an_exception_in_one_part_of_a_queue_is_its_reason_and_all_else_stays(
    database: str, part: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("jobs", "others"):
        query(database, TABLE.format(name))
        query(database, f"INSERT INTO {name} SELECT i, 'ready', now() FROM generate_series(1, 3) AS i")
    log.forget_defects()
    owner, name = DEFECTS[part]
    if part.startswith("fault: rule"):
        rules = tuple(replace(rule, proof=_broken(rule.proof)) if rule is _STUCK else rule for rule in QUEUE_RULES)  # type: ignore[arg-type]
        monkeypatch.setattr(import_module("qmon.model.verdicts.judge"), "QUEUE_RULES", rules)
    elif isinstance(owner, dict):
        monkeypatch.setitem(owner, name, _broken(owner[name]))
    else:
        monkeypatch.setattr(owner, name, _broken(getattr(owner, name)))
    with watching(database, [layout("jobs"), layout("others")]) as watched:
        jobs, others = watched.view(lambda v: v.queue("others").ready.value, polls=4).queues  # type: ignore[union-attr]
        assert Phase.LOST not in watched.phases
    (failure,) = (each for each in jobs.failures if each.probe == part)
    assert "cannot convert float infinity" in failure.reason
    assert jobs.verdict.code == "cannot tell"
    assert (others.ready.value, others.failures) == (3, ())
    assert "went wrong" not in others.verdict.proof
    assert (jobs.ready.value == 3) is (part not in ("fault: samples", "fault: view"))
    if part == "fault: oldest":
        assert jobs.oldest.reason == failure.reason
    traces = [each for each in caplog.records if each.exc_info and "unexpected error in qmon" in each.message]
    assert len(traces) == 1, "it is logged once, not in each poll"
    with qmon_connection(database) as connection:
        checks = run_checkup(connection, engine_for(target_of(database)), [layout("jobs"), layout("others")]).checks
    assert [(each.queue, each.problem) for each in checks if each.probe == part] == [("jobs", failure.reason)]
