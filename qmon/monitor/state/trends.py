"""Find trends of one queue in the last hour: rising backlog, slower messages, silent producers, later due times."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from statistics import median
from typing import Final

from qmon.model.figure import Figure
from qmon.model.rates.flow import Flow
from qmon.model.trend import DueLater, Rise, Silence, Slower

_MINUTE_S: Final = 60.0

# Minutes that are remembered.
_MOST: Final = 60

# A backlog rises if it has grown for at least this many minutes.
_RISE: Final = 21

# Minimum minutes if the pop rate is unknown. In that case, no other verdict reports the rise sooner.
_UNRATED: Final = 6

# Fewer ready messages than this are no backlog.
_BACKLOG: Final = 100

# A backlog that consumers clear within this many seconds is not a problem.
_WAITS_S: Final = 60.0

# Messages are slower if the time per message is at least this many times the time before.
_SLOWER: Final = 3.0

# Minimum number of polls in a minute that must have read the messages in progress.
_POLLS: Final = 3

# Minutes needed to know how long messages took before.
_BEFORE: Final = 5

# How often messages must have been seen in progress before and in the newest minute. With fewer sightings, chance
# decides how long messages seem to take.
_SEEN_BEFORE: Final = 5
_SEEN_NOW: Final = 10

# Until a minute is this many seconds old, the minute before it is the newest one.
_NEW_S: Final = 30.0

# A queue is busy if there were pushes in each of this many consecutive minutes.
_BUSY: Final = 10
_SILENT_S: Final = 30.0

# Silence is reported only if at least this many pushes are missing at the usual rate.
_MISSED: Final = 60

# Silence is reported only after this many times the longest break of the last hour.
_LONGER: Final = 5

# Minimum seconds of a step. In each step, pushed messages are compared with messages that became ready.
_STEP_S: Final = 5.0

# Minimum numbers of such steps, of seconds and of pushed messages before messages count as due later than usual.
_LATER_STEPS: Final = 3
_LATER_S: Final = 20.0
_LATER: Final = 20

# Minimum number of earlier messages for the comparison.
_KNOWN: Final = 60

# Maximum share of earlier messages that were due later.
_SELDOM: Final = 0.1

# After a gap longer than this many seconds, the minutes before it are forgotten.
_GAP_S: Final = 300.0


@dataclass(slots=True)
class _Minute:
    """Extremes and sums of the polls of one minute.

    ``youngest``, ``oldest``: extreme ages of the oldest message, seconds. ``seen``: how often each message was seen in
    progress; ``None`` if the messages are not known.
    """

    at: float
    least: float
    most: float
    youngest: float | None
    oldest: float | None
    polls: int = 0
    working: float = 0.0
    finished: float = 0.0
    seen: Counter[str] | None = field(default_factory=Counter)

    @property
    def worked(self) -> float:
        """Sum of the messages in progress over all polls, without the message that was seen most often.

        A single message that a consumer does not finish would make all messages seem slow.
        """
        return max(0.0, self.working - (max(self.seen.values(), default=0) if self.seen else 0))

    @property
    def takes_s(self) -> float | None:
        """Mean seconds that a message was in progress, by Little's law.

        ``None`` if too few polls read the messages in progress, or if no message was finished.
        """
        return None if self.polls < _POLLS or not self.finished else self.worked / self.finished


class TrendTrack:
    """The last hour of one queue. Not thread-safe."""

    def __init__(self) -> None:
        self._minutes: deque[_Minute] = deque(maxlen=_MOST + 1)

    def clear(self) -> None:
        """Forget all minutes, for example after a gap."""
        self._minutes.clear()

    def record_poll(
        self,
        at: float,
        ready: float,
        oldest_s: float | None,
        *,
        working: float | None,
        finished_per_s: float | None,
        popped_per_s: float | None,
        ids: Mapping[str, int] | None = None,
    ) -> tuple[Rise | None, Slower | None]:
        """Record one poll at ``at`` (server clock, seconds); return the findings of the last hour.

        Args:
            ready: ready messages.
            oldest_s: age of the oldest ready message; ``None`` if unknown.
            working: messages in progress. With ``finished_per_s``, this gives how long a message takes.
            ids: the messages in progress, or the transactions that hold messages, each with its number of messages.
                ``None`` if unknown.
            popped_per_s: pop rate; ``None`` if unknown. If ages are unknown, it gives the wait of the newest ready
                message.
        """
        if self._minutes and at - self._minutes[-1].at >= _GAP_S:
            self.clear()
        if not self._minutes or at - self._minutes[-1].at >= _MINUTE_S:
            self._minutes.append(_Minute(at, ready, ready, oldest_s, oldest_s))
        minute = self._minutes[-1]
        minute.least, minute.most = min(minute.least, ready), max(minute.most, ready)
        if oldest_s is not None:
            minute.youngest = oldest_s if minute.youngest is None else min(minute.youngest, oldest_s)
            minute.oldest = oldest_s if minute.oldest is None else max(minute.oldest, oldest_s)
        if working is not None and finished_per_s is not None:
            minute.polls, minute.working = minute.polls + 1, minute.working + working
            minute.finished += finished_per_s
            if ids is None:
                minute.seen = None
            elif minute.seen is not None:
                minute.seen.update(ids)
        wait_s = oldest_s if oldest_s is not None or not popped_per_s else ready / popped_per_s
        return self._find_rise(at, ready, wait_s, rated=popped_per_s is not None), self._find_slower(at)

    def _find_rise(self, at: float, ready: float, wait_s: float | None, *, rated: bool) -> Rise | None:
        """Return a rise if the backlog grew from each third of the time to the next, and the ages grew, too."""
        if len(self._minutes) <= (_RISE if rated else _UNRATED) or ready < _BACKLOG:
            return None
        if rated if wait_s is None else wait_s < _WAITS_S:
            return None
        minutes = list(self._minutes)[:-1]  # the newest minute has only begun
        third = len(minutes) // 3
        parts = minutes[:third], minutes[third:-third], minutes[-third:]
        middles = [median(minute.most for minute in part) for part in parts]
        if not middles[0] < middles[1] < middles[2]:
            return None
        if min(minute.least for minute in parts[2]) <= max(minute.most for minute in parts[0]):
            return None
        ages = [minute.youngest for minute in parts[2]], [minute.oldest for minute in parts[0]]
        young, old = ([age for age in part if age is not None] for part in ages)
        if young and old and min(young) <= max(old):
            return None
        if ready < min(minute.least for minute in minutes[-3:]):
            return None  # the backlog is falling now
        first = minutes[0]
        return Rise(first.least, ready, first.youngest, wait_s if young else None, at - first.at)

    def _find_slower(self, at: float) -> Slower | None:
        """Return a slowdown if messages take longer now than in the minutes before the first slow minute."""
        known = [(minute, takes_s) for minute in self._minutes if (takes_s := minute.takes_s) is not None]
        if known and at - known[-1][0].at < _NEW_S and known[-1][0].worked < _SEEN_NOW:
            known.pop()
        if len(known) <= _BEFORE:
            return None
        newest, now_s = known[-1]
        slow = len(known)
        while slow and 2 * known[slow - 1][1] > now_s:
            slow -= 1
        if slow < _BEFORE or slow == len(known):
            return None
        before = [minute for minute, _ in known[:slow]]
        worked = sum(minute.worked for minute in before)
        before_s = worked / sum(minute.finished for minute in before)
        if not worked or now_s < _SLOWER * before_s:
            return None
        is_sure = newest.worked >= _SEEN_NOW and worked >= _SEEN_BEFORE and newest.seen is not None
        return Slower(before_s, now_s, known[slow][0].at, is_sure=is_sure)


class SilenceTrack:
    """The push times of one queue in the last hour. Not thread-safe."""

    def __init__(self) -> None:
        self._minutes: deque[tuple[float, float]] = deque(maxlen=_MOST)
        self._last_at: float | None = None
        self._breaks: deque[tuple[float, float]] = deque()

    def record_poll(self, at: float, pushed: float | None) -> Silence | None:
        """Record the messages pushed since the previous poll; ``None`` (unknown) counts as a push.

        ``at``: server clock, seconds. Returns the silence of a busy queue, if it has lasted long enough.
        """
        if self._last_at is None or pushed is None or pushed > 0:
            if self._last_at is not None:
                self._breaks.append((at, at - self._last_at))
            self._last_at = at
            self._count_pushes(at, pushed or 0.0)
        while self._breaks and at - self._breaks[0][0] > _MOST * _MINUTE_S:
            self._breaks.popleft()
        silent_s = at - self._last_at
        if silent_s < _SILENT_S:
            return None
        before = list(self._minutes)[-_BUSY - 1 : -1]
        if len(before) < _BUSY or self._last_at - before[0][0] > (_BUSY + 2) * _MINUTE_S:
            return None
        if not all(count for _, count in before):
            return None
        per_s = sum(count for _, count in before) / (_BUSY * _MINUTE_S)
        longest_s = max((length for _, length in self._breaks), default=0.0)
        if silent_s < max(_MISSED / per_s, _LONGER * longest_s):
            return None
        return Silence(silent_s, per_s)

    def _count_pushes(self, at: float, pushed: float) -> None:
        if not self._minutes or at - self._minutes[-1][0] >= _MINUTE_S:
            self._minutes.append((at, 0.0))
        first_at, count = self._minutes[-1]
        self._minutes[-1] = first_at, count + pushed


@dataclass(frozen=True, slots=True)
class _Step:
    """Messages pushed between two counts of the scheduled messages, and how many of them are due later."""

    from_at: float
    to_at: float
    pushed: float
    later: float

    @property
    def is_mostly_later(self) -> bool:
        return 2 * self.later > self.pushed


class DueTrack:
    """The share of pushed messages of one queue that were due later. Not thread-safe.

    A pushed message that neither became ready nor was popped counts as due later, if the number of scheduled messages
    also rose. Messages scheduled for a retry do not count, because each of them was popped.
    """

    def __init__(self) -> None:
        self._steps: deque[_Step] = deque()
        self._begin: tuple[float, float, Figure] | None = None
        self._pushed = 0.0
        self._popped = 0.0

    def record_poll(self, at: float, flow: Flow | None, ready: Figure, scheduled: Figure) -> DueLater | None:
        """Record one poll at ``at`` (server clock, seconds); return whether messages are due later than usual.

        ``flow``: messages moved since the previous poll. An old or bounded ``ready`` and an old ``scheduled`` are
        ignored.
        """
        if flow is None or flow.popped is None or ready.value is None or ready.at_least:
            self._begin = None
        else:
            self._pushed, self._popped = self._pushed + flow.pushed, self._popped + flow.popped
        if scheduled.value is not None and not scheduled.age_s and ready.value is not None and not ready.at_least:
            self._end_step(at, ready.value, scheduled)
        while self._steps and at - self._steps[0].to_at > _MOST * _MINUTE_S:
            self._steps.popleft()
        return self._find_due_later(scheduled)

    def _end_step(self, at: float, ready: float, scheduled: Figure) -> None:
        """End a step and start the next one."""
        if self._begin is not None:
            from_at, ready_before, scheduled_before = self._begin
            if at - from_at < _STEP_S:
                return
            later = self._pushed - self._popped - (ready - ready_before)
            if not scheduled.at_least:
                later = min(later, (scheduled.value or 0.0) - (scheduled_before.value or 0.0))
            if self._pushed:
                self._steps.append(_Step(from_at, at, self._pushed, min(max(0.0, later), self._pushed)))
        self._begin, self._pushed, self._popped = (at, ready, scheduled), 0.0, 0.0

    def _find_due_later(self, scheduled: Figure) -> DueLater | None:
        newest = list(takewhile(lambda step: step.is_mostly_later, reversed(self._steps)))
        pushed, later = (sum(step.pushed for step in newest), sum(step.later for step in newest))
        if len(newest) < _LATER_STEPS or newest[0].to_at - newest[-1].from_at < _LATER_S or pushed < _LATER:
            return None
        if scheduled.value is None or (2 * scheduled.value < later and not scheduled.at_least):
            return None  # the messages have become due or are gone
        before = list(self._steps)[: -len(newest) - 1]  # without the step in which the change began
        known = sum(step.pushed for step in before)
        if known < _KNOWN or (share := sum(step.later for step in before) / known) > _SELDOM:
            return None
        return DueLater(pushed, later, newest[-1].from_at, share)
