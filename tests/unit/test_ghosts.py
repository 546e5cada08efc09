"""Ghost records on SQL Server: rates by index, and the verdict on pops that step over many of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from qmon.model.evidence import Ghosts, QueueEvidence, TargetEvidence
from qmon.model.figure import Figure
from qmon.model.rates.queue_use import IndexUse, QueueUse
from qmon.model.verdicts.server_verdicts import CLEANUP_BEHIND, HORIZON, ServerVerdictText
from qmon.model.view import View
from qmon.tui.waits import usage_panel, waits_panel
from qmon.tui.waits.waits_panel import WaitsText
from tests.unit.polls import poll
from tests.unit.rule_inputs import FINE
from tests.unit.sqlserver_queues import FIFO, TABLE, watched
from tests.unit.upkeep import HOLDER, STORE

pytestmark = pytest.mark.unit

SECONDS = 16
INDEX = IndexUse("t", "table", 8192, 0.0, None, 0.0, None, None, None, None, None, ghosted=40.0)
USE = QueueUse(Figure(1.0), Figure(4.0), None, Figure(0.0), None, (), (INDEX, replace(INDEX, ghosted=10.0)))
MANY = Ghosts(20_000.0, 60.0)
SEEN = replace(FINE, pop_rate=Figure(40.0), recent_pop_rate=Figure(40.0), queue=QueueEvidence(use=USE))


def proof(ghosts: Ghosts | None, use: QueueUse | None = USE, pops: Figure | None = None) -> str | None:
    rates = {} if pops is None else {"pop_rate": pops, "recent_pop_rate": pops}
    given = replace(SEEN, target=TargetEvidence(ghosts=ghosts), queue=QueueEvidence(use=use), **rates)  # type: ignore[arg-type]
    return CLEANUP_BEHIND.proof(given)


def test_many_ghosts_for_each_popped_message_are_said_with_both_figures() -> None:
    assert proof(MANY) == (
        ServerVerdictText.GHOSTS_SKIPPED.render(
            rate=20000, each=ServerVerdictText.PER_POPPED_MESSAGE.render(rows=500), made=50
        )
    )


def test_nothing_is_said_without_one_of_the_figures() -> None:
    unknown = replace(USE, parts=(replace(INDEX, ghosted=None),))
    assert proof(None) is None, "the server's counter"
    assert proof(MANY, use=None) is None
    assert proof(MANY, use=unknown) is None, "the counters of its indexes"
    assert proof(MANY, use=replace(USE, parts=(replace(INDEX, ghosted=0.0),))) is None, "it deletes nothing"
    assert proof(MANY, pops=Figure.unknown("not read")) is None
    given = replace(SEEN, target=TargetEvidence(ghosts=MANY), pop_rate=Figure(0.0), recent_pop_rate=Figure(0.0))
    assert CLEANUP_BEHIND.proof(replace(given, ready=Figure(0.0))) is None, "an idle queue"


def test_pops_that_have_stopped_behind_ghosts_are_said() -> None:
    given = replace(SEEN, target=TargetEvidence(ghosts=MANY), pop_rate=Figure(0.0), recent_pop_rate=Figure(0.0))
    assert CLEANUP_BEHIND.proof(replace(given, ready=Figure(400.0))) == (
        ServerVerdictText.GHOSTS_SKIPPED.render(rate=20000, each=ServerVerdictText.NO_MESSAGE_POPPED, made=50)
    )


def test_nothing_is_said_of_few_ghosts_or_of_those_of_others() -> None:
    assert proof(Ghosts(1_999.0, 50.0)) is None, "fewer than 50 per popped message"
    assert proof(Ghosts(2_000.0, 50.0)) is not None
    assert proof(Ghosts(900.0, 50.0), pops=Figure(1.0)) is None, "qmon's own scans may be all of them"
    assert proof(Ghosts(20_000.0, 101.0)) is None, "another queue makes most of them"


def test_who_keeps_them_is_said_instead_where_somebody_does() -> None:
    snapshot = replace(poll(1, 1000.0), engine="sqlserver", horizon=(HOLDER,), version_store=STORE)
    small = replace(snapshot, version_store=replace(STORE, bytes=0))
    given = replace(SEEN, target=TargetEvidence(ghosts=MANY), snapshot=small)
    held = HORIZON.proof(given)
    assert held is not None
    assert held.endswith(f": {CLEANUP_BEHIND.proof(given)}")
    assert CLEANUP_BEHIND.code in HORIZON.explains
    assert HORIZON.proof(replace(given, target=TargetEvidence())) is None


def seen(counted: Mapping[str, int], server: Mapping[str, int]) -> View:
    """Return polls at 10 pops per second.

    ``counted``: the growth of the table's counters per poll; ``server``: the server's.
    """

    def table(poll: int) -> tuple[Mapping[str, object], ...]:
        own = {"inserted": 10 * poll, "updated": 0, "deleted": 10 * poll, "live": 500, "files": 7, "partitions": 1}
        known = {"table_id": TABLE.table_id, "altered": 5, "called": "dbo.Orders", "readable": True, **own}
        grown: dict[str, object] = {"ghosted": None} | {name: by * poll for name, by in counted.items()}
        return ({**known, **grown, "index_id": 0, "role": "table"}, {**known, **grown, "index_id": 2, "role": "index"})

    def counters(poll: int) -> tuple[Mapping[str, object], ...]:
        grown: dict[str, object] = {"ghosts_skipped": None} | {name: by * poll for name, by in server.items()}
        return ({"deadlocks": 0, **grown},)

    rows = {
        "probe/table_counters": table,
        "probe/server_counters": counters,
        "probe/server": lambda n: ({"now_at": 1.75e9 + n, "started_at": 1.7e9, "stats_reset_at": None},),
        "probe/horizon": lambda _: (),
    }
    return watched(FIFO, TABLE, rows, SECONDS)[-1]


def test_rates_of_ghosts_are_shown_by_index_and_for_the_server() -> None:
    view = seen({"ghosted": 25}, {"ghosts_skipped": 9_000})
    (queue,) = view.queues
    assert queue.use is not None
    assert [part.ghosted for part in queue.use.parts] == [25.0, 25.0]
    heading, *_, last = ["".join(part for part, _ in line) for line in usage_panel.usage_lines(queue, 200, 9)]
    assert last[heading.index("GHOST/s") :].split()[0] == "25.0"
    assert f"{WaitsText.GHOSTS_SKIPPED} 9,000" in "".join(
        piece for line in waits_panel.counter_lines(view, 200) for piece, _ in line
    )
    assert {each.code: each.proof for each in queue.verdicts}["cleanup behind"] == (
        ServerVerdictText.GHOSTS_SKIPPED.render(
            rate=9000, each=ServerVerdictText.PER_POPPED_MESSAGE.render(rows=900), made=50
        )
    )


@pytest.mark.parametrize(("counted", "server"), [({}, {"ghosts_skipped": 9_000}), ({"ghosted": 25}, {})])
def test_rows_of_the_server_without_one_of_the_counters_raise_nothing(
    counted: Mapping[str, int], server: Mapping[str, int]
) -> None:
    (queue,) = seen(counted, server).queues
    assert "cleanup behind" not in {each.code for each in queue.verdicts}
