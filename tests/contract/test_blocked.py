"""A configured value of the state column means that messages are blocked."""

from __future__ import annotations

from typing import Final

from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.reasons import Reason
from qmon.monitor.catalog.access_paths import IndexText
from tests.contract.watching import watching
from tests.facts import query

TABLE: Final = """
CREATE TABLE orders (id bigserial PRIMARY KEY, status text NOT NULL, body text);
CREATE INDEX ON orders (status, id);
INSERT INTO orders (status) SELECT 'on hold' FROM generate_series(1, 7);
INSERT INTO orders (status) SELECT 'done' FROM generate_series(1, 3);
ANALYZE orders;
"""
STATE: Final = StateColumn("status", "new", "working", "done", blocked="on hold")
ORDERS: Final = Layout("orders", "status", ObjectName("public", "orders"), id="id", state=STATE)


def test_blocked_messages_are_counted_along_an_index_and_are_neither_done_nor_nothing(database: str) -> None:
    query(database, TABLE)
    with watching(database, [ORDERS]) as watched:
        queue = watched.queue("orders", lambda queue: queue.done.value is not None)
        assert (queue.ready.value, queue.blocked.value, queue.done.value) == (0, 7, 3)
        assert queue.blocked_oldest.reason == Reason.NO_BLOCKED_TIME
        assert queue.verdict.code == "blocked"
        query(database, "UPDATE orders SET status = 'done' WHERE status = 'on hold' RETURNING id")
        queue = watched.queue("orders", lambda queue: queue.verdict.code == "empty")
        assert queue.blocked.value == 0


def test_without_an_index_their_number_is_unknown_and_the_queue_is_not_called_empty(database: str) -> None:
    query(database, TABLE)
    query(database, "DROP INDEX orders_status_id_idx")
    with watching(database, [ORDERS]) as watched:
        queue = watched.queue("orders", lambda queue: queue.ready.value == 0)
        assert queue.blocked.value is None
        wanted = Reason.NO_INDEX_FOR_BLOCKED.render(
            index=IndexText.INDEX_WOULD_HELP.render(
                column="id", where=IndexText.WHERE.render(column="status", value="on hold")
            )
        )
        assert queue.blocked.reason == wanted
        assert queue.verdict.code == "cannot tell"
        assert wanted in queue.verdict.proof
