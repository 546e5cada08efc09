"""Statistics that are far from the truth or updated too often, and cases in which neither matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.evidence import QueueEvidence
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.samples.usage_samples import StatisticsSample, UseSample
from qmon.model.verdicts.server_verdicts import STATISTICS, ServerVerdictText
from qmon.monitor.state.target_history import TargetHistory
from tests.unit.polls import COUNTERS, FIFO, fifo, moved, poll
from tests.unit.rule_inputs import FINE
from tests.unit.upkeep import ANALYZED, STALE


def proof(sample: StatisticsSample | None, layout: Layout = FIFO, analyzed: int = 0) -> str | None:
    snapshot = replace(poll(1, 1000.0), statistics=None if sample is None else (sample,))
    queue = QueueEvidence(use=replace(ANALYZED, analyzed=analyzed))
    return STATISTICS.proof(replace(FINE, layout=layout, samples=fifo(COUNTERS), snapshot=snapshot, queue=queue))


def test_the_proof_has_what_plans_believe_what_there_is_and_since_when() -> None:
    said = ServerVerdictText.PLANS_ASSUME.render(
        believed=ServerVerdictText.ROWS.render(rows=12),
        table="public.t",
        rows=40112,
        when=ServerVerdictText.STATISTICS_UPDATED.render(age="10 m 00 s"),
        command="ANALYZE",
    )
    assert proof(STALE) == said
    never = replace(STALE, estimated_rows=None, updated_at=None)
    assert proof(never) == ServerVerdictText.PLANS_ASSUME.render(
        believed=ServerVerdictText.NO_ROWS,
        table="public.t",
        rows=40112,
        when=ServerVerdictText.STATISTICS_NEVER_UPDATED,
        command="ANALYZE",
    )
    gone = replace(STALE, estimated_rows=900_000, rows=40, updated_at=990.0)
    assert proof(gone) == ServerVerdictText.PLANS_ASSUME.render(
        believed=ServerVerdictText.ROWS.render(rows=900000),
        table="public.t",
        rows=40,
        when=ServerVerdictText.STATISTICS_UPDATED.render(age="10 s"),
        command="ANALYZE",
    )


@pytest.mark.parametrize(
    "sample",
    [
        None,
        replace(STALE, table_id=7),
        replace(STALE, rows=9_000),
        replace(STALE, estimated_rows=8_000),
        replace(STALE, modified=0),
    ],
    ids=["not read", "another table", "small", "near enough", "nothing changed"],
)
def test_what_is_no_sign(sample: StatisticsSample | None) -> None:
    assert proof(sample) is None


def test_an_installed_design_is_not_planned_by_statistics() -> None:
    assert proof(STALE, replace(FIFO, routines=(("pop", ObjectName("public", "t_pop")),))) is None


def test_updated_too_often() -> None:
    assert proof(None, analyzed=5) == ServerVerdictText.STATISTICS_UPDATED_OFTEN.render(table="public.t", times=5)
    assert proof(None, analyzed=3) is None


def test_updates_of_the_last_seconds_are_counted_over_polls() -> None:
    history = TargetHistory()
    found = []
    for n in range(20):
        counters = replace(moved(COUNTERS, n, n), analyzes=min(n, 10))
        view = history.record_snapshot(replace(poll(n, 1000.0 + 2 * n, fifo(counters)), uses=(TABLE,)))
        use = view.queues[0].use
        assert use is not None
        found.append(use.analyzed)
    assert found[0] == 0
    assert max(found) == 9
    assert found[-1] == 0


TABLE = UseSample(1, 0, "t", "table", 0, 0, 100, 0, 0, 8192, ghosts=0)
