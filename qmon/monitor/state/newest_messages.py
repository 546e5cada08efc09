"""Compare the newest messages of one queue: push times from a wrong clock, and the same message again and again."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from qmon.model.evidence import Duplicates, WrongClock
from qmon.model.samples.message_samples import NewestSample
from qmon.model.snapshot import QueueSamples

# Messages of the last seconds are compared with each other.
RECENT_S: Final = 60.0

# A push time that is wrong by at least this many seconds is not explained by clock drift.
_WRONG_S: Final = 60.0

# Push times are read a moment after the poll begins.
_JITTER_S: Final = 2.0

# Minimum numbers of readings and of messages with the same difference. A transaction that began long ago, or an import
# with old push times, has a different difference in each reading.
_MIN_READINGS: Final = 3
_MIN_WRONG: Final = 5

# Maximum number of differences that are followed.
_MAX_OFFSETS: Final = 8

# Readings kept for each difference: more than a minute of readings, however often they are.
_KEPT_READINGS: Final = 600

# Minimum number of equal messages and their minimum share of the newest messages.
_MIN_COPIES: Final = 5
_MIN_COPIES_SHARE: Final = 0.2

# Number of earlier messages to compare with, and how much more often a message must come now than any message before.
_MIN_BEFORE: Final = 40
_MAX_BEFORE: Final = 1000
_MORE_COPIES: Final = 5.0


@dataclass(slots=True)
class _Offset:
    """A difference between push times and the server's clock, from ``low`` to ``high`` seconds behind."""

    low: float
    high: float
    first_at: float
    # Time and number of messages of each reading.
    readings: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=_KEPT_READINGS))


class ClockTrack:
    """The push times of one queue's newest messages. Not thread-safe.

    A message whose id was issued after the previous reading was pushed after the previous reading. So the difference
    between its push time and the server's clock is known, up to the time between the two readings.
    """

    def __init__(self) -> None:
        self._offsets: list[_Offset] = []
        self._totals: deque[tuple[float, int]] = deque()

    def record_reading(self, new: Sequence[NewestSample], gap_s: float, at: float) -> None:
        """Record the messages pushed since the previous reading, which was ``gap_s`` seconds before ``at``."""
        ages = [row.age_s for row in new if row.age_s is not None]
        self._totals.append((at, len(ages)))
        counts = Counter[int]()
        for age_s in ages:
            if -_WRONG_S < age_s < gap_s + _WRONG_S:
                continue
            low, high = age_s - gap_s - _JITTER_S, age_s + _JITTER_S
            place = next((n for n, each in enumerate(self._offsets) if low <= each.high and each.low <= high), None)
            if place is None:
                self._offsets.append(_Offset(low, high, at))
                place = len(self._offsets) - 1
            offset = self._offsets[place]
            offset.low, offset.high = max(offset.low, low), min(offset.high, high)
            counts[place] += 1
        for place, count in counts.items():
            self._offsets[place].readings.append((at, count))
        self._offsets = sorted(self._offsets, key=lambda each: each.readings[-1][0])[-_MAX_OFFSETS:]

    def find_wrong_clock(self, at: float) -> WrongClock | None:
        """Return the most frequent difference of the last minute, if several readings agree."""
        _drop_old(self._totals, at)
        found: list[WrongClock] = []
        for offset in self._offsets:
            recent = [count for read_at, count in offset.readings if at - read_at <= RECENT_S]
            if len(recent) >= _MIN_READINGS and sum(recent) >= _MIN_WRONG:
                total = sum(count for _, count in self._totals)
                behind_s = (offset.low + offset.high) / 2
                found.append(WrongClock(behind_s, sum(recent), total, offset.first_at))
        return max(found, key=lambda each: each.messages, default=None)

    def may_be_wrong(self, age_s: float) -> bool:
        """Return whether this age, by a push time, may come from a clock that was behind in several readings."""
        return any(len(each.readings) >= _MIN_READINGS and 0 < each.low <= age_s for each in self._offsets)

    @property
    def has_found(self) -> bool:
        """True once several readings had the same difference."""
        return any(len(each.readings) >= _MIN_READINGS for each in self._offsets)


class DuplicateTrack:
    """The contents of one queue's newest messages. Not thread-safe."""

    def __init__(self) -> None:
        self._recent: deque[tuple[float, int, str]] = deque()
        self._before: deque[str] = deque(maxlen=_MAX_BEFORE)

    def record_reading(self, new: Sequence[NewestSample], at: float) -> None:
        """Record the messages pushed since the previous reading."""
        self._recent.extend((at, row.id, row.fingerprint) for row in new if row.fingerprint is not None)

    def find_duplicates(self, at: float) -> Duplicates | None:
        """Return the message that was pushed most often in the last minute, if no message came often before."""
        while self._recent and at - self._recent[0][0] > RECENT_S:
            self._before.append(self._recent.popleft()[2])
        if not self._recent or len(self._before) < _MIN_BEFORE:
            return None
        ((text, copies),) = Counter(text for _, _, text in self._recent).most_common(1)
        ((_, most_before),) = Counter(self._before).most_common(1)
        share, share_before = copies / len(self._recent), most_before / len(self._before)
        if copies < _MIN_COPIES or share < max(_MIN_COPIES_SHARE, _MORE_COPIES * share_before):
            return None
        ids = sorted(id for _, id, each in self._recent if each == text)
        return Duplicates(copies, len(self._recent), (ids[-2], ids[-1]), share_before)


class NewestTrack:
    """The newest messages of one queue. Not thread-safe."""

    def __init__(self) -> None:
        self.clock = ClockTrack()
        self._duplicates = DuplicateTrack()
        self._last: tuple[float, int] | None = None

    def record_poll(self, samples: QueueSamples, at: float) -> tuple[WrongClock | None, Duplicates | None]:
        """Record one poll at ``at`` (server clock, seconds); return the findings."""
        newest = samples.diagnostics.newest
        if newest is not None and samples.last_id is not None:
            if self._last is not None:
                last_at, last_id = self._last
                new = [row for row in newest if row.id > last_id]
                self.clock.record_reading(new, at - last_at, at)
                self._duplicates.record_reading(new, at)
            self._last = at, samples.last_id
        return self.clock.find_wrong_clock(at), self._duplicates.find_duplicates(at)


def _drop_old(readings: deque[tuple[float, int]], at: float) -> None:
    while readings and at - readings[0][0] > RECENT_S:
        readings.popleft()
