"""What watching may cost the server, and what is read less often to stay below that: decisions from measured costs.

A probe is known by its queue and its name. Of what matters least the dearest is read less often first. What decides a
verdict goes last, and is read every ten seconds at least: where that is too much for the budget, it is exceeded.
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

from qmon.model.text import milliseconds, number

# Queue (empty: the target as a whole) and probe.
Key = tuple[str, str]


class Rank(IntEnum):
    """What a probe is worth: the lowest is read less often first."""

    # Sizes, lists, statistics: what explains a verdict.
    DETAIL = 0
    # What a verdict is made of.
    DECIDES = 1
    # The same of a queue that is looked at by itself, or has a verdict.
    WATCHED = 2
    # What verdicts of all queues are made of: waits, blocking, horizon, sessions.
    TARGET = 3
    # Part of each poll.
    ALWAYS = 4


# Seconds between readings, at most: nothing is read less often because of what it costs.
SLOWEST_S: Final[Mapping[Rank, float]] = {Rank.DETAIL: 60.0, Rank.DECIDES: 10.0, Rank.WATCHED: 10.0, Rank.TARGET: 10.0}
# The expected share of the budget above which something is read less often.
FULL: Final = 0.95
# The share of the budget that may be expected at most when what is throttled comes back.
EASY: Final = 0.85
_STEP_S: Final = 0.5
_BUDGET: Final = re.compile(r"(\d+(?:\.\d+)?)\s*(%|ms/s|ms)")


@dataclass(frozen=True, slots=True)
class Budget:
    """What polling may cost the server: a ``share`` of one processor (0.01 is one per cent), or ``poll_ms``
    milliseconds for each poll however often there is one."""

    share: float = 0.01
    poll_ms: float | None = None

    def allowed_ms(self, interval_s: float) -> float:
        """Milliseconds of server time for one poll, where there is one every ``interval_s`` seconds."""
        return self.poll_ms if self.poll_ms is not None else self.share * interval_s * 1000.0

    def part(self, qmons: int) -> Budget:
        """The part of each of several qmons on one database. A whole processor means no limit, and is not shared."""
        if self.poll_ms is not None:
            return replace(self, poll_ms=self.poll_ms / qmons)
        return self if self.share >= 1 else replace(self, share=self.share / qmons)

    @property
    def text(self) -> str:
        """As it is written in the configuration: ``1%``, ``100ms``."""
        return f"{self.poll_ms:g}ms" if self.poll_ms is not None else f"{self.share * 100:g}%"

    @property
    def shown(self) -> str:
        """To be read: ``1 %``, ``0.33 %``, ``33 ms``."""
        return milliseconds(self.poll_ms) if self.poll_ms is not None else f"{number(self.share * 100)} %"


# For a few polls, in which nothing is left out.
AT_ONCE: Final = Budget(share=1.0)


def budget_of(text: str) -> Budget | None:
    """The budget written as ``1%`` (of one processor), ``10ms/s`` or ``100ms`` (each poll); ``None``: it is none."""
    found = _BUDGET.fullmatch(text.strip())
    if found is None:
        return None
    value = float(found[1])
    budget = {"%": Budget(value / 100), "ms/s": Budget(value / 1000), "ms": Budget(poll_ms=value)}[found[2]]
    usable = 0 < budget.share <= 1 if budget.poll_ms is None else 0 < budget.poll_ms <= 60_000
    return budget if usable else None


@dataclass(frozen=True, slots=True)
class ProbePace:
    """How often things are read. ``every``: of these probes only every n-th reading is done, n from 2 on.

    ``interval_s``: seconds between polls, at least what was asked for.
    """

    interval_s: float
    every: Mapping[Key, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Throttled:
    """A probe that is read less often. ``every_s`` instead of ``instead_s`` seconds; ``ms``: what each costs."""

    queue: str
    probe: str
    every_s: float
    instead_s: float
    ms: float


@dataclass(frozen=True, slots=True)
class ProbeCost:
    """What a probe costs each time that it is read, in milliseconds on the server, and how often that is a poll."""

    queue: str
    probe: str
    ms: float
    a_poll: float = 1.0


@dataclass(frozen=True, slots=True)
class Observing:
    """What watching costs in this poll. Milliseconds are of the server's time for one poll.

    ``budget``: as configured; ``qmons``: how many poll this database, this one included, and take a part of it each
    (``None``: our role is not shown the others); ``allowed_ms``: our part. ``asked_s``: seconds between polls as asked
    for. ``throttled``: what is read less often now, the dearest first; ``dearest``: the dearest probes of all.
    ``commits``: transactions of our own since we connected that the server has counted before this poll. ``slower``: so
    many times as long as usual does the server take for a poll now; ``slower_since``: since when it is far slower,
    server clock in seconds; ``None``: it is not.
    """

    budget: str
    allowed_ms: float
    asked_s: float
    expected_ms: float
    throttled: tuple[Throttled, ...] = ()
    dearest: tuple[ProbeCost, ...] = ()
    commits: int = 0
    slower: float = 1.0
    slower_since: float | None = None
    qmons: int | None = None

    def of_queue(self, queue: str) -> tuple[Throttled, ...]:
        """What is read less often of one queue."""
        return tuple(each for each in self.throttled if each.queue == queue)


def load_ms(costs: Mapping[Key, float], every: Mapping[Key, int], overhead_ms: float) -> float:
    """Milliseconds that a poll costs on average. ``costs``: of each probe in a poll in which nothing is left out."""
    return overhead_ms + sum(cost / every.get(key, 1) for key, cost in costs.items())


def pace(
    costs: Mapping[Key, float],
    overhead_ms: float,
    budget: Budget,
    asked_s: float,
    before: ProbePace,
    rank: Callable[[Key], Rank] = lambda _: Rank.DETAIL,
    often: Mapping[Key, float] = MappingProxyType({}),
    *,
    in_turns: bool = False,
) -> ProbePace:
    """How often to read what from now on.

    Args:
        costs: milliseconds of each probe, in a poll in which nothing is left out.
        overhead_ms: what a poll costs besides.
        budget: what is allowed.
        asked_s: seconds between polls as asked for.
        before: what has been decided last; small changes of the costs leave it as it is.
        rank: what each probe is worth.
        often: how often a poll each would be read, were nothing left out; once where nothing is said.
        in_turns: many queues are read in turns, which costs as much per second at any interval: it stays.
    """
    allowed = budget.allowed_ms(asked_s)
    lessened = [key for key, n in before.every.items() if key in costs and n > 1]
    most = {key: _most(rank(key), asked_s, often.get(key, 1.0)) for key in lessened}
    every = {key: min(before.every[key], each) for key, each in most.items() if each > 1}
    load = load_ms(costs, every, overhead_ms)
    if load <= FULL * allowed:
        _relax(costs, every, EASY * allowed - load, rank)
        return ProbePace(asked_s, every)
    ranks = {key: rank(key) for key in costs}
    most = {key: _most(worth, asked_s, often.get(key, 1.0)) for key, worth in ranks.items()}
    _tighten(costs, every, load - FULL * allowed, most, ranks)
    if in_turns or budget.poll_ms is not None or load_ms(costs, every, overhead_ms) <= allowed:
        return ProbePace(asked_s, every)
    interval_s = _stretched(costs, ranks, overhead_ms, budget, asked_s)
    most = {key: _most(worth, interval_s, often.get(key, 1.0)) for key, worth in ranks.items()}
    return ProbePace(interval_s, {key: most[key] for key, ms in costs.items() if ms > 0 and most[key] > 1})


def _stretched(
    costs: Mapping[Key, float], ranks: Mapping[Key, Rank], overhead_ms: float, budget: Budget, asked_s: float
) -> float:
    """Seconds between polls in which all is read as seldom as it may be, so that the budget is kept if it can be."""
    each = {rank: sum(ms for key, ms in costs.items() if ranks[key] == rank) for rank in Rank}
    interval_s, slowest_s = asked_s, max(asked_s, SLOWEST_S[Rank.DECIDES])
    while interval_s < slowest_s:
        load = overhead_ms + sum(ms / _most(rank, interval_s) for rank, ms in each.items())
        if load <= budget.allowed_ms(interval_s):
            break
        interval_s = min(interval_s + _STEP_S, slowest_s)
    return interval_s


def _most(rank: Rank, interval_s: float, often: float = 1.0) -> int:
    """The largest n for which only every n-th reading is done."""
    return max(1, int(SLOWEST_S.get(rank, 0.0) * min(1.0, often) / interval_s))


def _tighten(
    costs: Mapping[Key, float],
    every: dict[Key, int],
    too_much: float,
    most: Mapping[Key, int],
    ranks: Mapping[Key, Rank],
) -> None:
    """Read the dearest less often, until ``too_much`` milliseconds are saved or nothing is left to save."""
    able = [
        (ranks[key], -ms / every.get(key, 1), key)
        for key, ms in costs.items()
        if every.get(key, 1) < most[key] and ms > 0
    ]
    heapq.heapify(able)
    while too_much > 0 and able:
        rank, _, dearest = heapq.heappop(able)
        now = every.get(dearest, 1)
        every[dearest] = min(2 * now, most[dearest])
        too_much -= costs[dearest] / now - costs[dearest] / every[dearest]
        if every[dearest] < most[dearest]:
            heapq.heappush(able, (rank, -costs[dearest] / every[dearest], dearest))


def _relax(costs: Mapping[Key, float], every: dict[Key, int], room: float, rank: Callable[[Key], Rank]) -> None:
    """Read what is left out as often as there is room for, what is worth most first and the cheapest of that."""
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


def chosen(
    asked: Sequence[Key], now: ProbePace, waited: Mapping[Key, int], costs: Mapping[Key, float], room_ms: float
) -> frozenset[Key]:
    """Which of the probes that are due are read in this poll.

    What is read less often takes turns, the longest overdue first, so that what is dear does not come all at once.

    Args:
        asked: the probes that would be read.
        now: how often things are read.
        waited: how often each has been left out since it was read.
        costs: milliseconds of each.
        room_ms: what the poll may cost besides its overhead; one that is due is read even where it costs more.
    """
    out = {key for key in asked if now.every.get(key, 1) <= 1}
    room = room_ms - sum(costs.get(key, 0.0) for key in out)
    due = [key for key in asked if key not in out and waited.get(key, 0) + 1 >= now.every[key]]
    late = False
    for key in sorted(due, key=lambda key: (-(waited.get(key, 0) + 1) / now.every[key], key)):
        if late and costs.get(key, 0.0) > room:
            continue
        room -= costs.get(key, 0.0)
        late = True
        out.add(key)
    return frozenset(out)
