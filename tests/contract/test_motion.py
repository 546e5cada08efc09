"""A queue whose rates the server does not show: healthy only while its head moves."""

from __future__ import annotations

from importlib import import_module

import pytest

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.verdicts.flow_verdicts import FlowText
from tests.contract.watching import said_at_once, watching
from tests.facts import query
from tests.wordings import has

# Partitioned by its state, so that the server's counters do not show pops.
MADE = """
    CREATE TABLE jobs (id bigserial, status text NOT NULL, at timestamptz DEFAULT now(), PRIMARY KEY (id, status))
        PARTITION BY LIST (status);
    CREATE TABLE jobs_ready PARTITION OF jobs FOR VALUES IN ('ready');
    CREATE TABLE jobs_rest PARTITION OF jobs DEFAULT;
    CREATE INDEX ON jobs (status, id);
    INSERT INTO jobs (status) SELECT 'ready' FROM generate_series(1, 240)"""
JOBS = Layout(
    "jobs",
    "status",
    ObjectName("public", "jobs"),
    id="id",
    state=StateColumn("status", "ready", "working"),
    enqueued_at="at",
)


def test_it_is_never_healthy_while_nothing_is_seen_to_move_and_has_no_pops_in_the_end(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    query(database, MADE)
    said_at_once(monkeypatch)
    for name in ("flow_verdicts", "judge"):
        monkeypatch.setattr(import_module(f"qmon.model.verdicts.{name}"), "STILL_S", 2.0)
    with watching(database, [JOBS]) as watched:
        proof = watched.queue("jobs", lambda q: q.verdict.code == "no pops").verdict.proof
        assert has(proof, FlowText.HEAD_STILL, ready=240.0, which=FlowText.MESSAGE.render(message=1))
        codes = {q.verdict.code for view in watched.views if (q := view.queue("jobs")) is not None}
        assert codes <= {"cannot tell", "no pops"}
        query(database, "DELETE FROM jobs WHERE id = 1")
        watched.queue("jobs", lambda q: q.verdict.code == "healthy")
        query(database, "INSERT INTO jobs (status) SELECT 'ready' FROM generate_series(1, 9)")
        proof = watched.queue("jobs", lambda q: q.verdict.code == "no pops").verdict.proof
        assert has(proof, FlowText.HEAD_STILL, which=FlowText.MESSAGE.render(message=2))
