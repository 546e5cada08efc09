"""Turns the verdicts of polls into incidents. Runs of warnings or worse that are close together are one incident.

The pipeline's report uses the same rule (``qmon.pipeline.rollup.incident_rollup``), so both show the same incidents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from qmon.model.figure import Severity

# If a verdict of the queue is raised within this many seconds after the previous verdict ended, both belong to one
# incident.
JOIN_WITHIN_S: Final = 120.0


@dataclass(slots=True)
class Run:
    """Consecutive polls with the same verdict of severity warning or higher. Times are seconds since the epoch.

    ``began_at``: time of the first evidence, before the verdict was raised.
    """

    code: str
    severity: int
    proof: str
    first_at: float
    last_at: float
    began_at: float
    polls: int = 1


@dataclass(frozen=True, slots=True)
class Incident:
    """One or more runs that are close together. ``began_at``: time of the first evidence. ``first_at``: first verdict.

    ``cause``: the worst verdict. If several verdicts are equally bad, ``cause`` is the most frequent of these verdicts.
    ``proof``: the first proof of the verdict in ``cause``.
    """

    began_at: float
    first_at: float
    last_at: float
    severity: Severity
    cause: str
    proof: str


class RunCollector:
    """Collects the runs of one queue, poll by poll."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self._open_run: Run | None = None

    def record_verdict(self, at: float, code: str, severity: int, proof: str, since_at: float | None) -> None:
        """Record the verdict of one poll. ``since_at``: time of its first evidence, if known."""
        now = self._open_run
        if severity < Severity.WARNING:
            self._open_run = None
        elif now is not None and now.code == code and 0 <= at - now.last_at <= JOIN_WITHIN_S:
            now.last_at, now.polls, now.severity = at, now.polls + 1, max(now.severity, severity)
        else:
            began_at = at if since_at is None else min(at, since_at)
            self._open_run = Run(code, severity, proof, at, at, began_at)
            self.runs.append(self._open_run)


def incidents_from_runs(runs: Iterable[Run]) -> tuple[Incident, ...]:
    """Join runs into incidents, in chronological order."""
    stretches: list[list[Run]] = []
    until = float("-inf")
    for run in sorted(runs, key=lambda run: (run.first_at, run.last_at)):
        if run.first_at - until > JOIN_WITHIN_S:
            stretches.append([])
        stretches[-1].append(run)
        until = max(until, run.last_at)
    return tuple(map(_incident_from_runs, stretches))


def _incident_from_runs(stretch: list[Run]) -> Incident:
    polls: Counter[str] = Counter()
    worst: dict[str, int] = {}
    for run in stretch:
        polls[run.code] += run.polls
        worst[run.code] = max(worst.get(run.code, 0), run.severity)
    cause = min(polls, key=lambda code: (-worst[code], -polls[code], code))
    proof = next(run.proof for run in stretch if run.code == cause)
    last_at = max(run.last_at for run in stretch)
    began_at = min(run.began_at for run in stretch)
    return Incident(
        began_at, stretch[0].first_at, last_at, Severity(min(worst[cause], Severity.CRITICAL)), cause, proof
    )
