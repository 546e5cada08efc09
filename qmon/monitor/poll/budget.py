"""The observer: measures what each probe costs the server, and keeps the poll within its budget.

A probe is timed by the server's clock, read before and after it in the same batch; a few of them in each poll, in turn,
and those that are read less often whenever they are. One that runs by itself is timed from here, less the way there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Final

from qmon.model.budget import AT_ONCE, Budget, Key, Observing, ProbeCost, ProbePace, Throttled, chosen, pace
from qmon.monitor.probes.statements import PART, ProbeStatement

ALWAYS_READ: Final = frozenset(
    {"server", "clock", "cost", "pauses_known", "pauses", "counters", "table_counters", "sequences"}
)
"""What every poll reads: cheap, and rates, pauses and the costs themselves come from it."""
_SHARE: Final = 8
_FEWEST: Final = 4
_MEDIAN_OF: Final = 3
_SMOOTH: Final = 0.1
_FORGOTTEN: Final = 0.01
_DEAREST: Final = 5
_ALONE: Final = 3.0
"""What runs by itself takes about so many times what it does in a batch: it is read anew, and the way there varies."""


class ProbeBudget:
    """Belongs to the collector of one connection.

    ``budget``: what polling may cost; without one nothing is left out.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self.budget = budget or AT_ONCE
        self._pace = ProbePace(0.0)
        self._times: dict[Key, deque[float]] = {}
        self._costs: dict[Key, float] = {}
        self._often: dict[Key, float] = {}
        self._waited: dict[Key, int] = {}
        self._overhead: deque[float] = deque(maxlen=_MEDIAN_OF)
        self._next = 0
        self._asked_s = 0.0
        self._left_out: dict[str, set[str]] = {}
        self._asked: tuple[Key, ...] = ()
        self._read: frozenset[Key] = frozenset()

    @property
    def interval_s(self) -> float:
        """Seconds until the next poll: what was asked for, or more where the budget is too small for that."""
        return max(self._pace.interval_s, self._asked_s)

    def choose(self, statements: Sequence[ProbeStatement], asked_s: float) -> list[ProbeStatement]:
        """The statements of this poll without those that are left out of it. ``asked_s``: seconds between polls."""
        self._asked_s = asked_s
        asked = self._asked = tuple(each.key for each in statements)
        room = self.budget.allowed_ms(asked_s) - self._overhead_ms
        self._read = chosen(asked, self._pace, self._waited, self._costs, room)
        self._left_out = {}
        for queue, probe in (key for key in asked if key not in self._read):
            self._left_out.setdefault(queue, set()).add(_plain(probe))
        for key in asked:
            self._waited[key] = 0 if key in self._read else self._waited.get(key, 0) + 1
        for key in self._often:
            self._often[key] *= 1 - _SMOOTH
        for key in asked:
            self._was_asked(key)
        return [each for each in statements if each.key in self._read]

    def due(self, key: Key) -> bool:
        """Whether a probe is read that is asked for after the others, because of what they have found."""
        self._was_asked(key)
        late = self._waited.get(key, 0) + 1
        read = late >= self._pace.every.get(key, 1)
        self._waited[key] = 0 if read else late
        return read

    def _was_asked(self, key: Key) -> None:
        self._often[key] = self._often[key] + _SMOOTH if key in self._often else 1.0

    def timed(self) -> frozenset[Key]:
        """The probes whose time is to be taken in this poll."""
        read = [key for key in self._asked if key in self._read]
        if not read:
            return frozenset()
        count = max(_FEWEST, len(read) // _SHARE)
        timed = {read[(self._next + n) % len(read)] for n in range(min(count, len(read)))}
        timed |= {key for key in read if len(self._times.get(key, ())) < _MEDIAN_OF}
        self._next = (self._next + count) % len(read)
        return frozenset(timed | (self._read & self._pace.every.keys()))

    def learn(self, times: Mapping[Key, float], alone: Mapping[Key, float], server_ms: float | None) -> None:
        """Take in what probes have cost in this poll, milliseconds, and the whole poll where that is known.

        ``alone``: of those that ran by themselves, which is dearer than in a batch; only until that is known.
        """
        self._costs |= {key: max(0.0, ms) / _ALONE for key, ms in alone.items() if key not in self._times}
        for key, ms in times.items():
            known = self._times.setdefault(key, deque(maxlen=_MEDIAN_OF))
            known.append(max(0.0, ms))
            self._costs[key] = median(known)
        for key in [key for key, often in self._often.items() if often < _FORGOTTEN]:
            for memory in (self._often, self._times, self._costs, self._waited):
                memory.pop(key, None)
        if server_ms is not None:
            self._overhead.append(max(0.0, server_ms - sum(self._costs.get(key, 0.0) for key in self._read)))
        if server_ms is not None or alone:
            self._pace = pace(self._expected, self._overhead_ms, self.budget, self._asked_s, self._pace, ALWAYS_READ)

    @property
    def _overhead_ms(self) -> float:
        return median(self._overhead) if self._overhead else 0.0

    @property
    def _expected(self) -> dict[Key, float]:
        """Milliseconds a poll of each probe, were nothing left out: some are not due in each poll."""
        return {key: ms * min(1.0, self._often.get(key, 0.0)) for key, ms in self._costs.items()}

    def left_out(self, queue: str) -> tuple[str, ...]:
        """The probes of a queue that are left out of this poll."""
        return tuple(sorted(self._left_out.get(queue, ())))

    def observing(self, commits: int) -> Observing:
        """What watching costs. ``commits``: transactions of qmon's own that the server had counted before this poll."""
        every = self._pace.every
        expected = self._expected
        throttled = sorted(
            (self._throttled(key, n) for key, n in every.items()), key=lambda each: (-each.ms, each.probe)
        )
        dearest = sorted(expected, key=lambda key: (-expected[key], key))[:_DEAREST]
        return Observing(
            budget=self.budget.text,
            allowed_ms=self.budget.allowed_ms(self.interval_s),
            asked_s=self._asked_s,
            expected_ms=_fine(self._overhead_ms + sum(ms / every.get(key, 1) for key, ms in expected.items())),
            throttled=tuple(_joined(throttled)),
            dearest=tuple(
                ProbeCost(key[0], _plain(key[1]), _fine(self._costs[key]), _fine(min(1.0, self._often.get(key, 0.0))))
                for key in dearest
            ),
            commits=commits,
        )

    def _throttled(self, key: Key, every: int) -> Throttled:
        usual = self.interval_s / min(1.0, max(self._often.get(key, 1.0), _FORGOTTEN))
        return Throttled(key[0], _plain(key[1]), _fine(usual * every), _fine(usual), _fine(self._costs[key]))


def _fine(value: float) -> float:
    """As finely as it means anything: what each poll reports is recorded, and each digit takes room."""
    return round(value, 3)


def _plain(probe: str) -> str:
    return probe.partition(PART)[0]


def _joined(throttled: Iterable[Throttled]) -> list[Throttled]:
    """One entry where a probe was asked in parts: that of the part which is read least often."""
    out: dict[Key, Throttled] = {}
    for each in throttled:
        there = out.get((each.queue, each.probe))
        if there is None or each.every_s > there.every_s:
            out[each.queue, each.probe] = each
    return list(out.values())
