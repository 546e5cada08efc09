"""Watches the messages of a redrive. Too many messages that fail again end the redrive."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model.text import counted

# Maximum number of messages per read of outcomes, by key.
LOOKED_AT: Final = 1_000

# Maximum number of unfinished messages to watch. The ones made ready last are kept.
WATCHED: Final = 10_000
LOOK_EVERY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a message: ``failed`` again, ``done``, or ``waiting`` to be popped or completed."""

    id: str
    what: str


# Reads the outcomes of the messages with these ids. Deleted messages are left out.
Look = Callable[[Sequence[str]], Iterable[Outcome]]


class FailureWatch:
    """Watch the messages of one redrive. Not thread-safe.

    ``max_failures``: this many failures end the redrive; ``None``: no limit. Only the first outcome of each message
    counts. A deleted message counts as done.
    """

    def __init__(self, most: int | None, look: Look | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._look, self._clock = most, look, clock
        self._batch: tuple[str, ...] = ()
        self._waiting: deque[str] = deque(maxlen=WATCHED)
        self._looked_at = clock()
        self.failed = self.over = 0

    def batch(self, ids: Callable[[], Iterable[str]]) -> None:
        """Remember the messages of the current batch. ``ids`` is only called if outcomes can be read."""
        self._batch = () if self._look is None else tuple(ids())

    def committed(self) -> None:
        """Start watching the messages of the batch, because it was committed."""
        self._waiting.extend(self._batch)
        self._batch = ()

    def why_stop(self) -> str | None:
        """Return why the redrive must stop, or ``None``. Reads outcomes at most every ``CHECK_EVERY_S`` seconds."""
        if self._clock() - self._looked_at >= LOOK_EVERY_S:
            self.look()
        if self._most is None or self.failed < self._most:
            return None
        return f"stopped: {counted(self.failed, 'message')} failed again"

    def look(self) -> None:
        """Read the outcomes of some messages, those checked longest ago first."""
        if self._look is not None and self._waiting:
            some = [self._waiting.popleft() for _ in range(min(LOOKED_AT, len(self._waiting)))]
            found = {each.id: each.what for each in self._look(some)}
            self.failed += sum(what == "failed" for what in found.values())
            waiting = [id for id in some if found.get(id) == "waiting"]
            self.over += len(some) - len(waiting)
            self._waiting.extend(waiting)
        self._looked_at = self._clock()

    def words(self) -> str:
        """Return how many messages failed again, and the limit."""
        if self._look is None:
            return "which of them fail again is not known"
        most = "" if self._most is None else f"; stops at {self._most:,}"
        return f"failed again: {self.failed:,}{most}"

    def summary(self, done: int) -> str:
        """Return the outcomes of all ``done`` messages that were made ready. Call this after the last batch."""
        if self._look is None:
            return self.words()
        self.look()
        rest = done - self.over
        return f"{self.failed:,} failed again, {self.over - self.failed:,} are done or gone, {rest:,} not yet"
