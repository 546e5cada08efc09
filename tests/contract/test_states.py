"""Values of a state column: learned again when new ones appear, and never silently missing from the figures."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from qmon.config.config_file import parse_config
from qmon.engines.registry import engine_for
from qmon.model.alerts.target_check import CheckState, check_target
from qmon.model.layout.layout import Layout, StateColumn
from qmon.model.reasons import Reason
from qmon.model.samples.polled_samples import SampleText
from qmon.model.view import QueueView
from qmon.monitor.catalog.catalog import Catalog
from qmon.monitor.catalog.discovery.candidates import discover_queues
from qmon.monitor.catalog.state_values import unexplained_values_text
from qmon.monitor.one_shot import view_after
from tests.cli.calling import call
from tests.contract.tables import qmon_connection
from tests.contract.watching import target_of, watching
from tests.facts import query
from tests.libraries.tables import OBAN_13
from tests.wordings import has

pytestmark = pytest.mark.server

JOBS: Final = (
    "CREATE TABLE job_queue (id bigserial PRIMARY KEY, status {kind} NOT NULL, body text, started_at timestamptz,"
    " created_at timestamptz NOT NULL DEFAULT now(), attempts int NOT NULL DEFAULT 0, filler text DEFAULT 'x')"
)
# By name, the indexes of the table: on every value, on none, or only on the ready rows.
INDEXES: Final = {
    "none": (),
    "state": ("CREATE INDEX ON job_queue (status, id)",),
    "partial": ("CREATE INDEX ON job_queue (id) WHERE status = 'new'",),
}


def made(url: str, indexes: str = "none", kind: str = "text", *, rows: int = 60) -> None:
    """A queue with new and done rows, as ANALYZE saw it while no row was in progress."""
    query(url, JOBS.format(kind=kind))
    for statement in INDEXES[indexes]:
        query(url, statement)
    query(url, f"INSERT INTO job_queue (status) SELECT 'new' FROM generate_series(1, {rows})")
    query(url, f"INSERT INTO job_queue (status) SELECT 'done' FROM generate_series(1, {rows})")
    query(url, "ANALYZE job_queue")


def take(url: str, value: str, rows: int = 50) -> None:
    """Set the state of rows, as of 20 minutes ago."""
    query(
        url,
        f"UPDATE job_queue SET status = '{value}', started_at = now() - interval '20 m'"
        f" WHERE id IN (SELECT id FROM job_queue WHERE status = 'new' ORDER BY id LIMIT {rows})",
    )


@pytest.mark.parametrize("indexes", INDEXES)
def test_a_value_that_appears_later_is_learnt_and_stuck_messages_are_seen(database: str, indexes: str) -> None:
    made(database, indexes)
    with watching(database) as watched:
        before = watched.queue("job_queue", lambda q: q.ready.value == 60)
        assert before.in_progress.value is None, "no value is known to mean in progress"
        take(database, "processing")
        stuck = watched.queue("job_queue", lambda q: q.verdict.code == "stuck in progress", timeout=120)
    assert (stuck.stuck.value, stuck.in_progress.value) == (50, 50)
    assert stuck.layout.state == StateColumn("status", "new", "processing", "done")
    later = watched.views[next(n for n, view in enumerate(watched.views) if shown(view.queues[0])) :]
    assert not any(has(view.queues[0].in_progress.reason, SampleText.UNKNOWN_VALUES) for view in later)


def shown(queue: QueueView) -> bool:
    """Return whether the figure that needed the value is known."""
    return queue.in_progress.value is not None


@pytest.mark.parametrize("indexes", INDEXES)
def test_a_value_without_a_known_meaning_is_named_and_the_queue_is_never_fine(database: str, indexes: str) -> None:
    made(database, indexes)
    query(database, "UPDATE job_queue SET status = 'zombified' WHERE id <= 7")
    with watching(database) as watched:
        queue = watched.queue("job_queue", lambda q: q.verdict.code == "cannot tell" and "zombified" in q.verdict.proof)
        assert has(
            queue.verdict.proof,
            SampleText.UNKNOWN_VALUES,
            rows="7 rows",
            listed="`zombified`",
            more="",
            column="status",
            remedy=SampleText.NAME_STATES,
        )
        assert "`zombified`" in queue.in_progress.reason
        figures = (queue.ready, queue.oldest, queue.stuck, queue.dead, queue.done, queue.pop_rate)
        assert {figure.value for figure in figures} == {None}, "a value without a meaning may mean anything"
        query(database, "INSERT INTO job_queue (status) SELECT 'new' FROM generate_series(1, 9)")
        pushed = watched.queue("job_queue", lambda q: bool(q.push_rate.value))
        assert pushed.pop_rate.value is None, "pushes are counted without the states, pops are not"
        query(database, "UPDATE job_queue SET status = 'done' WHERE status = 'zombified'")
        fine = watched.queue("job_queue", lambda q: "zombified" not in q.verdict.proof, timeout=120)
        assert "zombified" not in fine.in_progress.reason
    query(database, "UPDATE job_queue SET status = 'zombified'")
    assert check_target(view_after(target_of(database), polls=2, interval_s=0.5), []).state is CheckState.UNKNOWN


def test_states_with_several_values_and_states_of_scheduled_messages_are_all_counted(database: str) -> None:
    made(database, "state")
    query(database, "ALTER TABLE job_queue ADD run_at timestamptz, ADD finished_at timestamptz")
    query(
        database,
        "INSERT INTO job_queue (status, run_at, started_at) VALUES ('pending', NULL, NULL), ('retry', NULL, NULL),"
        " ('retry', now() - interval '1 m', NULL), ('retry', now() + interval '1 h', NULL),"
        " ('running', NULL, now()), ('claimed', NULL, now()), ('failed', NULL, NULL), ('expired', NULL, NULL),"
        " ('cancelled', NULL, NULL), ('suspended', NULL, NULL)",
    )
    with watching(database) as watched:
        queue = watched.queue("job_queue", lambda q: q.done.value is not None)
        figures = (queue.ready, queue.scheduled, queue.in_progress, queue.dead, queue.blocked, queue.done)
        assert [figure.value for figure in figures] == [60 + 3, 1, 2, 2, 1, 60 + 1]
        query(database, "INSERT INTO job_queue (status) SELECT 'pending' FROM generate_series(1, 30)")
        query(database, "UPDATE job_queue SET status = 'running', started_at = now() WHERE status = 'new' AND id <= 20")
        moved = watched.queue("job_queue", lambda q: bool(q.push_rate.value and q.pop_rate.value))
        assert moved.pop_rate.at_least
        query(database, "UPDATE job_queue SET status = 'zombified' WHERE id <= 7")
        strange = watched.queue("job_queue", lambda q: "zombified" in q.verdict.proof)
        assert (strange.verdict.code, strange.ready.value, strange.pop_rate.value) == ("cannot tell", None, None)


def test_a_retry_that_appears_later_turns_the_states_into_a_list(database: str) -> None:
    made(database, "state")
    with watching(database) as watched:
        before = watched.queue("job_queue", lambda q: q.ready.value == 60)
        assert before.layout.part is None
        query(database, "UPDATE job_queue SET status = 'retry' WHERE id <= 7")
        after = watched.queue("job_queue", lambda q: q.scheduled.value == 7, timeout=120)
        assert after.ready.value == 53
        between = [queue for view in watched.views[1:] for queue in view.queues if queue.ready.value == 53]
        assert {queue.verdict.code for queue in between} == {"cannot tell"}


def test_several_values_for_done_messages_need_no_list(database: str) -> None:
    made(database, "state")
    query(database, "INSERT INTO job_queue (status) VALUES ('cancelled'), ('skipped'), ('processing')")
    with watching(database) as watched:
        queue = watched.queue("job_queue", lambda q: q.done.value is not None)
    assert queue.layout.state == StateColumn("status", "new", "processing", "done", also_done=("cancelled", "skipped"))
    assert (queue.ready.value, queue.done.value) == (60, 62)


def test_rows_without_a_state_are_not_left_out(database: str) -> None:
    made(database, "state")
    query(database, "ALTER TABLE job_queue ALTER status DROP NOT NULL")
    query(database, "UPDATE job_queue SET status = NULL WHERE id <= 3")
    with watching(database) as watched:
        queue = watched.queue("job_queue", lambda q: q.verdict.code == "cannot tell")
    assert "`NULL`" in queue.verdict.proof


@pytest.mark.parametrize("indexes", INDEXES)
def test_pops_are_not_counted_twice_where_no_value_means_in_progress(database: str, indexes: str) -> None:
    made(database, indexes)
    with watching(database) as watched:
        watched.queue("job_queue", lambda q: q.push_rate.value is not None and q.ready.value is not None)
        query(database, "INSERT INTO job_queue (status) SELECT 'new' FROM generate_series(1, 20)")
        query(database, "UPDATE job_queue SET status = 'done' WHERE status = 'new'")
        queue = watched.queue("job_queue", lambda q: bool(q.push_rate.value))
    assert all(view.queues[0].pop_rate.value is None for view in watched.views)
    reason = Reason.UPDATES_ONLY.render(reason=Reason.NO_PROGRESS_STATE)
    assert (queue.pop_rate.reason, queue.complete_rate.reason) == (reason, reason)


def test_values_that_statistics_lack_are_read_from_the_rows(database: str) -> None:
    made(database)
    take(database, "processing", 3)
    query(database, "UPDATE job_queue SET status = 'failed' WHERE id = 60")
    with qmon_connection(database) as connection:
        (finding,) = discover_queues(Catalog(connection, engine_for(target_of(database))))
    assert finding.layout.state == StateColumn("status", "new", "processing", "done", "failed")


@pytest.mark.parametrize("allowed", ["check", "enum"])
def test_values_that_no_row_has_yet_are_known_from_a_check_or_an_enum(database: str, allowed: str) -> None:
    values = "'new', 'processing', 'done'"
    query(database, f"CREATE TYPE stage AS ENUM ({values})")
    made(database, kind="stage" if allowed == "enum" else f"text CHECK (status IN ({values}))")
    with watching(database) as watched:
        queue = watched.queue("job_queue", lambda q: q.in_progress.value is not None)
    assert queue.in_progress.value == 0


def test_init_leaves_the_states_open_while_none_is_known_to_mean_in_progress(database: str) -> None:
    from qmon.monitor.catalog.proposal import propose_config, read_known_and_found

    made(database)
    with qmon_connection(database) as connection:
        resolved, findings = read_known_and_found(connection, engine_for(target_of(database)), [])
    text = propose_config(database, "t", None, resolved, findings, {}).text
    queues = parse_config(text, Path("qmon.toml")).targets["t"].queues
    assert [queue.state for queue in queues if isinstance(queue, Layout)] == [None]
    take(database, "processing")
    with watching(database, queues) as watched:
        watched.queue("job_queue", lambda q: q.stuck.value == 50)


def test_a_large_table_is_scanned_for_values_that_no_index_leads_to(database: str) -> None:
    made(database, "partial", rows=2000)
    query(database, "UPDATE job_queue SET filler = repeat('x', 1500)")
    query(database, "UPDATE job_queue SET filler = filler || 'y'")
    size = int(str(query(database, "SELECT pg_relation_size('job_queue')")[0][0]))
    assert size > 4 * 1024 * 1024, "too large for discovery to read its rows"
    take(database, "processing")
    with watching(database) as watched:
        queue = watched.queue("job_queue", lambda q: q.stuck.value == 50, timeout=120)
    assert queue.layout.state == StateColumn("status", "new", "processing", "done")


def test_a_library_whose_enum_lacks_a_state_is_watched(database: str) -> None:
    query(database, OBAN_13)
    listed = call("queues", database)
    assert listed.exit_code == 0, listed.stderr
    assert "oban/mails" in listed.stdout
    with watching(database) as watched:
        queue = watched.queue("oban/mails", lambda q: q.done.value is not None)
        assert (queue.ready.value, queue.in_progress.value, queue.done.value) == (2, 1, 1)
        assert not queue.failures


def test_a_configured_state_that_the_enum_lacks_has_no_message(database: str) -> None:
    query(database, "CREATE TYPE stage AS ENUM ('new', 'processing')")
    query(database, "CREATE TABLE jobs (id bigserial PRIMARY KEY, status stage NOT NULL, q text)")
    query(database, "CREATE INDEX ON jobs (status, id)")
    query(database, "INSERT INTO jobs (status, q) VALUES ('new', 'a'), ('processing', 'a'), ('new', 'a')")
    text = '[target.t]\nconnect = "postgresql://h/d"\n[[target.t.queue]]\nname = "jobs"\ntable = "jobs"\nid = "id"\n'
    text += (
        'state = { column = "status", ready = "new", in_progress = "processing", dead = "failed", blocked = "held" }'
    )
    text += "\n"
    for more, name in (("", "jobs"), ('queue = "q"\n', "jobs/a")):
        queues = parse_config(text + more, Path("qmon.toml")).targets["t"].queues
        with watching(database, queues) as watched:
            queue = watched.queue(name, lambda q: q.in_progress.value is not None)
            assert (queue.ready.value, queue.in_progress.value) == (2, 1)
            assert not queue.failures


# The values of a state column, and whether they show how many messages are in progress.
UNEXPLAINED: Final = {
    "none in progress": (("pending", "mothballed"), None),
    "one value per state": (("pending", "running", "mothballed"), 1),
    "list of states": (("pending", "retry", "running", "mothballed"), 1),
}


@pytest.mark.parametrize(("values", "in_progress"), UNEXPLAINED.values(), ids=list(UNEXPLAINED))
def test_init_names_the_values_that_it_cannot_explain(
    values: tuple[str, ...], in_progress: int | None, database: str, tmp_path: Path
) -> None:
    query(database, JOBS.format(kind="text"))
    for value in values:
        query(database, f"INSERT INTO job_queue (status, started_at) VALUES ('{value}', now())")
    place = tmp_path / "shop.toml"
    assert call("init", database, "--config", str(place)).exit_code == 0
    text = place.read_text(encoding="utf-8")
    comments = " ".join(line.removeprefix("# ") for line in text.splitlines() if line.startswith("#"))
    assert unexplained_values_text("status", ["mothballed"]) in " ".join(comments.split())
    (target,) = parse_config(text, place).targets.values()
    with watching(database, target.queues) as watched:
        queue = watched.view(lambda view: bool(view.queues), polls=2).queues[0]
    assert (queue.in_progress.value, queue.verdict.code) == (in_progress, "cannot tell")
