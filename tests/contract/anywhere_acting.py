"""Helpers for tests of actions on either engine: results, plans of repairs, and the rows of a queue."""

from __future__ import annotations

from pathlib import Path

from qmon.model.layout.layout import Layout, ObjectName
from qmon.model.operation_records import OperationResult, OperationState
from qmon.operate.actions.ring_repair import prepare_repair
from qmon.operate.actions.ring_scan import MIN_AGE_S
from qmon.operate.run.running_operation import PreparedAction
from tests.contract.anywhere import Place, Row, rows
from tests.facts import wait_until


def every_row(place: Place, layout: Layout) -> list[str]:
    """Return every row of the queue in no order."""
    names = [layout.table, *([] if layout.data_table is None else [layout.data_table])]
    found: list[Row] = []
    for name in names:
        found += place.ask(f"SELECT * FROM {place.engine.quote(name.parts)}")
    return sorted(map(repr, found))


def finished(result: OperationResult) -> int:
    """Return how many messages an operation changed; check that it finished and skipped none."""
    assert (result.state, result.skipped, result.changed, result.refused) == (OperationState.DONE, 0, 0, 0), result
    return result.done


def planned(place: Place, folder: Path, layout: Layout, count: int) -> PreparedAction:
    """Return the plan of a repair, once ``count`` slots have not moved for long enough."""
    found: list[PreparedAction] = []

    def ready() -> bool:
        found.append(prepare_repair(place.context(folder), layout))
        return found[-1].plan.count == count

    wait_until(ready, MIN_AGE_S + 20, what="the slots have not moved for a second")
    return found[-1]


def draw(place: Place, sequence: ObjectName, times: int) -> None:
    """Take numbers from a sequence in a session that then ends."""
    quoted = place.engine.quote(sequence.parts)
    text = f"SELECT NEXT VALUE FOR {quoted}" if place.sqlserver else f"SELECT nextval({place.engine.literal(quoted)})"
    with place.opened() as connection:
        for _ in range(times):
            rows(connection, f"{text} AS number")
