"""Pages that sessions contend for: their table and index, and conditions that are no sign of contention."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.evidence import QueueEvidence, TargetEvidence
from qmon.model.figure import Figure
from qmon.model.rates.queue_use import IndexUse, QueueUse
from qmon.model.samples.wait_samples import LatchSample, WaitSource
from qmon.model.verdicts.server_verdicts import LATCH, ServerVerdictText
from qmon.model.waits.wait_rates import Waiting, WaitRate
from tests.unit.polls import COUNTERS, FIFO, fifo, poll
from tests.unit.rule_inputs import FINE
from tests.wordings import has

ONE = LatchSample(21, "BufferContent", None, 1, None, "", "producer", "INSERT INTO t VALUES ('x')")
SEEN = tuple(replace(ONE, session=21 + n) for n in range(5))
WAITING = Waiting(
    WaitSource.SAMPLED, 4.0, 16, (WaitRate("LWLock", "BufferContent", 13.2, 0.55), WaitRate("", "", 10.8, 0.45))
)
TABLE = IndexUse("t", "table", 8192, 0.0, 0, 0.0, 0.0, 900.0, None, None, None)
PARTS = (
    TABLE,
    replace(TABLE, name="t_state", role="index", pages=10.0, id=8),
    replace(TABLE, name="t_pkey", role="primary", pages=1_200.0, id=9),
)
USE = QueueUse(Figure(1.0), Figure(4.0), None, Figure(0.0), 0, (), PARTS)


def proof(
    seen: tuple[LatchSample, ...] | None, waiting: Waiting | None = WAITING, use: QueueUse | None = USE
) -> str | None:
    snapshot = replace(poll(1, 1000.0), latches=seen)
    signs = replace(
        FINE,
        layout=FIFO,
        samples=fifo(COUNTERS),
        snapshot=snapshot,
        target=TargetEvidence(waiting=waiting),
        queue=QueueEvidence(use=use),
    )
    return LATCH.proof(signs)


def test_the_indexes_stand_in_the_order_of_what_is_touched_most() -> None:
    def said(place: str) -> str:
        return ServerVerdictText.PAGES_WAIT.render(sessions=13.2, busy=24.0, place=place, names="LWLock:BufferContent")

    assert proof(SEEN) == said(
        ServerVerdictText.TABLE_OR_INDEXES.render(table="public.t", plural="es", names="t_pkey, t_state")
    )
    assert proof(SEEN, use=replace(USE, parts=(TABLE, PARTS[2]))) == (
        said(ServerVerdictText.TABLE_OR_INDEXES.render(table="public.t", plural="", names="t_pkey"))
    )
    assert proof(SEEN, use=None) == said("public.t")


def test_where_the_server_tells_index_and_page_they_are_named() -> None:
    counted = Waiting(WaitSource.COUNTED, 4.0, None, (WaitRate("wait", "PAGELATCH_EX", 3.0, 0.9, 900.0, 0.003),))
    told = tuple(replace(each, index_id=9, page="1:4711") for each in SEEN)
    assert proof(told, counted) == (
        ServerVerdictText.PAGES_WAIT.render(
            sessions=3.0,
            busy=3.0,
            place=ServerVerdictText.INDEX.render(index="t_pkey", table="public.t")
            + ServerVerdictText.MOST_FOR.render(page="1:4711"),
            names="PAGELATCH_EX",
        )
    )
    heap = tuple(replace(each, index_id=0, page="1:8088 (PFS)") for each in SEEN)
    assert has(
        proof(heap, counted) or "",
        ServerVerdictText.PAGES_WAIT,
        place="public.t" + ServerVerdictText.MOST_FOR.render(page="1:8088 (PFS)"),
    )


# Rows of SQL Server: they contain the page but not its table.
UNTOLD = tuple(replace(each, table_id=None, index_id=None, page="1:4711") for each in SEEN)
LATCHED = (replace(TABLE, latch_waits=50.0), replace(PARTS[2], latch_waits=700.0, sequential=False))


@pytest.mark.parametrize(
    ("sequential", "key"),
    [
        (False, ServerVerdictText.SEQUENTIAL_KEY.render(state="off")),
        (True, ServerVerdictText.SEQUENTIAL_KEY.render(state="on")),
        (None, ""),
    ],
)
def test_a_server_that_tells_no_table_is_believed_by_its_counters(sequential: bool | None, key: str) -> None:
    counted = Waiting(WaitSource.COUNTED, 4.0, None, (WaitRate("wait", "PAGELATCH_EX", 3.0, 0.9, 1_000.0, 0.003),))
    parts = (LATCHED[0], replace(LATCHED[1], sequential=sequential))
    assert proof(UNTOLD, counted, replace(USE, parts=parts)) == (
        ServerVerdictText.PAGES_WAIT.render(
            sessions=3.0,
            busy=3.0,
            place=ServerVerdictText.HOT_PLACE.render(
                place=ServerVerdictText.INDEX.render(index="t_pkey", table="public.t"),
                share="70 %",
                page=ServerVerdictText.MOST_FOR_PAGE.render(page="1:4711"),
                sequential=key,
            ),
            names="PAGELATCH_EX",
        )
    )
    named = tuple(replace(each, table_id=SEEN[0].table_id, index_id=9) for each in UNTOLD[:3])
    assert proof((*named, *UNTOLD[3:]), counted, replace(USE, parts=parts)) == (
        ServerVerdictText.PAGES_WAIT.render(
            sessions=3.0,
            busy=3.0,
            place=ServerVerdictText.INDEX.render(index="t_pkey", table="public.t")
            + ServerVerdictText.MOST_FOR.render(page="1:4711")
            + key,
            names="PAGELATCH_EX",
        )
    ), "most sessions wait for a page that was read"
    elsewhere = tuple(replace(each, table_id=7) for each in named)
    assert proof((*elsewhere, *UNTOLD[3:]), counted, replace(USE, parts=parts)) is None
    others = tuple(replace(part, latch_waits=200.0) for part in parts)
    assert proof(UNTOLD, counted, replace(USE, parts=others)) is None
    assert proof(UNTOLD, counted, None) is None


@pytest.mark.parametrize(
    ("seen", "waiting"),
    [
        (None, WAITING),
        ((), WAITING),
        (SEEN, None),
        (tuple(replace(each, table_id=7) for each in SEEN), WAITING),
        (tuple(replace(each, table_id=None) for each in SEEN), WAITING),
        (SEEN, replace(WAITING, rates=(WaitRate("LWLock", "BufferContent", 1.0, 1.0),))),
        (SEEN, replace(WAITING, rates=(WaitRate("LWLock", "BufferContent", 3.0, 0.2), WaitRate("", "", 12.0, 0.8)))),
    ],
    ids=["not read", "nobody", "no waits", "another table", "no table", "few", "most do something else"],
)
def test_what_is_no_sign(seen: tuple[LatchSample, ...] | None, waiting: Waiting | None) -> None:
    assert proof(seen, waiting) is None
