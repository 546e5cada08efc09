"""Watches the messages of a redrive: those that fail again are counted, and too many of them end it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model.text import counted

# Messages that one look reads, by their key.
LOOKED_AT: Final = 1_000
# Of messages that are neither done nor failed so many are watched, those made ready last.
WATCHED: Final = 10_000
LOOK_EVERY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a message: ``failed`` again, ``done``, or ``waiting``, to be popped or completed."""

    id: str
    what: str


# What became of the messages with these ids; those that are gone are left out.
Look = Callable[[Sequence[str]], Iterable[Outcome]]


class FailureWatch:
    """One redrive's messages. ``most``: so many failures end it; ``None``: none do. Not for several threads.

    Of each message the first outcome counts. One that is gone, or done, has not failed.
    """

    def __init__(self, most: int | None, look: Look | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._look, self._clock = most, look, clock
        self._batch: tuple[str, ...] = ()
        self._waiting: deque[str] = deque(maxlen=WATCHED)
        self._looked_at = clock()
        self.failed = self.over = 0

    def batch(self, ids: Callable[[], Iterable[str]]) -> None:
        """The batch under way makes these ready; only asked for where they are watched."""
        self._batch = () if self._look is None else tuple(ids())

    def committed(self) -> None:
        """The batch is committed."""
        self._waiting.extend(self._batch)
        self._batch = ()

    def why_stop(self) -> str | None:
        """Why nothing more is to be made ready; looks once in a while."""
        if self._clock() - self._looked_at >= LOOK_EVERY_S:
            self.look()
        if self._most is None or self.failed < self._most:
            return None
        return f"stopped: {counted(self.failed, 'message')} failed again"

    def look(self) -> None:
        """Read what became of some of the messages, those first that were not looked at for longest."""
        if self._look is not None and self._waiting:
            some = [self._waiting.popleft() for _ in range(min(LOOKED_AT, len(self._waiting)))]
            found = {each.id: each.what for each in self._look(some)}
            self.failed += sum(what == "failed" for what in found.values())
            waiting = [id for id in some if found.get(id) == "waiting"]
            self.over += len(some) - len(waiting)
            self._waiting.extend(waiting)
        self._looked_at = self._clock()

    def words(self) -> str:
        """How many have failed so far, of how many that may."""
        if self._look is None:
            return "which of them fail again is not known"
        most = "" if self._most is None else f"; stops at {self._most:,}"
        return f"failed again: {self.failed:,}{most}"

    def summary(self, done: int) -> str:
        """What has become of those that were made ready, once there are no more to make."""
        if self._look is None:
            return self.words()
        self.look()
        rest = done - self.over
        return f"{self.failed:,} failed again, {self.over - self.failed:,} are done or gone, {rest:,} not yet"
