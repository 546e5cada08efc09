"""On SQL Server a session is proven to hold messages by the rows that it has locked and that cannot be seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from qmon.engines.base import Rows
from qmon.engines.result_records import to_records
from qmon.engines.sql import queries
from qmon.errors import BadInput
from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import Choice, Plan
from qmon.operate.actions.requeue_sessions import _MAX_VISIBLE, RequeueSessionsText, _read_popped_counts
from qmon.operate.sql import Sql
from tests.unit.acting_sqlserver import Server as Replies
from tests.unit.acting_sqlserver import operator

LAYOUT = Layout("orders", "fifo", ObjectName("dbo", "Orders"), id="Id")
CLUSTERED, OTHER = 72057594000000001, 72057594000000002
CONSUMER, PRODUCER = 61, 62
NONE: Mapping[str, object] = {}


class Server:
    """Answers with locks and rows as SQL Server's driver gives them."""

    def __init__(self, locks: list[tuple[int, int, str]], seen: list[str]) -> None:
        self.asked: list[str] = []
        self._rows: dict[str, list[tuple[object, ...]]] = {
            "held_locks": [*locks],
            "seen_locks": [(place,) for place in seen],
            "seen_locks_any": [(place,) for place in seen],
        }

    def has_statement(self, name: str) -> bool:
        return queries.has_query("sqlserver", name, (16, 0))

    def fetch(
        self, record_type: type[Any], name: str, names: Mapping[str, object], values: Mapping[str, object] = NONE
    ) -> list[Any]:
        self.asked.append(name)
        query = queries.load_query("sqlserver", name, (16, 0))
        assert query.names <= names.keys()
        assert set(query.parameters) <= values.keys()
        return to_records(record_type, Rows(query.columns, tuple(self._rows[name.rpartition("/")[2]])))


def taken(layout: Layout, locks: list[tuple[int, int, str]], seen: list[str]) -> dict[int, int]:
    return _read_popped_counts(cast(Sql, Server(locks, seen)), layout)


def test_an_idle_producer_holds_no_message_and_a_consumer_holds_what_it_took() -> None:
    locks = [
        (CONSUMER, CLUSTERED, "(01)"),
        (CONSUMER, CLUSTERED, "(02)"),
        (CONSUMER, OTHER, "(a1)"),
        (CONSUMER, OTHER, "(a2)"),
        (PRODUCER, CLUSTERED, "(03)"),
        (PRODUCER, OTHER, "(a3)"),
    ]
    assert taken(LAYOUT, locks, ["(03)", "(04)"]) == {CONSUMER: 2, PRODUCER: 0}
    assert taken(LAYOUT, locks, ["(a3)", "(a4)"]) == {CONSUMER: 2, PRODUCER: 0}, "whichever index the server reads"


@pytest.mark.parametrize(
    "layout", [replace(LAYOUT, design="heap", id=None), replace(LAYOUT, design="pending", due_at="DueTime")]
)
def test_where_pushed_rows_may_be_anywhere_all_must_have_been_seen(layout: Layout) -> None:
    locks = [(PRODUCER, CLUSTERED, "1:104:7")]
    assert taken(layout, locks, [f"1:104:{slot}" for slot in range(10, 20)]) == {PRODUCER: 1}
    assert taken(layout, locks, [f"1:104:{slot}" for slot in range(10, 10 + _MAX_VISIBLE)]) == {}


def test_who_has_locked_more_than_is_compared_is_proven_to_hold_nothing() -> None:
    locks = [(PRODUCER, CLUSTERED, f"({n})") for n in range(_MAX_VISIBLE)]
    assert taken(LAYOUT, locks, ["(1)"]) == {}


HOLDER = (CONSUMER, 7, 8, 3600.0, "anna", "mailer", "idle in transaction", "", 2, 0)
SESSION = (CONSUMER, 7, 8, "client backend", "shop", "anna", "mailer", "h", "idle in transaction", 9.0, 9.0, "", True)
RIGHTS: list[tuple[object, ...]] = [("anna", 51, True, "")]


def requeue(**rows: list[tuple[object, ...]]) -> Plan:
    more: dict[str, list[tuple[object, ...]]] = {
        "operations_access": [(True, True, False)],
        "rights": RIGHTS,
        "hidden_rows": [(True,)],
        **rows,
    }
    return operator(Replies(**more)).requeue(LAYOUT, Choice()).plan


def test_with_optimized_locking_a_requeue_says_why_no_session_is_proven_to_hold_messages() -> None:
    with pytest.raises(BadInput) as caught:
        requeue(holders=[HOLDER])
    assert str(caught.value) == RequeueSessionsText.HOLDERS_HIDDEN
    plan = requeue(holders=[HOLDER], hidden_rows=[(False,)])
    assert plan.refused == RequeueSessionsText.NONE_CHOSEN.render(transactions="1 transaction", queue="orders")


def test_with_optimized_locking_a_queue_without_an_old_transaction_has_nothing_to_requeue() -> None:
    none = RequeueSessionsText.NO_TRANSACTION.render(queue="orders", duration="5 m 00 s")
    assert requeue().refused == none
    young = (*HOLDER[:3], 1.0, *HOLDER[4:])
    assert requeue(holders=[young]).refused == none


def test_a_login_that_sees_no_other_session_gets_the_right_that_it_lacks() -> None:
    grant = "GRANT VIEW SERVER STATE TO [anna]"
    plan = requeue(holders=[HOLDER], rights=[("anna", 51, False, grant)])
    assert plan.refused == RequeueSessionsText.UNSEEN.render(role="anna", grant=grant)


@pytest.mark.parametrize("hidden", [True, False])
def test_with_optimized_locking_a_plan_says_that_other_sessions_may_hold_messages(hidden: bool) -> None:
    session = (*SESSION, 2, True, "", 0, None)
    found = requeue(
        holders=[HOLDER], hidden_rows=[(hidden,)], held_locks=[(CONSUMER, CLUSTERED, "(01)")], session=[session]
    )
    assert (found.count, found.refused) == (1, None)
    assert (RequeueSessionsText.OTHERS_HIDDEN in found.risks) == hidden
