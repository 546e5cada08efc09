"""The long form of the laboratory: causes injected repeatedly, calm minutes, and forecasts of current runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.laboratory import slow, upkeep
from tests.laboratory.case import Outcome
from tests.laboratory.confusion import as_json, table
from tests.laboratory.foretold import foretold, summary
from tests.laboratory.healthy import calm
from tests.laboratory.laboratory import laboratory
from tests.laboratory.record import record
from tests.laboratory.runs import RUNS
from tests.laboratory.together import WITNESSES, alone, crowd, patient, queues, whole
from tests.laboratory.troubles import troubles

_FORETOLD_S: Final = 190.0
# Approximate seconds between two starts of qmon in the calm minutes.
_STARTS_S: Final = 1_200.0


def long_form(rounds: int, calm_s: float, file: Path | None) -> Iterator[str]:
    """Yield each part's results for the terminal. ``file``: where the confusion table is also written as JSON.

    Raises ``AssertionError`` with all faults.
    """
    if calm_s:
        found = calm(calm_s, starts=max(1, round(calm_s / _STARTS_S)))
        assert not found.false, str(found)
        yield str(found)
    runs = [foretold(run) for run in record(RUNS, _FORETOLD_S)]
    assert sum(each.held for each in runs) >= 0.9 * len(runs), summary(runs)
    yield summary(runs)
    if rounds:
        yield confused(rounds, file)
        yield named_late()


def named_late() -> str:
    """Inject causes that only show against the last minutes, next to each other for half an hour."""
    with laboratory(slow.CASES, WITNESSES[:1]) as lab:
        outcomes = [*lab.run(slow.CASES), *lab.undisturbed()]
    assert not any(each.faults for each in outcomes), table(outcomes)
    return table(outcomes)


def troubled() -> Iterator[str]:
    """Inject the troubles of an engineer on call on one server next to busy loops."""
    outcomes, line = troubles()
    assert not any(each.faults for each in outcomes), f"{table(outcomes)}\n{line}"
    yield table(outcomes)
    yield line


def confused(rounds: int, file: Path | None) -> str:
    """Inject every cause this number of times, each round on one server. Return the confusion table."""
    outcomes: list[Outcome] = []
    for _ in range(rounds):
        outcomes += [*queues(more=upkeep.CASES), *patient(), *whole(), *alone(), *crowd()]
    if file is not None:
        file.write_text(as_json(outcomes) + "\n")
    assert not any(each.faults for each in outcomes), table(outcomes)
    return table(outcomes)
