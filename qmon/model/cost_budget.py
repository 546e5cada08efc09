"""Keep the measured cost of polling within the cost budget by throttling probes.

A probe is identified by its queue and its name. The least important probes are throttled first. Among equally important
probes, the most expensive one is throttled first. Probes that verdicts need are throttled last and are read at least
every ten seconds. If throttling is not enough, the poll interval grows to at most ten seconds. If the longer interval
is not enough either, polling exceeds the budget.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from qmon.model.formatting import milliseconds, number

# The name of the queue (empty if the probe concerns the whole target) and the name of the probe.
ProbeKey = tuple[str, str]


class Rank(IntEnum):
    """The importance of a probe. The lowest rank is throttled first."""

    # Sizes, lists and statistics: they only explain a verdict.
    DETAIL = 0
    # Evidence of a verdict.
    DECIDES = 1
    # Evidence of a verdict, for a queue that is shown on a screen of its own or has a verdict.
    WATCHED = 2
    # Evidence of verdicts of all queues: waits, blocking, horizon, sessions.
    TARGET = 3
    # Read in every poll.
    ALWAYS = 4


# Throttling never makes the interval between two readings longer than this, in seconds.
SLOWEST_S: Final[Mapping[Rank, float]] = {Rank.DETAIL: 60.0, Rank.DECIDES: 10.0, Rank.WATCHED: 10.0, Rank.TARGET: 10.0}

# Probes are throttled when the expected cost exceeds this share of the budget.
THROTTLE_ABOVE: Final = 0.95

# Throttled probes are read more often again only if the expected cost stays below this share of the budget.
RELAX_BELOW: Final = 0.85
_STEP_S: Final = 0.5
_BUDGET: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(%|ms/s|ms)")


@dataclass(frozen=True, slots=True)
class Budget:
    """The cost budget of polling.

    Attributes:
        share: share of one processor (0.01 is one per cent).
        poll_ms: milliseconds of server time for each poll, at any interval. If it is set, ``share`` is ignored.
    """

    share: float = 0.01
    poll_ms: float | None = None

    @property
    def is_unlimited(self) -> bool:
        """True for a budget of a whole processor: no probe is throttled, even if the polls take all the time."""
        return self.poll_ms is None and self.share >= 1

    def allowed_ms(self, interval_s: float) -> float:
        """Return the milliseconds of server time that one poll may cost at this poll interval."""
        return self.poll_ms if self.poll_ms is not None else self.share * interval_s * 1000.0

    def share_among(self, instances: int) -> Budget:
        """Return the share of the budget for each of several qmon instances on one database.

        A budget of a whole processor means no limit and is not divided.
        """
        if self.poll_ms is not None:
            return replace(self, poll_ms=self.poll_ms / instances)
        return self if self.is_unlimited else replace(self, share=self.share / instances)

    @property
    def text(self) -> str:
        """The budget as you write it in the configuration: ``1%``, ``100ms``."""
        return f"{self.poll_ms:g}ms" if self.poll_ms is not None else f"{self.share * 100:g}%"

    @property
    def label(self) -> str:
        """The budget as screens show it: ``1 %``, ``0.33 %``, ``33 ms``."""
        return milliseconds(self.poll_ms) if self.poll_ms is not None else f"{number(self.share * 100)} %"


# No probe is throttled.
UNLIMITED: Final = Budget(share=1.0)


def parse_budget(text: str) -> Budget | None:
    """Parse ``1%`` (of one processor), ``10ms/s`` or ``100ms`` (for each poll). Other texts return ``None``."""
    found = _BUDGET.fullmatch(text.strip())
    if found is None:
        return None
    value = float(found[1])
    budget = {"%": Budget(value / 100), "ms/s": Budget(value / 1000), "ms": Budget(poll_ms=value)}[found[2]]
    usable = 0 < budget.share <= 1 if budget.poll_ms is None else 0 < budget.poll_ms <= 60_000
    return budget if usable else None


@dataclass(frozen=True, slots=True)
class ProbePace:
    """How often probes are read.

    Attributes:
        interval_s: seconds between polls, at least the requested interval.
        every: the number n (at least 2) for each throttled probe. Only every n-th reading of the probe is done.
    """

    interval_s: float
    every: Mapping[ProbeKey, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Throttled:
    """A throttled probe.

    The probe is read every ``every_s`` seconds instead of every ``instead_s`` seconds. Each reading costs ``ms``.
    """

    queue: str
    probe: str
    every_s: float
    instead_s: float
    ms: float


@dataclass(frozen=True, slots=True)
class PollingCost:
    """The cost of watching in this poll. Milliseconds are server time for one poll.

    Attributes:
        budget: the budget as configured.
        allowed_ms: the part of the budget that this qmon may use. All qmons on the database share the budget.
        asked_s: the requested seconds between polls.
        expected_ms: the expected cost.
        throttled: throttled probes, most expensive first.
        commits: how many of our own transactions since connecting the server had counted before this poll.
        slower: the current duration of a poll on the server as a multiple of the usual duration.
        slower_since: when polls became far slower (server clock, seconds); ``None`` if polls are not far slower.
        qmons: number of qmons, including this one, that poll this database and share the budget; ``None`` if our role
            cannot see the sessions of other qmons.
    """

    budget: str
    allowed_ms: float
    asked_s: float
    expected_ms: float
    throttled: tuple[Throttled, ...] = ()
    commits: int = 0
    slower: float = 1.0
    slower_since: float | None = None
    qmons: int | None = None

    def throttled_for(self, queue: str) -> tuple[Throttled, ...]:
        """Return the throttled probes of one queue."""
        return tuple(each for each in self.throttled if each.queue == queue)


def load_ms(costs: Mapping[ProbeKey, float], every: Mapping[ProbeKey, int], overhead_ms: float) -> float:
    """Return the average cost of a poll in milliseconds. ``costs``: cost of each probe in an unthrottled poll."""
    return overhead_ms + sum(cost / every.get(key, 1) for key, cost in costs.items())


def plan_pace(
    costs: Mapping[ProbeKey, float],
    overhead_ms: float,
    budget: Budget,
    asked_s: float,
    before: ProbePace,
    rank: Callable[[ProbeKey], Rank] = lambda _: Rank.DETAIL,
    readings_per_poll: Mapping[ProbeKey, float] = MappingProxyType({}),
    *,
    in_turns: bool = False,
) -> ProbePace:
    """Return how often to read each probe from now on.

    Args:
        costs: milliseconds of each probe in an unthrottled poll.
        overhead_ms: cost of a poll apart from its probes.
        budget: the cost budget.
        asked_s: the requested seconds between polls.
        before: the previous result. It is returned again if the costs changed little.
        rank: importance of each probe.
        readings_per_poll: readings per poll of each unthrottled probe, 1 by default.
        in_turns: queues take turns, because there are many queues. A longer interval would then not lower the cost per
            second, so the interval stays the same.
    """
    if budget.is_unlimited:
        return ProbePace(asked_s)
    allowed = budget.allowed_ms(asked_s)
    lessened = [key for key, n in before.every.items() if key in costs and n > 1]
    most = {key: _max_every(rank(key), asked_s, readings_per_poll.get(key, 1.0)) for key in lessened}
    every = {key: min(before.every[key], each) for key, each in most.items() if each > 1}
    load = load_ms(costs, every, overhead_ms)
    if load <= THROTTLE_ABOVE * allowed:
        _relax(costs, every, RELAX_BELOW * allowed - load, rank)
        return ProbePace(asked_s, every)
    ranks = {key: rank(key) for key in costs}
    most = {key: _max_every(worth, asked_s, readings_per_poll.get(key, 1.0)) for key, worth in ranks.items()}
    _tighten(costs, every, load - THROTTLE_ABOVE * allowed, most, ranks)
    if in_turns or budget.poll_ms is not None or load_ms(costs, every, overhead_ms) <= allowed:
        return ProbePace(asked_s, every)
    interval_s = _stretched_interval_s(costs, ranks, overhead_ms, budget, asked_s)
    most = {key: _max_every(worth, interval_s, readings_per_poll.get(key, 1.0)) for key, worth in ranks.items()}
    return ProbePace(interval_s, {key: most[key] for key, ms in costs.items() if ms > 0 and most[key] > 1})


def _stretched_interval_s(
    costs: Mapping[ProbeKey, float], ranks: Mapping[ProbeKey, Rank], overhead_ms: float, budget: Budget, asked_s: float
) -> float:
    """Return the shortest poll interval in seconds that keeps the budget with maximum throttling, if there is one."""
    each = {rank: sum(ms for key, ms in costs.items() if ranks[key] == rank) for rank in Rank}
    interval_s, slowest_s = asked_s, max(asked_s, SLOWEST_S[Rank.DECIDES])
    while interval_s < slowest_s:
        load = overhead_ms + sum(ms / _max_every(rank, interval_s) for rank, ms in each.items())
        if load <= budget.allowed_ms(interval_s):
            break
        interval_s = min(interval_s + _STEP_S, slowest_s)
    return interval_s


def _max_every(rank: Rank, interval_s: float, readings_per_poll: float = 1.0) -> int:
    """Return the largest n for which a probe may be throttled to every n-th reading."""
    return max(1, int(SLOWEST_S.get(rank, 0.0) * min(1.0, readings_per_poll) / interval_s))


def _tighten(
    costs: Mapping[ProbeKey, float],
    every: dict[ProbeKey, int],
    too_much: float,
    max_every: Mapping[ProbeKey, int],
    ranks: Mapping[ProbeKey, Rank],
) -> None:
    """Throttle probes until ``too_much`` milliseconds are saved or nothing more can be saved."""
    able = [
        (ranks[key], -ms / every.get(key, 1), key)
        for key, ms in costs.items()
        if every.get(key, 1) < max_every[key] and ms > 0
    ]
    heapq.heapify(able)
    while too_much > 0 and able:
        rank, _, dearest = heapq.heappop(able)
        now = every.get(dearest, 1)
        every[dearest] = min(2 * now, max_every[dearest])
        too_much -= costs[dearest] / now - costs[dearest] / every[dearest]
        if every[dearest] < max_every[dearest]:
            heapq.heappush(able, (rank, -costs[dearest] / every[dearest], dearest))


def _relax(
    costs: Mapping[ProbeKey, float], every: dict[ProbeKey, int], room: float, rank: Callable[[ProbeKey], Rank]
) -> None:
    """Read throttled probes as often as the budget allows, first the most important, cheapest first."""
    for key in sorted(every, key=lambda key: (-rank(key), costs[key], key)):
        if room <= 0:
            return
        a_poll = costs[key] / every[key]
        fits = max(1, math.ceil(costs[key] / (a_poll + room)))
        if fits < every[key]:
            room -= costs[key] / fits - a_poll
            every[key] = fits
        if every[key] <= 1:
            del every[key]


def choose_probes(
    requested: Sequence[ProbeKey],
    now: ProbePace,
    skipped: Mapping[ProbeKey, int],
    costs: Mapping[ProbeKey, float],
    room_ms: float,
) -> frozenset[ProbeKey]:
    """Return which of the requested probes are read in this poll.

    Throttled probes take turns, the longest overdue first, so that expensive probes do not all run in the same poll.

    Args:
        requested: the probes that would be read without throttling.
        now: how often probes are read.
        skipped: how often each probe was skipped since its last reading.
        costs: milliseconds of each probe.
        room_ms: milliseconds that the probes of this poll may cost. One overdue probe is read even if it costs more.
    """
    out = {key for key in requested if now.every.get(key, 1) <= 1}
    room = room_ms - sum(costs.get(key, 0.0) for key in out)
    due = [key for key in requested if key not in out and skipped.get(key, 0) + 1 >= now.every[key]]
    late = False
    for key in sorted(due, key=lambda key: (-(skipped.get(key, 0) + 1) / now.every[key], key)):
        if late and costs.get(key, 0.0) > room:
            continue
        room -= costs.get(key, 0.0)
        late = True
        out.add(key)
    return frozenset(out)
