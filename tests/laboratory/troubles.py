"""The troubles of an engineer on call, all on one server next to busy loops, with all other verdicts compared with SQL.

The long form only: ``make soak ARGS=--troubles``.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Final

from qmon.model.baseline_bands import Baseline
from qmon.model.verdicts import HEALTHY
from tests.contract.watching import UsualFigures
from tests.facts import wait_until
from tests.laboratory import consumers, locks, messages, slow, target
from tests.laboratory.case import FINE, Case, Outcome
from tests.laboratory.laboratory import Laboratory, laboratory
from tests.laboratory.sql_facts import SqlFacts

# More than most machines have processors.
BUSY_LOOPS: Final = 4
CAUSES: Final = (
    "consumers crash in a loop",
    "poison among healthy messages",
    "slow consumers deployed",
    "alter table waits",
    "inserts fail",
    "pushes rolled back",
    "deadlocks",
    "same message pushed again and again",
    "clock of a producer wrong",
    "messages due in five hours",
)
_BY_CAUSE: Final = {
    case.cause: case
    for cases in (consumers.CASES, messages.CASES, locks.CASES, slow.CASES, target.CASES)
    for case in cases
}
CASES: Final[tuple[Case, ...]] = tuple(_BY_CAUSE[cause] for cause in CAUSES)
WITNESSES: Final = ("status", "ring", "batch_fast")
# This queue has a backlog by day, and consumers drain it each night.
NIGHTLY: Final = "witness_status"
# Longer than the hold times of all verdicts on queues that do not move, with their readings.
_BACKLOG_S: Final = 60.0


def _nightly() -> UsualFigures:
    """Return usual figures of a queue that has a backlog in every hour but one of each day, and is not popped then."""
    ready = {hour: Baseline(0.0 if hour % 24 == _night_hour() else 2000.0, 0.0, 9) for hour in range(168)}
    pops = {hour: Baseline(10.0 if hour % 24 == _night_hour() else 0.0, 0.0, 9) for hour in range(168)}
    return {NIGHTLY: {"ready": ready, "pop_rate": pops}}


def _night_hour() -> int:
    """Return an hour of the day that is far from now."""
    return (datetime.now(UTC).hour + 12) % 24


@contextlib.contextmanager
def busy_loops() -> Iterator[None]:
    """Keep processors busy until the end of the block."""
    with contextlib.ExitStack() as stack:
        for _ in range(BUSY_LOOPS):
            loop = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(loop.kill)
        yield


def filled_by_day(lab: Laboratory) -> Outcome:
    """Let a backlog grow that is usual at this hour: no verdict."""
    began = lab.watched.views[-1].sampled_at
    lab.load.change_members(NIGHTLY, "consumer", rate=0.0)
    wait_until(lambda: lab.watched.views[-1].sampled_at - began >= _BACKLOG_S, 2 * _BACKLOG_S, what="a backlog")
    shown = lab.watched.views[-1].queue(NIGHTLY)
    assert shown is not None
    lab.load.change_members(NIGHTLY, "consumer", rate=60.0)
    said = {code for view in lab.since(began) for code in lab.verdicts(view, NIGHTLY)}
    faults = [f"said {code}" for code in sorted(said - FINE)]
    faults += [] if (shown.ready.value or 0) > 100 else [f"only {shown.ready.text()} ready"]
    return Outcome("drained every night", HEALTHY, shown.verdict.code, shown.verdict.proof, faults=tuple(faults))


def troubles() -> tuple[list[Outcome], str]:
    """Inject all causes on one server next to busy loops; exhaust its sessions at the end.

    Returns the outcomes, and a line with the number of polls and of verdicts that were not injected.
    """
    with busy_loops(), laboratory(CASES, WITNESSES, usual=_nightly()) as lab:
        facts = SqlFacts(lab.url, lab.layouts)
        lab.contradiction = facts.contradiction
        with facts.reading(), ThreadPoolExecutor(1) as pool:
            night = pool.submit(filled_by_day, lab)
            outcomes = [*lab.run(CASES), night.result(), *lab.undisturbed(), target.exhausted(lab)]
        polls = len(lab.watched.views) - lab.began
        others = Counter(
            f"{case.cause}: {code}"
            for case in CASES
            for view in lab.watched.views[lab.began :]
            for code in lab.verdicts(view, case.queue)
            if code not in FINE | {case.verdict}
        )
    told = ", ".join(f"{name} {count}" for name, count in others.most_common()) or "none"
    return outcomes, f"{polls} polls next to {BUSY_LOOPS} busy loops; other verdicts on the queues with causes: {told}"
