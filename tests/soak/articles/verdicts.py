"""qmon's verdicts on the problems that the articles warn of, each provoked on its own server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.laboratory import locks, messages, target, upkeep
from tests.laboratory.case import Case, Outcome
from tests.laboratory.laboratory import laboratory
from tests.soak.articles.claim import HOLDS, Row

_ALL: Final = (*locks.CASES, *messages.CASES, *target.CASES, *upkeep.CASES)
BESIDE: Final = tuple(
    next(case for case in _ALL if case.verdict == verdict)
    for verdict in ("everything locked", "delivered twice", "deadlocks", "statistics")
)
# Verdicts on problems that need more processors than some machines have: not an error if they cannot be provoked.
MACHINE: Final = frozenset({"latch-bound"})


def rows(version: str, bin_dir: Path | None) -> Iterator[Row]:
    """Inject each problem, and yield qmon's verdict."""
    with laboratory(BESIDE, ("fifo",), bin_dir=bin_dir) as lab:
        yield from (
            _row(version, case, outcome) for case, outcome in zip(BESIDE, lab.run(BESIDE, again=True), strict=True)
        )
    with laboratory(target.CROWDED, (), bin_dir=bin_dir) as lab:
        yield from (_row(version, case, lab.one(case)) for case in target.CROWDED)


def _row(version: str, case: Case, outcome: Outcome) -> Row:
    told = (
        version,
        "Verdicts",
        f"{case.verdict}: {case.cause}, on {case.design}",
        "make soak ARGS='--articles --verdicts'",
    )
    if outcome.named_after_s is None:
        reason = f"not provoked on this machine: {'; '.join(outcome.faults)}"
        return Row(*told, f"said {outcome.said}: {outcome.proof}", reason, broken=case.verdict not in MACHINE)
    figure = f"said after {outcome.named_after_s:.0f} s: {outcome.proof}"
    return Row(*told, figure, HOLDS if not outcome.faults else f"holds otherwise: {'; '.join(outcome.faults)}")
