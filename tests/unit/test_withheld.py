"""A reading that covers only part of the sessions or the work is unknown in the snapshot of either engine."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.rates.flow import Flow
from qmon.model.reasons import Reason
from qmon.model.samples.horizon_samples import HorizonSample
from qmon.model.samples.polled_samples import CounterSample, HeadSample, ServerSample, StrangeStates, WaitSample
from qmon.model.samples.wait_samples import WaitSource, WaitTotals
from qmon.model.snapshot import SESSIONS_PROBE, QueueSamples, Snapshot
from qmon.monitor.poll.withheld_samples import (
    VisibilityText,
    columns_of_layout,
    withhold_masked,
    withhold_partial,
    withhold_strange,
)
from qmon.monitor.state.rates.standing_counters import StandingCounters
from tests.wordings import has

GRANT = "GRANT VIEW SERVER STATE TO [me]"
FIFO = Layout("f", "fifo", ObjectName("p", "f"), id="id")
STATUS = replace(FIFO, queue="s", design="status", state=StateColumn("st", 1, 2))
COUNTERS = CounterSample(1, 100, 50, 40, 0, 10, 0, 190, 0, 0, 8192)


def holder(kind: str, held_s: float | None, age: int = 5) -> HorizonSample:
    return HorizonSample(
        kind, 61 if kind == "session" else 0, "", "700", age, held_s, None, "", None, "", "", "", "", ""
    )


def snapshot(engine: str = "sqlserver", **server: object) -> Snapshot:
    known = ServerSample(1000.0, 500.0, None, False, 5, 100, 0, 0)
    return Snapshot(
        "t",
        engine,
        "16.0",
        1,
        1000.0,
        1000.0,
        3.0,
        1.5,
        10,
        2.0,
        replace(known, **server),  # type: ignore[arg-type]
        queues=(QueueSamples(FIFO, counters=COUNTERS),),
        waits=(),
        horizon=(),
        waits_total=WaitTotals(WaitSource.SAMPLED, 0.0, 9.0, ()),
    )


@pytest.mark.parametrize("engine", ["postgres", "sqlserver"])
def test_a_role_that_sees_its_own_sessions_alone_gives_no_waits_and_no_horizon(engine: str) -> None:
    found = withhold_partial(snapshot(engine, sees_sessions=False), GRANT)
    assert (found.waits, found.waits_total, found.horizon) == (None, None, None)
    (failure,) = found.failures
    assert (failure.probe, failure.grant) == (SESSIONS_PROBE, GRANT)


def test_what_is_seen_whole_stays() -> None:
    whole = replace(snapshot(), waits=(WaitSample("Lock", "LCK_M_X", 1),))
    assert withhold_partial(whole, GRANT) is whole


@pytest.mark.parametrize(
    ("held", "known"),
    [
        ((), True),
        ((holder("session", 2.0),), True),
        ((holder("slot", None),), True),
        ((holder("session", None),), False),
        ((holder("session", None, age=50_000),), True),
    ],
)
def test_a_session_without_times_leaves_open_who_holds_the_horizon(
    held: tuple[HorizonSample, ...], known: bool
) -> None:
    found = withhold_partial(replace(snapshot(untracked=2), horizon=held), GRANT)
    assert (found.horizon is not None) is known
    assert has(found.failures[0].reason, VisibilityText.UNTRACKED)
    assert found.waits == ()


def test_a_long_holder_is_a_finding_even_among_a_part() -> None:
    held = (holder("prepared", 900.0),)
    assert withhold_partial(replace(snapshot(sees_sessions=False), horizon=held), GRANT).horizon == held


def test_without_track_counts_there_are_no_rates() -> None:
    (queue,) = withhold_partial(snapshot("postgres", counts=False), GRANT).queues
    assert queue.unknown["rates"] == Reason.COUNTERS_OFF
    assert queue.counters is not None
    assert not queue.counters.counted


def seen(
    head: str | None, ready: int, last_id: int | None, *, layout: Layout = FIFO, **counters: int | None
) -> QueueSamples:
    return QueueSamples(
        layout,
        counters=replace(COUNTERS, **counters),  # type: ignore[arg-type]
        head=HeadSample(head, 1.0, ready),
        head_limit=1001,
        last_id=last_id,
    )


NO_FLOW = Flow(0.0, 0.0, 0.0, 0.0)


def flow_between(before: QueueSamples | None, now: QueueSamples) -> Flow | None:
    """Return the flow that the counters show."""
    if before is None or before.counters is None or now.counters is None:
        return None
    pushed = now.counters.inserted - before.counters.inserted
    updated, deleted = now.counters.updated - before.counters.updated, now.counters.deleted - before.counters.deleted
    popped = deleted if now.layout.state is None else updated
    return Flow(float(pushed), float(popped), None, float(pushed - popped))


MOVES = {
    "nothing moves": ([seen("7", 5, 20)] * 3, (False, False)),
    "the head is popped": ([seen("7", 5, 20), seen("8", 4, 20)], (False, True)),
    "a message is pushed": ([seen("7", 5, 20), seen("7", 6, 21)], (True, False)),
    "one is pushed for each that is popped": ([seen("7", 5, 20), seen("8", 5, 21)], (True, True)),
    "all pass between two polls": ([seen(None, 0, 20), seen(None, 0, 44)], (True, True)),
    "four are pushed and one is popped behind a head that stays": ([seen("7", 4, 20), seen("7", 7, 24)], (True, True)),
    "ids are drawn, and none comes": ([seen("7", 5, 20), seen("7", 5, 44)], (False, False)),
    "pops are counted": ([seen("7", 5, 20), seen("8", 4, 20, deleted=41)], (False, False)),
    "pushes are counted, pops are not": ([seen("7", 5, 20), seen("8", 5, 21, inserted=101)], (False, True)),
    "pops are counted late": ([seen("7", 5, 20), seen("8", 4, 20), seen("8", 4, 20, deleted=41)], (False, False)),
    "completions are counted, pops are not": (
        [seen("7", 5, 20, layout=STATUS), seen("9", 3, 20, layout=STATUS, deleted=44)],
        (False, True),
    ),
    "pops are counted after completions": (
        [
            seen("7", 5, 20, layout=STATUS),
            seen("9", 3, 20, layout=STATUS, deleted=44),
            seen("9", 3, 20, layout=STATUS, deleted=46, updated=52),
        ],
        (False, False),
    ),
    "a new row is at the head, and pops alone are counted": (
        [seen("7", 3, 20, layout=STATUS), seen("21", 3, 23, layout=STATUS, updated=53)],
        (True, False),
    ),
    "a message becomes due": (
        [seen("7", 5, 20, layout=replace(FIFO, due_at="due")), seen("3", 6, 20, layout=replace(FIFO, due_at="due"))],
        (False, False),
    ),
    "the server counts, not the sessions": (
        [seen("7", 5, 20, modified_since_analyze=None), seen("8", 4, 20, modified_since_analyze=None)],
        (False, False),
    ),
}


@pytest.mark.parametrize("case", MOVES)
def test_rows_that_move_without_their_counters_contradict_the_rate(case: str) -> None:
    polls, wanted = MOVES[case]
    track = StandingCounters()
    before = None
    for number, queue in enumerate(polls):
        track.record_poll(queue, 1000.0 + number, flow_between(before, queue))
        before = queue
    assert (track.pushes, track.pops) == wanted


def test_rows_that_moved_long_ago_contradict_nothing() -> None:
    track = StandingCounters()
    for at, head in ((1000.0, "7"), (1001.0, "8"), (1030.0, "8")):
        track.record_poll(seen(head, 5, 20), at, NO_FLOW)
    assert not track.pops


def test_rows_that_moved_before_the_last_seconds_contradict_only_the_longer_rate() -> None:
    track = StandingCounters()
    found = []
    for at, head in ((1000.0, "7"), (1001.0, "8"), (1005.0, "8"), (1008.0, "8")):
        track.record_poll(seen(head, 5, 20), at, NO_FLOW)
        found.append((track.pops, track.pops_lately))
    assert found == [(False, False), (True, True), (True, True), (True, False)]


def test_a_table_whose_pushes_are_not_counted_may_be_popped_uncounted_whenever_ids_are_issued() -> None:
    track = StandingCounters()
    found = []
    for at, ready, last_id in ((1000.0, 5, 20), (1001.0, 6, 21), (1060.0, 6, 21), (1061.0, 6, 24), (1070.0, 6, 24)):
        track.record_poll(seen("7", ready, last_id), at, NO_FLOW)
        found.append(track.pops_lately)
    assert found == [False, False, False, True, False]


def test_counters_prove_no_rate_of_0_before_the_rows_are_shown_or_counted() -> None:
    track, shown = StandingCounters(), seen("7", 5, 20)
    unseen = replace(shown, head=None)
    counting = replace(unseen, counting=0.4)
    assert [track.is_proof_missing(each) for each in (unseen, counting, shown)] == [False, True, True]
    track.record_poll(shown, 1000.0, None)
    assert [track.is_proof_missing(each) for each in (unseen, counting, shown)] == [False, False, False]


def test_messages_in_unknown_states_list_the_figures_that_they_hide_and_masks_have_their_own_reason() -> None:
    strange = StrangeStates("st", ("7",), 3)
    found = withhold_strange(QueueSamples(STATUS, strange=strange), all_listed=True)
    assert found.strange is not None
    assert found.strange.hides == ("dead",), "the layout names no state for dead messages"
    assert found.unknown["dead"] == strange.text
    assert [found.depends_on_strange(figure) for figure in ("dead", "ready")] == [True, False]
    learnt = replace(STATUS, started_at="taken", state=StateColumn("st", 1, 2, learnt=True))
    columns = columns_of_layout(learnt, "id")
    guessed = withhold_strange(QueueSamples(learnt, strange=strange), all_listed=True)
    masked = withhold_masked(guessed, {("f", "taken"): "GRANT UNMASK"}, columns)
    assert [each.depends_on_strange("stuck") for each in (guessed, masked)] == [True, False]
    assert masked.unknown["stuck"] == Reason.MASKED.render(column="taken", grant="GRANT UNMASK")
    older = replace(found, strange=strange)
    assert [older.depends_on_strange(figure) for figure in ("dead", "ready")] == [True, False], "a recording"
