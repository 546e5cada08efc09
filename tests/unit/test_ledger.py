"""The ledger of the gap: its parts add up, and none is invented."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from qmon.model.figure import Figure
from qmon.model.gap_ledger import (
    IN_FLIGHT,
    ORPHANED,
    POPPED_SKIPPED,
    POPPED_UNCLEAR,
    READY,
    SKIPPED,
    UNCLEAR,
    Ledger,
    LedgerPart,
    ring_ledger,
    span_ledger,
)
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.samples.message_samples import DrawerSample, MessageDiagnostics
from qmon.model.samples.polled_samples import RingSample
from qmon.model.snapshot import QueueSamples
from qmon.model.view import QueueView
from qmon.monitor.state.ring_tracks import LedgerTrack
from qmon.tui.queue.queue_panel import ledger_lines
from tests.tui.scripted import twelve

NONE = Figure.unknown("none")
COUNT = st.integers(0, 5_000)


@st.composite
def rings(draw: st.DrawFn) -> tuple[RingSample, dict[str, int]]:
    """Return a ring made number by number, and the kind of each number."""
    pop_last = draw(st.integers(0, 60))
    kinds = draw(st.lists(st.sampled_from(["message", "nothing"]), max_size=60))
    behind = draw(st.lists(st.sampled_from(["popped", "held", "nothing", "early"]), max_size=30))
    early = min(behind.count("early"), pop_last) if not kinds else 0
    behind = [kind for kind in behind if kind != "early"][: pop_last - early]
    push_last = pop_last + len(kinds) - early
    without, waiting = kinds.count("nothing"), behind.count("nothing")
    ring = RingSample(push_last, pop_last, without, without, waiting + early, behind.count("held"), None)
    return ring, {"message": kinds.count("message"), "held": behind.count("held"), "nothing": without + waiting}


@given(rings(), st.booleans())
def test_a_rings_parts_are_what_its_numbers_are(made: tuple[RingSample, dict[str, int]], settled: bool) -> None:
    ring, truth = made
    ledger = ring_ledger(ring, no_open_pushes=settled)
    assert ledger.count_for(READY) == truth["message"]
    assert ledger.count_for(IN_FLIGHT) == truth["held"]
    assert ledger.count_for(SKIPPED if settled else UNCLEAR) == truth["nothing"]
    assert ledger.count_for(UNCLEAR if settled else SKIPPED) is None
    assert ledger.total == sum(truth.values())
    if not ring.pop_waiting and not ring.pop_held and ring.push_last >= ring.pop_last:
        assert ledger.total == ring.push_last - ring.pop_last


@given(rings(), st.integers(0, 40))
def test_orphans_are_no_longer_in_flight(made: tuple[RingSample, dict[str, int]], orphans: int) -> None:
    ring, truth = made
    ledger = ring_ledger(ring, orphans)
    assert ledger.count_for(ORPHANED) == orphans
    assert (ledger.count_for(IN_FLIGHT) or 0) + orphans == max(truth["held"], orphans)


@given(COUNT, COUNT, COUNT, st.booleans(), st.booleans())
def test_a_span_is_the_sum_of_its_parts(span: int, ready: int, held: int, estimated: bool, settled: bool) -> None:
    ledger = span_ledger(span, ready, held, estimated=estimated, no_open_pushes=settled)
    assert ledger.total == span
    assert all(part.count >= 0 for part in ledger.parts)
    if ready + held <= span:
        counts = (ready, held, span - ready - held)
        assert tuple(part.count for part in ledger.parts) == counts
    assert ledger.parts[-1].name == (POPPED_SKIPPED if settled else POPPED_UNCLEAR)


@given(st.integers(-5, 1000), st.integers(-5, 1000), st.integers(0, 50), st.integers(0, 50), st.integers(0, 50))
def test_whatever_a_ring_says_no_part_is_negative(push: int, pop: int, ahead: int, waiting: int, held: int) -> None:
    ledger = ring_ledger(RingSample(push, pop, ahead, ahead, waiting, held, None))
    assert all(part.count >= 0 for part in ledger.parts)
    assert ledger.total == sum(part.count for part in ledger.parts)


def ring_at(push_last: int, drawers: tuple[DrawerSample, ...] | None) -> QueueSamples:
    """Return a ring in which two numbers have no message."""
    layout = Layout("orders", "ring", ObjectName("public", "orders"))
    ring = RingSample(push_last, 10, 2, 2, 0, 0, None)
    return QueueSamples(layout, ring=ring, diagnostics=MessageDiagnostics(push_drawers=drawers))


def test_what_has_no_message_is_skipped_once_nobody_can_push_it() -> None:
    busy = (DrawerSample(1, 7, "shop", "active", 0.1),)
    track, told = LedgerTrack(), []
    polls = [(20, busy), (20, ()), (20, ()), (20, busy), (21, ()), (22, ()), (22, None), (22, ()), (22, ())]
    for push_last, drawers in polls:
        ledger = track.record_poll(ring_at(push_last, drawers), NONE, None, NONE, 0, unbroken=True)
        assert ledger is not None
        assert ledger.total == push_last - 10
        told.append(ledger.count_for(SKIPPED))
    assert told == [None, None, 2, 2, None, None, 2, None, 2]
    again = track.record_poll(ring_at(22, ()), NONE, None, NONE, 0, unbroken=False)
    assert again is not None
    assert again.count_for(UNCLEAR) == 2


def test_without_a_count_there_is_no_ledger() -> None:
    q = QueueSamples(Layout("orders", "fifo", ObjectName("public", "orders")), last_id=9)
    track = LedgerTrack()

    def told(ready: Figure, held: int | None) -> Ledger | None:
        return track.record_poll(q, ready, held, Figure(9.0), 0, unbroken=True)

    assert told(NONE, 0) is None
    assert told(Figure(1000.0, at_least=True), 0) is None
    assert told(Figure(5.0), None) is None
    assert told(Figure(5.0), 1) == Ledger(
        (LedgerPart(READY, 5), LedgerPart(IN_FLIGHT, 1), LedgerPart(POPPED_UNCLEAR, 3))
    )


def shown(queue: QueueView, ledger: Ledger, cells: int = 40) -> list[str]:
    return ["".join(text for text, _ in line) for line in ledger_lines(replace(queue, ledger=ledger), cells)]


def test_the_panel_has_a_line_for_each_part_and_the_sum() -> None:
    queue = twelve()[0]
    assert ledger_lines(queue, 36) == []
    lines = shown(queue, span_ledger(12_440, 12_431, 8))
    assert [line.split()[-1] for line in lines[1:]] == ["12,431", "8", "1", "12,440"]
    assert {len(line) for line in lines[1:]} == {40}
    lines = shown(queue, span_ledger(12_440, 12_000, 8, estimated=True))
    assert [line.split()[-1] for line in lines[1:]] == ["~12,000", "8", "~432", "12,440"]


def test_a_long_name_is_broken_and_its_count_stands_in_its_last_line() -> None:
    lines = shown(twelve()[0], span_ledger(12_440, 12_431, 8), 36)
    *first, last = POPPED_UNCLEAR.split(" ")
    assert lines[3:5] == [" ".join(first), f"{last}{'1':>{36 - len(last)}}"]
