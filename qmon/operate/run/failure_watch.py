"""Watches the messages of a redrive, and ends the redrive if too many messages fail again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from qmon.model.formatting import count_text
from qmon.texts import Text


class FailureText(Text):
    """Texts about messages that failed again during a redrive."""

    STOPPED = "stopped: {messages} failed again"
    UNSEEN = "qmon cannot see which messages fail again"
    STOPS_AT = "; stops at {count:,}"
    PROGRESS = "failed again: {failed:,}{stops}"
    SUMMARY = "{failed:,} failed again, {finished:,} are done or gone, {rest:,} not yet"


# Maximum number of messages whose outcomes are read at once.
MAX_READ: Final = 1_000

# Maximum number of unfinished messages to watch. If there are more, only the messages made ready last are watched.
MAX_WATCHED: Final = 10_000
CHECK_EVERY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a message: ``failed`` again, ``done``, or ``waiting`` to be popped or completed."""

    id: str
    what: str


# Reads the outcomes of the messages with these ids. Deleted messages are left out.
ReadOutcomes = Callable[[Sequence[str]], Iterable[Outcome]]


class FailureWatch:
    """Watch the messages of one redrive. Not thread-safe.

    ``max_failures``: the redrive ends after this number of failures; ``None`` means no limit. Only the first outcome of
    each message counts. A deleted message counts as done.
    """

    def __init__(
        self, max_failures: int | None, read_outcomes: ReadOutcomes | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._max_failures, self._read_outcomes, self._clock = max_failures, read_outcomes, clock
        self._batch: tuple[str, ...] = ()
        self._waiting: deque[str] = deque(maxlen=MAX_WATCHED)
        self._checked_at = clock()
        self.failed = self.finished = 0

    def record_batch(self, ids: Callable[[], Iterable[str]]) -> None:
        """Remember the messages of the current batch until it is committed.

        ``ids`` is only called if outcomes can be read.
        """
        self._batch = () if self._read_outcomes is None else tuple(ids())

    def record_commit(self) -> None:
        """Start watching the messages of the batch, because it was committed."""
        self._waiting.extend(self._batch)
        self._batch = ()

    def why_stop(self) -> str | None:
        """Return why the redrive must stop, or ``None``. Reads outcomes at most every ``CHECK_EVERY_S`` seconds."""
        if self._clock() - self._checked_at >= CHECK_EVERY_S:
            self.check_outcomes()
        if self._max_failures is None or self.failed < self._max_failures:
            return None
        return FailureText.STOPPED.render(messages=count_text(self.failed, "message"))

    def check_outcomes(self) -> None:
        """Read the outcomes of some messages, starting with the messages that were checked longest ago."""
        if self._read_outcomes is not None and self._waiting:
            some = [self._waiting.popleft() for _ in range(min(MAX_READ, len(self._waiting)))]
            found = {each.id: each.what for each in self._read_outcomes(some)}
            self.failed += sum(what == "failed" for what in found.values())
            waiting = [id for id in some if found.get(id) == "waiting"]
            self.finished += len(some) - len(waiting)
            self._waiting.extend(waiting)
        self._checked_at = self._clock()

    def progress_text(self) -> str:
        """Describe how many messages have failed again, and at how many failures the redrive stops."""
        if self._read_outcomes is None:
            return FailureText.UNSEEN
        most = "" if self._max_failures is None else FailureText.STOPS_AT.render(count=self._max_failures)
        return FailureText.PROGRESS.render(failed=self.failed, stops=most)

    def summary_text(self, done: int) -> str:
        """Describe the outcomes of all messages. ``done``: how many were made ready. Call this after the last batch."""
        if self._read_outcomes is None:
            return self.progress_text()
        self.check_outcomes()
        rest = done - self.finished
        return FailureText.SUMMARY.render(failed=self.failed, finished=self.finished - self.failed, rest=rest)
