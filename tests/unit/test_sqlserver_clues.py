"""Typed rows of SQL Server lead to the verdicts about single messages: given back repeatedly, lost by a ring."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.model.layout.layout import Layout, ObjectName, Ring, StateColumn
from qmon.model.layout.table_facts import TableFacts
from qmon.model.snapshot import ProbeFailure
from qmon.model.verdicts.message_verdicts import MessageVerdictText
from qmon.model.view import View
from qmon.monitor.catalog.catalog import Catalog, SequenceRows, TableRow
from qmon.monitor.catalog.resolve import SPARE_SUFFIX, Resolved, ResolveText, _Resolver
from qmon.monitor.poll.collector import Collector
from qmon.monitor.source import ReadScope
from qmon.operate.install import object_names
from tests.replayed import BIG, Driver, Idle, Rows, answering, connection
from tests.unit.sqlserver_queues import FIFO, SEEKS, TABLE, T, watched

POISON = "poison message at the head"
FLAG = Layout("flag", "flag", T, id="Id", state=StateColumn("Done", 0, None, 1))
RING = Layout(
    "ring",
    "ring",
    T,
    enqueued_at="At",
    ring=Ring(1000, ObjectName("dbo", "Push"), ObjectName("dbo", "Pop"), slot="Slot", turn="Turn"),
)
SLOTS = TableFacts(
    14, push_sequence_id=22, pop_sequence_id=23, indexes=SEEKS, spare_id=15, spare=ObjectName("dbo", "Orders_spare")
)


def proofs(view: View) -> dict[str, str]:
    return {verdict.code: verdict.proof for verdict in view.queues[0].verdicts}


def heads(ids: Callable[[int], str | None], mark: Callable[[int], str], held: Callable[[int], bool]) -> dict[str, Rows]:
    """Return rows of a queue whose head has this id and is locked by this transaction, while unseen rows are held."""

    def head(poll: int) -> tuple[Mapping[str, object], ...]:
        return ({"head_id": ids(poll), "counted": 0 if ids(poll) is None else 3},)

    def tried(poll: int) -> tuple[Mapping[str, object], ...]:
        return () if ids(poll) is None else ({"id": ids(poll), "attempts": None, "mark": "(head)", "error": None},)

    def locks(poll: int) -> tuple[Mapping[str, object], ...]:
        of: dict[str, object] = {"table_id": 12, "index_id": 2, "name": "IX", "locks": 1}
        away = ({**of, "xid": "700", "taken": True, "place": "(away)"},) if held(poll) else ()
        return away if mark(poll) == "0" else (*away, {**of, "xid": mark(poll), "taken": False, "place": "(head)"})

    def unseen(poll: int) -> tuple[Mapping[str, object], ...]:
        return ({"place": "(away)", "keys": 1},)

    return {
        **dict.fromkeys(("probe/head", "probe/head_state"), head),
        **dict.fromkeys(("probe/tried", "probe/tried_state"), tried),
        **dict.fromkeys(("probe/unseen", "probe/unseen_state"), unseen),
        "probe/locks": locks,
        "probe/depth": lambda poll: (),
    }


@pytest.mark.parametrize("layout", [FIFO, FLAG], ids=["deletes", "marks"])
def test_a_message_that_is_away_and_there_again_is_poison(layout: Layout) -> None:
    def ids(poll: int) -> str:
        return str(BIG) if poll % 3 else str(BIG + 1)

    told = proofs(watched(layout, TABLE, heads(ids, lambda _: "0", lambda poll: not poll % 3), 14)[-1])
    assert told[POISON] == MessageVerdictText.GIVEN_BACK.render(message=BIG, failures=4, time="13 s", tries="")


def test_a_message_that_one_transaction_after_the_other_locks_is_poison() -> None:
    marks = ["0", "0", str(BIG), "0", str(BIG + 1), str(BIG + 2), "0", "0", "0", "0", "0"]
    told = proofs(watched(FIFO, TABLE, heads(lambda _: "7", marks.__getitem__, lambda _: False), 10)[-1])
    assert told[POISON] == MessageVerdictText.GIVEN_BACK.render(message="7", failures=3, time="9.0 s", tries="")


def test_the_only_message_of_a_queue_is_seen_to_come_back() -> None:
    def ids(poll: int) -> str | None:
        return "7" if poll % 2 else None

    told = proofs(watched(FIFO, TABLE, heads(ids, lambda _: "0", lambda poll: poll % 2 == 0), 11)[-1])
    assert told[POISON] == MessageVerdictText.GIVEN_BACK.render(message="7", failures=5, time="10 s", tries="")


@pytest.mark.parametrize(
    "ids",
    [
        pytest.param(lambda poll: str(100 + poll), id="every poll another head"),
        pytest.param(lambda poll: "7" if poll % 2 else "5", id="an older one was given back before it"),
        pytest.param(lambda poll: "7", id="the same head all the time"),
        pytest.param(lambda poll: "x7" if poll % 2 else "x8", id="ids without an order that is known"),
    ],
)
def test_what_may_be_a_healthy_queue_is_no_poison(ids: Callable[[int], str]) -> None:
    told = proofs(watched(FIFO, TABLE, heads(ids, lambda _: "0", lambda _: True), 12)[-1])
    # Of 5 and 7, it is 5 that returns.
    assert "message 7" not in told.get(POISON, "")
    assert POISON not in told or ids(2) == "5"


def test_a_message_that_has_gone_for_good_is_not_said_any_longer() -> None:
    def ids(poll: int) -> str:
        return "9" if poll > 8 else "7" if poll % 2 else "8"

    rows = heads(ids, lambda _: "0", lambda poll: poll < 8)
    views = watched(FIFO, TABLE, rows, 12)
    assert POISON in proofs(views[7])
    assert POISON not in proofs(views[-1])


def sweeps(hole: int | None, orphan: int | None) -> dict[str, Rows]:
    row: Mapping[str, object] = {
        "from_slot": 0,
        "push_last": BIG + 9,
        "pop_last": BIG + 5,
        "holes": int(hole is not None),
        "hole": hole,
        "orphans": int(orphan is not None),
        "orphan": orphan,
        "orphan_s": None if orphan is None else 40.5,
    }
    return {"probe/slot_sweep": lambda poll: (row,)}


def test_what_a_ring_has_lost_is_said() -> None:
    told = proofs(watched(RING, SLOTS, sweeps(BIG + 1, BIG + 2), 8)[-1])
    assert told["ring hole"].startswith(MessageVerdictText.NUMBER_WITHOUT_MESSAGE.render(number=BIG + 1, age="7.0 s"))
    assert told["ring orphans"] == MessageVerdictText.ORPHANS.render(
        count=MessageVerdictText.ONE_MESSAGE,
        number=BIG + 2,
        age=MessageVerdictText.PUSHED.render(age="40 s"),
        swept="",
        waits="",
    )
    assert not {"ring hole", "ring orphans"} & proofs(watched(RING, SLOTS, sweeps(None, None), 8)[-1]).keys()
    assert "ring hole" not in proofs(watched(RING, SLOTS, sweeps(BIG + 6, None), 8)[-1]), "no consumer has drawn it yet"


def test_without_the_spare_numbers_nothing_is_called_lost() -> None:
    driver = Driver(answering(sweeps(BIG + 1, None)))
    collector = Collector("shop", SqlServer(), connection(driver, (16, 0)), Idle())
    collector.watch_queues(
        Resolved((RING,), {"ring": TableFacts(14, push_sequence_id=22, pop_sequence_id=23, indexes=SEEKS)})
    )
    assert collector.collect(1, 1.0, ReadScope()).queues[0].diagnostics.sweep is None
    assert "probe/slot_sweep" not in driver.asked


def test_the_spare_numbers_are_where_installing_puts_them() -> None:
    assert object_names.object_name("orders", "spare") == "orders" + SPARE_SUFFIX
    assert SLOTS.object_ids == (14, 22, 23, 15)


class Catalogued(Driver):
    """Reports our identity."""

    def answer(self, text: str) -> tuple[tuple[str, ...], Sequence[tuple[object, ...]]]:
        return (("role", "database"), [("watcher", "shop")]) if "catalog/role" in text else super().answer(text)


def test_the_table_of_spare_numbers_is_found_where_it_is_and_its_right_is_named_where_that_is_missing() -> None:
    at = Catalog(connection(Catalogued(), (16, 0)), SqlServer())
    ring = TableRow(14, "dbo", "Orders", True, True, 1000, 30)
    spare = replace(ring, table_id=15, table_name="Orders_spare")
    plain = replace(SLOTS, spare_id=None, spare=None)

    def facts(layout: Layout, *tables: TableRow) -> tuple[TableFacts, list[ProbeFailure]]:
        work = _Resolver(at, [ring, *tables], SequenceRows(), ())
        return work._with_spare_table(layout, ring, plain), work.problems

    assert facts(RING, spare) == (SLOTS, [])
    assert facts(RING, replace(spare, table_schema="other")) == (plain, [])
    assert facts(FIFO, spare) == (plain, [])
    found, (problem,) = facts(RING, replace(spare, readable=False))
    assert found == plain
    assert (problem.queue, problem.reason) == (
        "ring",
        ResolveText.NO_SLOT_SWEEP.render(table="dbo.Orders_spare"),
    )
    assert problem.grant == "GRANT SELECT ON OBJECT::[dbo].[Orders_spare] TO [watcher]"
