"""Measure what each probe costs the server, and keep polling within its cost budget.

A probe is timed with the server's clock, which the batch reads before and after the probe. Each poll times a few of the
probes, in turn. Probes that are rarely read are timed whenever they run. The cost of a probe is the shortest of its
recent times, minus the time to read the clock. On a busy server, longer times are mostly not caused by the probe. The
time of a poll divided by the cost of its probes shows how slow the server is. Work outside the two clock readings of a
statement is estimated. The processor time of a poll's session is 1.4 to 1.6 times the sum of the shortest times
(measured).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from qmon.model.cost_budget import (
    UNLIMITED,
    Budget,
    PollingCost,
    ProbeKey,
    ProbePace,
    Rank,
    Throttled,
    choose_probes,
    plan_pace,
)
from qmon.model.probe_table import family_of
from qmon.monitor.probes.probe_statements import PART, ProbeStatement

_CLOCK: Final = ("", "clock")

# Each poll times one of this many probes, and more of them while the server is slow.
_TIMED_FRACTION: Final = 8
_TIMED_FRACTION_SLOW: Final = 3
_MIN_TIMED: Final = 4
_KEPT_TIMES: Final = 8

# The usual time of a probe as a multiple of its shortest time. The cache usually lacks some of the pages.
_USUAL_FACTOR: Final = 1.25

# Overhead of a statement (parsing, counting, commit) as a multiple of the time to read the clock.
_STATEMENT_OVERHEAD: Final = 4.0
_PROVEN: Final = 3

# Number of polls after connecting in which everything is read and timed, because statements and tables are not cached
# yet.
_SETTLING: Final = 12

# This first phase ends early if a poll takes at least this share of the time until the next poll.
_TOO_LONG: Final = 0.5

# A throttled probe is timed again when polls are this many times faster than at its last timing.
_RETIME_RATIO: Final = 2.0
_SMOOTH: Final = 0.1
_FORGOTTEN: Final = 0.01
_COUNTED_S: Final = 10.0
_COUNTED_POLLS: Final = 5

# Time of a probe that runs alone or for the first time, as a multiple of its later time in a batch.
_ALONE_FACTOR: Final = 3.0


class ProbeBudget:
    """The costs and the pace of the probes of one connection. Belongs to its collector.

    ``budget``: what polling may cost, for all qmon instances on this database together. Without a budget, every poll
    runs all probes that are due.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._total_budget = budget or UNLIMITED
        # Our share of the budget.
        self.budget = self._total_budget
        self._instances: int | None = None
        self._other_share = 0.0
        self._pace = ProbePace(0.0)
        self._times: dict[ProbeKey, deque[float]] = {}
        self._costs: dict[ProbeKey, float] = {}
        # Expected milliseconds of each probe per poll, without throttling. Some probes are not due in each poll.
        self._expected: dict[ProbeKey, float] = {}
        # How slow the server was when each probe was last timed.
        self._slowness_when_timed: dict[ProbeKey, float] = {}
        self._often: dict[ProbeKey, float] = {}
        self._waited: dict[ProbeKey, int] = {}
        # A queue that is neither watched nor shown is read in this share of the polls; 1: in every poll.
        self._turn = 1.0
        self._always: frozenset[str] = frozenset()
        self._slowness = Slowness()
        self._polls = 0
        self._next = 0
        self._asked_s = 0.0
        self._left_out: dict[str, set[str]] = {}
        self._asked: tuple[ProbeKey, ...] = ()
        self._read: frozenset[ProbeKey] = frozenset()
        self._watched: frozenset[str] = frozenset()
        self._reads_all = False

    @property
    def interval_s(self) -> float:
        """Seconds until the next poll: the configured interval, or more if the budget is too small for it."""
        return max(self._pace.interval_s, self._asked_s)

    def set_share(self, instances: int | None, other_share: float = 0.0) -> None:
        """Use one of ``instances`` equal shares of the budget from now on, or the whole budget if it is ``None``.

        ``other_share``: the share of a processor that our other sessions use all the time.
        """
        self._instances, self._other_share = instances, other_share
        self.budget = self._total_budget.share_among(instances or 1)

    def choose_statements(
        self,
        statements: Sequence[ProbeStatement],
        interval_s: float,
        watched: Collection[str] = (),
        every_s: float = 0.0,
        shown: Collection[str] = (),
    ) -> list[ProbeStatement]:
        """Return the statements of this poll, except statements that the budget leaves out.

        ``interval_s``: configured seconds between polls. ``watched``: queues that are throttled last. ``every_s``:
        seconds between readings of queues that are neither ``watched`` nor ``shown``; 0: all queues are read in each
        poll.
        """
        self._polls += 1
        self._asked_s = interval_s
        self._turn, self._always = interval_s / every_s if every_s else 1.0, frozenset(("", *watched, *shown))
        self._set_watched(frozenset(watched))
        asked = self._asked = tuple(each.key for each in statements)
        for key in self._pace.every:
            # The server was slower when this cost was measured, so measure it again.
            if self._slowness_when_timed.get(key, 0.0) > _RETIME_RATIO * self._slowness.ratio:
                self._waited[key] = self._pace.every[key]
        if self._reads_all:
            self._waited |= {key: n - 1 for key, n in self._pace.every.items()}
        room = float("inf")
        if not self._reads_all:
            room = self.budget.allowed_ms(self.interval_s) - self._overhead_ms - self._other_sessions_ms
        self._reads_all = False
        self._read = choose_probes(asked, self._pace, self._waited, self._costs, room)
        self._left_out = {}
        for queue, probe in (key for key in asked if key not in self._read):
            self._left_out.setdefault(queue, set()).add(_without_part(probe))
        for key in asked:
            self._waited[key] = 0 if key in self._read else self._waited.get(key, 0) + 1
        for key in self._often:
            self._often[key] *= 1 - _SMOOTH
        for key in asked:
            self._record_request(key)
        return [each for each in statements if each.key in self._read]

    def request_full_poll(self) -> None:
        """Run all probes in the next poll, even if that exceeds the budget."""
        self._reads_all = True

    def _set_watched(self, watched: frozenset[str]) -> None:
        """Stop throttling newly watched queues, so that other queues are throttled instead."""
        newly, self._watched = watched - self._watched, watched
        if newly:
            every = {
                key: n
                for key, n in self._pace.every.items()
                if key[0] not in newly or self._rank(key) is not Rank.WATCHED
            }
            self._pace = replace(self._pace, every=every)

    def record_unreached(self, keys: Collection[ProbeKey]) -> None:
        """Mark as left out the chosen probes that the poll did not reach."""
        for key in keys:
            self._left_out.setdefault(key[0], set()).add(_without_part(key[1]))
            self._waited[key] = self._waited.get(key, 0) + 1

    def admit_follow_up(self, key: ProbeKey) -> bool:
        """Return whether the budget allows this probe in the current poll.

        Call it for probes whose need shows only from results read earlier in the same poll.
        """
        self._record_request(key)
        late = self._waited.get(key, 0) + 1
        read = late >= self._pace.every.get(key, 1)
        self._waited[key] = 0 if read else late
        return read

    def _record_request(self, key: ProbeKey) -> None:
        if key in self._often:
            self._often[key] += _SMOOTH
        else:
            self._often[key] = 1.0 if self._is_requested_every_poll(key) else self._turn

    def choose_probes_to_time(self) -> frozenset[ProbeKey]:
        """Return the probes to time in this poll. The list is longer while the server is slow."""
        read = [key for key in self._asked if key in self._read]
        if not read or self._polls <= _SETTLING:
            return frozenset(read)
        count = max(_MIN_TIMED, len(read) // (_TIMED_FRACTION_SLOW if self._slowness.is_doubtful else _TIMED_FRACTION))
        timed = {read[(self._next + n) % len(read)] for n in range(min(count, len(read)))}
        timed |= {key for key in read if not self._has_enough_times(key)}
        self._next = (self._next + count) % len(read)
        return frozenset(timed | (self._read & self._pace.every.keys()) | (self._read & {_CLOCK}))

    def record_times(
        self,
        times: Mapping[ProbeKey, float],
        alone: Mapping[ProbeKey, float],
        server_ms: float | None,
        now_at: float = 0.0,
    ) -> None:
        """Record the milliseconds of each probe in this poll, and of the whole poll (``server_ms``) if known.

        ``alone``: times of probes that ran alone. Such times are longer than times in a batch, and are used only until
        a time in a batch is known. ``now_at``: server clock, seconds.
        """
        self._costs |= {key: max(0.0, ms) / _ALONE_FACTOR for key, ms in alone.items() if key not in self._times}
        for key, ms in times.items():
            self._times.setdefault(key, deque(maxlen=_KEPT_TIMES)).append(max(0.0, ms))
        nothing = self._clock_read_ms
        for key in times:
            cost = _USUAL_FACTOR * max(0.0, min(self._times[key]) - nothing) + _STATEMENT_OVERHEAD * nothing
            self._costs[key] = cost if self._has_enough_times(key) else cost / _ALONE_FACTOR
            self._slowness_when_timed[key] = self._slowness.ratio
        for key in [key for key, often in self._often.items() if often < _FORGOTTEN]:
            for memory in (self._often, self._times, self._costs, self._slowness_when_timed, self._waited):
                memory.pop(key, None)
        if server_ms is not None:
            intrinsic = self._overhead_ms + sum(self._costs.get(key, 0.0) for key in self._read)
            self._slowness.record_poll(server_ms, intrinsic, now_at)
        self._expected = {key: ms * min(1.0, self._often.get(key, 0.0)) for key, ms in self._costs.items()}
        if server_ms is not None or alone or times:
            self._set_pace(server_ms)

    def _set_pace(self, server_ms: float | None) -> None:
        if self._polls < _SETTLING and (server_ms or 0.0) < _TOO_LONG * self._asked_s * 1000:
            return
        self._pace = plan_pace(
            self._expected,
            self._overhead_ms + self._other_sessions_ms,
            self.budget,
            self._asked_s,
            self._pace,
            self._rank,
            self._often,
            in_turns=self._turn < 1.0,
        )

    def _rank(self, key: ProbeKey) -> Rank:
        declared = family_of(_without_part(key[1]))
        rank = None if declared is None else declared.rank
        if rank is Rank.ALWAYS or (rank is Rank.DETAIL and self._has_enough_times(key)):
            return rank
        if not self._is_requested_every_poll(key) or (self._turn < 1.0 and not key[0]):
            # Each queue is read only every ten seconds, and that poll also needs the probes of the target.
            return Rank.ALWAYS
        if not key[0]:
            return Rank.TARGET
        return Rank.WATCHED if key[0] in self._watched else Rank.DECIDES

    def _has_enough_times(self, key: ProbeKey) -> bool:
        """Return whether a probe was timed often enough.

        The first runs are slower, because the server plans the statement and loads its tables into memory.
        """
        return len(self._times.get(key, ())) >= (_PROVEN if self._is_requested_every_poll(key) else 1)

    def _is_requested_every_poll(self, key: ProbeKey) -> bool:
        """Return whether a probe runs in each poll.

        A part of a probe does not, and neither does a probe of a queue that is read in turn.
        """
        return self._turn >= 1.0 or (key[0] in self._always and PART not in key[1])

    @property
    def _clock_read_ms(self) -> float:
        """Milliseconds to read the clock: half the time between the first and the last of three readings in a row."""
        return min(self._times.get(_CLOCK, (0.0,))) / 2

    @property
    def _other_sessions_ms(self) -> float:
        """Milliseconds that our other sessions cost between two polls."""
        return self._other_share * self.interval_s * 1000

    @property
    def _overhead_ms(self) -> float:
        """Milliseconds that a poll costs outside its probes: the clock readings for the timed probes."""
        return self._clock_read_ms * (2 + len(self._asked) / _TIMED_FRACTION)

    def cost_s(self, key: ProbeKey) -> float:
        """Return the seconds that a probe costs the server each time; 0 if unknown."""
        return self._costs.get(key, 0.0) / 1000

    def left_out_probes(self, queue: str) -> tuple[str, ...]:
        """Return the probes of a queue that are left out of this poll."""
        return tuple(sorted(self._left_out.get(queue, ())))

    def to_polling_cost(self, commits: int) -> PollingCost:
        """Return the cost of polling.

        ``commits``: qmon's own transactions that the server had counted before this poll.
        """
        every = self._pace.every
        throttled = sorted(
            (self._to_throttled(key, n) for key, n in every.items()), key=lambda each: (-each.ms, each.probe)
        )
        return PollingCost(
            budget=self._total_budget.text,
            allowed_ms=self.budget.allowed_ms(self.interval_s),
            asked_s=self._asked_s,
            expected_ms=_round_for_recording(
                self._overhead_ms
                + self._other_sessions_ms
                + sum(ms / every.get(key, 1) for key, ms in self._expected.items())
            ),
            throttled=tuple(_keep_slowest_parts(throttled)),
            slower=round(self._slowness.factor, 1),
            slower_since=self._slowness.since_at,
            commits=commits,
            qmons=self._instances,
        )

    def _to_throttled(self, key: ProbeKey, every: int) -> Throttled:
        usual = self.interval_s / min(1.0, max(self._often.get(key, 1.0), _FORGOTTEN))
        return Throttled(
            key[0],
            _without_part(key[1]),
            _round_for_recording(usual * every),
            _round_for_recording(usual),
            _round_for_recording(self._costs[key]),
        )


def _round_for_recording(value: float) -> float:
    """Round to three decimals, because each poll is recorded and digits take space."""
    return round(value, 3)


def _without_part(probe: str) -> str:
    return probe.partition(PART)[0]


def _keep_slowest_parts(throttled: Iterable[Throttled]) -> list[Throttled]:
    """Return one entry for each probe: the entry of the part that is read least often."""
    out: dict[ProbeKey, Throttled] = {}
    for each in throttled:
        there = out.get((each.queue, each.probe))
        if there is None or each.every_s > there.every_s:
            out[each.queue, each.probe] = each
    return list(out.values())


class InstanceCount:
    """Count the qmon instances that poll this database and share one budget.

    The count is the median of the last ten seconds and of at least five polls. A short command or a qmon that
    reconnects does not change the share of the other instances.
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def record_pollers(self, now_at: float, pollers: int | None) -> int | None:
        """Record one poll and return the number of qmon instances, including this one.

        ``pollers``: the number read in this poll; ``None`` if our role cannot see other instances. ``now_at``: server
        clock, seconds.
        """
        if pollers is None:
            self._seen.clear()
            return None
        # With a custom application name, even our own session is not counted.
        self._seen.append((now_at, max(1, pollers)))
        while len(self._seen) > _COUNTED_POLLS and now_at - self._seen[0][0] > _COUNTED_S:
            self._seen.popleft()
        return sorted(count for _, count in self._seen)[len(self._seen) // 2]


_USUAL_OF: Final = 600
_NOW_OF: Final = 5
_SLOWER: Final = 4.0
_NOT_SLOWER: Final = 2.0


class Slowness:
    """How many times longer than usual the server takes for a poll.

    The time of each poll is divided by the cost of its probes. The usual value is the lower quartile of the last 600
    polls. The current value is the median of the last five polls.
    """

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=_USUAL_OF)
        self._at: deque[float] = deque(maxlen=_NOW_OF)
        # How many times longer than usual a poll takes; 1 until known.
        self.factor = 1.0
        # When the factor reached four (server clock, seconds); `None` again after it has fallen below two.
        self.since_at: float | None = None

    @property
    def is_doubtful(self) -> bool:
        """Whether recent polls took at least twice as long as usual, because of a slow server or an expensive probe."""
        return self.factor >= _NOT_SLOWER

    @property
    def ratio(self) -> float:
        """Time of recent polls divided by the cost of their probes; 1 until known."""
        return median(list(self._ratios)[-_NOW_OF:]) if self._ratios else 1.0

    def record_poll(self, server_ms: float, intrinsic_ms: float, now_at: float) -> None:
        """Record the server time of one poll and the cost of its probes, both in milliseconds."""
        if intrinsic_ms <= 0:
            return
        self._ratios.append(server_ms / intrinsic_ms)
        self._at.append(now_at)
        if len(self._ratios) < 2 * _NOW_OF:
            return
        usual = sorted(self._ratios)[len(self._ratios) // 4]
        self.factor = self.ratio / usual if usual > 0 else 1.0
        if self.factor >= _SLOWER:
            self.since_at = self._at[_NOW_OF // 2] if self.since_at is None else self.since_at
        elif self.factor < _NOT_SLOWER:
            self.since_at = None
