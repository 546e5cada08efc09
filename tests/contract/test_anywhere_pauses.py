"""Pauses and gates, on every engine and in every design."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.engines.base import Connection
from qmon.errors import QueryFailed
from qmon.model.layout.layout import ObjectName
from qmon.model.operation_records import Side
from qmon.operate.actions.gate import GateText
from qmon.operate.actions.pause_check import PauseCheckText
from qmon.operate.operator import Operator
from tests.contract.anywhere import Place, execute
from tests.contract.anywhere_acting import finished
from tests.contract.anywhere_tables import JOB, JOBS
from tests.contract.operating import YES, applied
from tests.contract.watching import watching
from tests.queues import DESIGNS
from tests.wordings import has


def test_paused_producers_are_told_and_refused_until_they_may_go_on(
    place: Place, operator: Operator, connection: Connection
) -> None:
    layout = place.made("naive")
    with watching(place.url) as watched:
        place.push(connection, layout, 1)
        applied(operator.pause(layout, Side.PRODUCERS, for_s=600))
        with pytest.raises(QueryFailed, match="paused"):
            place.push(connection, layout, 1)
        assert [pause.queue for pause in operator.read_pauses()] == ["naive"]
        watched.queue("naive", lambda q: any(verdict.code == "paused" for verdict in q.verdicts))
        applied(operator.resume(layout, Side.PRODUCERS))
        place.push(connection, layout, 1)
        applied(operator.pause(layout, Side.CONSUMERS, for_s=600))
        with pytest.raises(QueryFailed, match="paused"):
            place.pop(connection, layout)
        applied(operator.resume(layout, Side.CONSUMERS))
        assert place.pop(connection, layout) is not None
        assert operator.read_pauses() == ()


def test_both_sides_of_every_design_are_paused_and_go_on(
    place: Place, operator: Operator, connection: Connection, *, whole: bool
) -> None:
    for design in DESIGNS if whole else ("status", "heap", "ring_subscribers"):
        layout = place.made(design)
        place.push(connection, layout, 1)
        for side in Side:
            # Values that are watched for seconds elsewhere are read once here.
            done = operator.pause(layout, side, for_s=600).apply(YES, lambda now: None, lambda: True)
            assert finished(done) == 1, design
            with pytest.raises(QueryFailed, match="paused"):
                if side is Side.PRODUCERS:
                    place.push(connection, layout, 1)
                else:
                    place.pop(connection, layout)
            assert [pause.side for pause in operator.read_pauses()] == [side], design
            assert finished(applied(operator.resume(layout, side))) == 1, design
        assert place.popped(connection, layout) == ["m0"], design


def test_a_gate_on_a_table_of_somebody_else_refuses_inserts_while_a_pause_lasts(
    place: Place, operator: Operator, connection: Connection
) -> None:
    layout = replace(JOB, table=ObjectName(place.schema, "jobs"))
    place.run(JOBS)

    def insert(number: int) -> None:
        execute(connection, f"INSERT INTO jobs VALUES ({number}, 1, 0, 'x')")

    assert finished(applied(operator.install_gate(layout))) == 1
    insert(1)
    done = applied(operator.pause(layout, Side.PRODUCERS, for_s=600))
    assert has(done.notes, PauseCheckText.REFUSED)
    with pytest.raises(QueryFailed, match="paused"):
        insert(2)
    assert [(pause.way, pause.about) for pause in operator.read_pauses()] == [("gate", str(layout.table))]
    assert finished(applied(operator.resume(layout, Side.PRODUCERS))) == 1
    insert(3)
    assert finished(applied(operator.remove_gate(layout))) == 1
    assert has(str(operator.remove_gate(layout).plan.refused), GateText.NO_GATE)
    insert(4)
    assert place.ask("SELECT id FROM jobs ORDER BY id") == ((1,), (3,), (4,))
