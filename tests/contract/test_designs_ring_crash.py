"""The ring when the server itself crashes, and when a transaction is prepared: on a server of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.layout.layout import Layout
from tests.contract.hammer import Hammer
from tests.facts import connected, query, wait_until
from tests.queues import call, made, opened, run


@pytest.fixture
def own() -> Iterator[EmbeddedServer]:
    with EmbeddedServer(settings={"max_prepared_transactions": "5"}) as server:
        server.create_database("crash")
        yield server


def mend(url: str, layout: Layout) -> bool:
    """Repair the ring as a script would; return whether all pushed messages have been popped."""
    with opened(url) as connection:
        call(connection, layout, "repair", "0, 200")
    missing = "SELECT message FROM ledger_pushed EXCEPT SELECT message FROM ledger_popped"
    return query(url, missing) == []


def ahead(url: str) -> tuple[int, int] | None:
    """Return the last push number and the number of logged numbers after it, which a crash skips; ``None`` if few."""
    ((drawn, logged),) = query(url, "SELECT last_value, log_cnt FROM orders_push_seq")
    return (int(str(drawn)), int(str(logged))) if int(str(logged)) > 8 else None


def test_a_crash_makes_the_sequences_jump_and_loses_no_message(own: EmbeddedServer) -> None:
    url = own.url("crash")
    layout = made(url, "ring", ring_size=20)
    hammer = Hammer(url, layout)
    try:
        hammer.start("producer", 2)
        hammer.start("consumer", 2)
        wait_until(lambda: hammer.popped() > 100)
        numbers = wait_until(lambda: ahead(url))
        assert numbers is not None
        own.kill()
        hammer.end()
        own.start()
        jumped = int(str(query(url, "SELECT last_value FROM orders_push_seq")[0][0]))
        assert jumped >= sum(numbers)  # numbers that were never drawn and will never be pushed
        hammer.start("consumer", 4)
        hammer.start("producer", 2, limit=200)
        wait_until(
            lambda: mend(url, layout) and not hammer.busy("producer"), 60, what="everything is pushed and popped"
        )
        hammer.stop()
    finally:
        hammer.close()
    assert query(url, "SELECT message FROM ledger_popped GROUP BY message HAVING count(*) > 1") == []
    assert query(url, "SELECT message FROM ledger_popped EXCEPT SELECT message FROM ledger_pushed") == []


def test_a_prepared_transaction_may_still_commit_its_number(own: EmbeddedServer) -> None:
    url = own.url("crash")
    layout = made(url, "ring", ring_size=4)
    with connected(url) as raw, opened(url) as connection:
        raw.execute("BEGIN")
        raw.execute("SELECT orders_push('m1')")
        call(connection, layout, "push", "'m2'")
        # The consumer knows the drawing transaction by its name before it was prepared.
        assert call(connection, layout, "pop", "50") == ()
        raw.execute("PREPARE TRANSACTION 'slow'")
        assert call(connection, layout, "pop", "50") == ()
        assert call(connection, layout, "fill_hole", "1, 50") == ((False,),)
        raw.execute("COMMIT PREPARED 'slow'")
        assert call(connection, layout, "pop", "50") == ((1, "m1"),)
        assert call(connection, layout, "pop", "50") == ((2, "m2"),)
        assert run(connection, "SELECT count(*) FROM orders WHERE message_id IS NOT NULL") == ((0,),)
