"""Measures what each probe costs the server, and keeps the poll within its budget.

A probe is timed by the server's clock, read before and after it in the same batch; a few of them in each poll, in turn,
and those that are read less often whenever they are. Its cost comes from the least of its last times, less what reading
the clock takes: on a busy server most of the time that passes is not what the probe costs. How much longer than that a
poll takes says how slow the server is. What a statement takes besides, before the first clock and after the last, is
reckoned: by the processor time of its sessions a poll takes 1.4 to 1.6 times the sum of the least times.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from heapq import nsmallest
from typing import Final

from qmon.model.budget import AT_ONCE, Budget, Key, Observing, ProbeCost, ProbePace, Rank, Throttled, chosen, pace
from qmon.monitor.poll.slowness import Slowness
from qmon.monitor.probes.statements import PART, ProbeStatement

# What every poll reads: cheap, and rates, pauses and the costs themselves come from it.
_ALWAYS: Final = frozenset(
    {
        "server",
        "clock",
        "cost",
        "pauses_known",
        "pauses",
        "operated",
        "counters",
        "table_counters",
        "sequences",
        "sequences_free",
    }
)
# What explains a verdict, or decides one that can wait.
_DETAIL: Final = frozenset(
    {
        "uses",
        "sizes",
        "statistics",
        "latches",
        "page_owner",
        "version_store",
        "drawers",
        "partial",
        "ring_sweep",
        "log",
        "replication",
        "priorities",
        "priorities_state",
        "in_state",
        "scheduled",
        "scheduled_state",
        "messages",
        "messages_due",
        "group_page",
        "messages_newest",
        "messages_page",
        "messages_page_ring",
        "messages_page_ring_split",
        "messages_page_split",
        "messages_ready",
        "messages_ring",
        "messages_ring_split",
        "messages_split",
        "messages_state",
        "temp_space",
        "temp_sessions",
        "service",
        "limits",
        "pool_limits",
        "empty",
        "empty_state",
        "settings",
    }
)
_CLOCK: Final = ("", "clock")
_SHARE: Final = 8
_SHARE_SLOW: Final = 3
_FEWEST: Final = 4
_LEAST_OF: Final = 8
# What a probe usually takes, as a multiple of its least time: not all it reads is always in cache.
_USUAL: Final = 1.25
# What a statement costs besides itself (parsing, counting, commit), as a multiple of reading the clock.
_AROUND: Final = 4.0
_PROVEN: Final = 3
# The first polls of a connection, in which all is read and timed: neither statements nor tables are cached yet.
_SETTLING: Final = 12
# … unless a poll takes this share of the time until the next one.
_TOO_LONG: Final = 0.5
# What is throttled is timed anew once polls are this many times quicker than when it was timed last.
_EASED: Final = 2.0
_SMOOTH: Final = 0.1
_FORGOTTEN: Final = 0.01
_DEAREST: Final = 5
_COUNTED_S: Final = 10.0
_COUNTED_POLLS: Final = 5
# What a probe takes by itself, or for the first time, as a multiple of what it takes later in a batch.
_ALONE: Final = 3.0


class ProbeBudget:
    """Belongs to the collector of one connection.

    ``budget``: what polling may cost, all qmons of this database together; without one nothing is left out.
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._whole = budget or AT_ONCE
        # Our part.
        self.budget = self._whole
        self._qmons: int | None = None
        self._beside = 0.0
        self._pace = ProbePace(0.0)
        self._times: dict[Key, deque[float]] = {}
        self._costs: dict[Key, float] = {}
        # Milliseconds a poll of each probe, were nothing left out: some are not due in each poll.
        self._expected: dict[Key, float] = {}
        # How slow the server was when each was timed last.
        self._slow: dict[Key, float] = {}
        self._often: dict[Key, float] = {}
        self._waited: dict[Key, int] = {}
        # The share of the polls in which a queue is asked, unless it always is; 1: in each.
        self._turn = 1.0
        self._always: frozenset[str] = frozenset()
        self._slowness = Slowness()
        self._polls = 0
        self._next = 0
        self._asked_s = 0.0
        self._left_out: dict[str, set[str]] = {}
        self._asked: tuple[Key, ...] = ()
        self._read: frozenset[Key] = frozenset()
        self._watched: frozenset[str] = frozenset()
        self._all = False

    @property
    def interval_s(self) -> float:
        """Seconds until the next poll: what was asked for, or more where the budget is too small for that."""
        return max(self._pace.interval_s, self._asked_s)

    def share(self, qmons: int | None, beside: float = 0.0) -> None:
        """Keep to one part of the budget from now on, of as many as there are qmons; ``None``: their number is unknown.

        ``beside``: the share of a processor that other sessions of ours take all the time.
        """
        self._qmons, self._beside = qmons, beside
        self.budget = self._whole.part(qmons or 1)

    def choose(
        self,
        statements: Sequence[ProbeStatement],
        asked_s: float,
        watched: Collection[str] = (),
        every_s: float = 0.0,
        shown: Collection[str] = (),
    ) -> list[ProbeStatement]:
        """The statements of this poll without those that are left out of it.

        ``asked_s``: seconds between polls. ``watched``: queues that are throttled last. ``every_s``: queues that are
        neither ``watched`` nor ``shown`` are asked only this often; 0: in each poll.
        """
        self._polls += 1
        self._asked_s = asked_s
        self._turn, self._always = asked_s / every_s if every_s else 1.0, frozenset(("", *watched, *shown))
        self._watch(frozenset(watched))
        asked = self._asked = tuple(each.key for each in statements)
        for key in self._pace.every:
            if self._slow.get(key, 0.0) > _EASED * self._slowness.ratio:  # its cost is from a time that is over
                self._waited[key] = self._pace.every[key]
        if self._all:
            self._waited |= {key: n - 1 for key, n in self._pace.every.items()}
        room = float("inf")
        if not self._all:
            room = self.budget.allowed_ms(self.interval_s) - self._overhead_ms - self._beside_ms
        self._all = False
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

    def read_all(self) -> None:
        """Leave nothing out of the next poll."""
        self._all = True

    def _watch(self, watched: frozenset[str]) -> None:
        """Those that are watched from now on are read in each poll again; room for them is found at others."""
        newly, self._watched = watched - self._watched, watched
        if newly:
            every = {
                key: n
                for key, n in self._pace.every.items()
                if key[0] not in newly or self._rank(key) is not Rank.WATCHED
            }
            self._pace = replace(self._pace, every=every)

    def missed(self, keys: Collection[Key]) -> None:
        """The poll did not come to these, though they were chosen: they are left out of it, too."""
        for key in keys:
            self._left_out.setdefault(key[0], set()).add(_plain(key[1]))
            self._waited[key] = self._waited.get(key, 0) + 1

    def due(self, key: Key) -> bool:
        """Whether a probe is read that is asked for after the others, because of what they have found."""
        self._was_asked(key)
        late = self._waited.get(key, 0) + 1
        read = late >= self._pace.every.get(key, 1)
        self._waited[key] = 0 if read else late
        return read

    def _was_asked(self, key: Key) -> None:
        if key in self._often:
            self._often[key] += _SMOOTH
        else:
            self._often[key] = 1.0 if self._in_each(key) else self._turn

    def timed(self) -> frozenset[Key]:
        """The probes whose time is to be taken in this poll; more of them while the server is slow."""
        read = [key for key in self._asked if key in self._read]
        if not read or self._polls <= _SETTLING:
            return frozenset(read)
        count = max(_FEWEST, len(read) // (_SHARE_SLOW if self._slowness.doubtful else _SHARE))
        timed = {read[(self._next + n) % len(read)] for n in range(min(count, len(read)))}
        timed |= {key for key in read if not self._proven(key)}
        self._next = (self._next + count) % len(read)
        return frozenset(timed | (self._read & self._pace.every.keys()) | (self._read & {_CLOCK}))

    def learn(
        self, times: Mapping[Key, float], alone: Mapping[Key, float], server_ms: float | None, now_at: float = 0.0
    ) -> None:
        """Take in how long probes have taken in this poll, milliseconds, and the whole poll where that is known.

        ``alone``: of those that ran by themselves, which is dearer than in a batch; only until that is known.
        ``now_at``: server clock, seconds.
        """
        self._costs |= {key: max(0.0, ms) / _ALONE for key, ms in alone.items() if key not in self._times}
        for key, ms in times.items():
            self._times.setdefault(key, deque(maxlen=_LEAST_OF)).append(max(0.0, ms))
        nothing = self._clock_ms
        for key in times:
            cost = _USUAL * max(0.0, min(self._times[key]) - nothing) + _AROUND * nothing
            self._costs[key] = cost if self._proven(key) else cost / _ALONE
            self._slow[key] = self._slowness.ratio
        for key in [key for key, often in self._often.items() if often < _FORGOTTEN]:
            for memory in (self._often, self._times, self._costs, self._slow, self._waited):
                memory.pop(key, None)
        if server_ms is not None:
            intrinsic = self._overhead_ms + sum(self._costs.get(key, 0.0) for key in self._read)
            self._slowness.see(server_ms, intrinsic, now_at)
        self._expected = {key: ms * min(1.0, self._often.get(key, 0.0)) for key, ms in self._costs.items()}
        if server_ms is not None or alone or times:
            self._set_pace(server_ms)

    def _set_pace(self, server_ms: float | None) -> None:
        if self._polls < _SETTLING and (server_ms or 0.0) < _TOO_LONG * self._asked_s * 1000:
            return
        self._pace = pace(
            self._expected,
            self._overhead_ms + self._beside_ms,
            self.budget,
            self._asked_s,
            self._pace,
            self._rank,
            self._often,
            in_turns=self._turn < 1.0,
        )

    def _rank(self, key: Key) -> Rank:
        probe = _plain(key[1])
        if probe in _ALWAYS:
            return Rank.ALWAYS
        if probe in _DETAIL and self._proven(key):
            return Rank.DETAIL
        if not self._in_each(key) or (self._turn < 1.0 and not key[0]):
            return Rank.ALWAYS  # a queue has its turn every ten seconds, and needs what decides for all in that poll
        if not key[0]:
            return Rank.TARGET
        return Rank.WATCHED if key[0] in self._watched else Rank.DECIDES

    def _proven(self, key: Key) -> bool:
        """Whether it was timed often enough: the first times a statement is planned and its tables come to memory."""
        return len(self._times.get(key, ())) >= (_PROVEN if self._in_each(key) else 1)

    def _in_each(self, key: Key) -> bool:
        """Whether it is asked in each poll, and not in its queue's turn. A part is of one queue's table."""
        return self._turn >= 1.0 or (key[0] in self._always and PART not in key[1])

    @property
    def _clock_ms(self) -> float:
        """Milliseconds that reading the clock takes: between two readings of it, with a third in between, pass two."""
        return min(self._times.get(_CLOCK, (0.0,))) / 2

    @property
    def _beside_ms(self) -> float:
        """What other sessions of ours cost from one poll to the next."""
        return self._beside * self.interval_s * 1000

    @property
    def _overhead_ms(self) -> float:
        """What a poll costs besides its probes: reading the clock beside those that are timed."""
        return self._clock_ms * (2 + len(self._asked) / _SHARE)

    def cost_s(self, key: Key) -> float:
        """Seconds that a probe costs the server each time; 0 where that is not known."""
        return self._costs.get(key, 0.0) / 1000

    def left_out(self, queue: str) -> tuple[str, ...]:
        """The probes of a queue that are left out of this poll."""
        return tuple(sorted(self._left_out.get(queue, ())))

    def observing(self, commits: int) -> Observing:
        """What watching costs. ``commits``: transactions of qmon's own that the server had counted before this poll."""
        every = self._pace.every
        throttled = sorted(
            (self._throttled(key, n) for key, n in every.items()), key=lambda each: (-each.ms, each.probe)
        )
        dearest = nsmallest(_DEAREST, ((-ms, key) for key, ms in self._expected.items()))
        return Observing(
            budget=self._whole.text,
            allowed_ms=self.budget.allowed_ms(self.interval_s),
            asked_s=self._asked_s,
            expected_ms=_fine(
                self._overhead_ms + self._beside_ms + sum(ms / every.get(key, 1) for key, ms in self._expected.items())
            ),
            throttled=tuple(_joined(throttled)),
            dearest=tuple(
                ProbeCost(key[0], _plain(key[1]), _fine(self._costs[key]), _fine(min(1.0, self._often.get(key, 0.0))))
                for _, key in dearest
            ),
            slower=round(self._slowness.times, 1),
            slower_since=self._slowness.since_at,
            commits=commits,
            qmons=self._qmons,
        )

    def _throttled(self, key: Key, every: int) -> Throttled:
        usual = self.interval_s / min(1.0, max(self._often.get(key, 1.0), _FORGOTTEN))
        return Throttled(key[0], _plain(key[1]), _fine(usual * every), _fine(usual), _fine(self._costs[key]))


def _fine(value: float) -> float:
    """Rounded to what is significant: each poll is recorded, and digits take room."""
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


class Sharing:
    """Counts the qmons that poll this database, which share one budget: the median of the last ten seconds, and of five
    polls at least, so that neither a command of a few seconds nor a qmon that reconnects changes the others' part."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def see(self, now_at: float, pollers: int | None) -> int | None:
        """How many there are, with us. ``pollers``: as this poll has seen, ``None`` where our role is not shown others;
        ``now_at``: server clock, seconds."""
        if pollers is None:
            self._seen.clear()
            return None
        self._seen.append((now_at, max(1, pollers)))  # a name of the user's own hides us, too
        while len(self._seen) > _COUNTED_POLLS and now_at - self._seen[0][0] > _COUNTED_S:
            self._seen.popleft()
        return sorted(count for _, count in self._seen)[len(self._seen) // 2]
