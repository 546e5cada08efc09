"""Actions while producers are paused: undo and repair still work, and producers are still refused."""

from __future__ import annotations

from pathlib import Path

import pyodbc
import pytest

from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import Choice, OperationState, OwnerState, Side
from qmon.operate.operator import Operator
from tests.contract.operating import applied, desk_at
from tests.facts import query
from tests.queues import made

FOREIGN = Layout("mails", "fifo", ObjectName("public", "mails"), id="id", payload="body")


def test_a_purge_is_undone_while_the_gate_of_a_foreign_table_is_shut(database: str, tmp_path: Path) -> None:
    query(database, "CREATE TABLE mails (id bigserial PRIMARY KEY, body text)")
    query(database, "INSERT INTO mails (body) SELECT 'mail ' || i FROM generate_series(1, 300) AS i")
    operator = Operator(desk_at(database, tmp_path))
    assert applied(operator.install_gate(FOREIGN)).state is OperationState.DONE
    purged = applied(operator.purge(FOREIGN, Choice(state="ready")))
    assert purged.done == 300
    assert applied(operator.pause(FOREIGN, Side.PRODUCERS, for_s=120)).done == 1
    with pytest.raises(pyodbc.Error, match="QM001"):
        query(database, "INSERT INTO mails (body) VALUES ('late')")
    undone = applied(operator.undo(purged.operation))
    assert (undone.state, undone.done, undone.changed) == (OperationState.DONE, 300, 0)
    assert query(database, "SELECT count(*), min(body) FROM mails") == [(300, "mail 1")]
    with pytest.raises(pyodbc.Error, match="QM001"):
        query(database, "INSERT INTO mails (body) VALUES ('later')")
    assert applied(operator.resume(FOREIGN, Side.PRODUCERS)).done == 1
    query(database, "INSERT INTO mails (body) VALUES ('at last')")


def test_purge_requeue_and_their_undo_go_on_while_producers_and_consumers_are_paused(
    database: str, tmp_path: Path
) -> None:
    layout = made(database, "batch_split")
    query(database, "SELECT orders_push('m') FROM generate_series(1, 40)")
    query(database, "SELECT * FROM orders_pop_batch(10)")
    query(database, "UPDATE orders SET started_at = now() - interval '1 hour' WHERE status = 1")
    before = query(database, "SELECT CAST(o AS text) FROM orders AS o ORDER BY 1")
    operator = Operator(desk_at(database, tmp_path))
    for side in Side:
        assert applied(operator.pause(layout, side, for_s=120)).done == 1
    assert {pause.side for pause in operator.read_pauses()} == set(Side)
    owners = frozenset(OwnerState)
    requeued = applied(operator.requeue(layout, Choice(owner_states=owners)))
    purged = applied(operator.purge(layout, Choice(ids=tuple(map(str, range(26, 41))))))
    assert (requeued.done, purged.done) == (10, 15)
    assert applied(operator.undo(purged.operation)).done == 15
    assert applied(operator.undo(requeued.operation)).done == 10
    assert query(database, "SELECT CAST(o AS text) FROM orders AS o ORDER BY 1") == before
    assert query(database, "SELECT count(*) FROM orders_data") == [(40,)]
