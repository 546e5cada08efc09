"""Random tables, changed between plan and apply: no message is lost or doubled, and no other row is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.contract.hostile import run

# Seeds whose tables find most faults: partitions, triggers, policies, rows that reuse a place, a kill.
SEEDS: Final = (1, 3, 4, 5, 6, 10, 11, 23, 26, 125)


def test_no_message_is_lost_or_doubled_and_none_beyond_the_plan_is_touched(database: str, tmp_path: Path) -> None:
    """The long form is ``make soak ARGS=--hostile``; each seed draws the same table there."""
    count = run(database, tmp_path, SEEDS)
    assert count.faults == []
    assert (count.tables, count.kills > 0, count.done > 0) == (len(SEEDS), True, True)
