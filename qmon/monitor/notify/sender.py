"""The notices to one receiver, on a thread of its own: in order, tried again until they are taken, a bounded number."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import SystemRandom
from typing import Final

from qmon import log
from qmon.model.alerts.alerts import AlertEvent
from qmon.model.alerts.notices import Notice

_LOG: Final = logging.getLogger(__name__)
MOST_WAITING: Final = 500


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of notices: ``problem`` is empty where they were taken, else one line without anything secret.

    ``detail``: what a program itself said, for the screen alone. ``again``: it may go better later; ``after_s``: the
    seconds that the receiver asks to be left alone for.
    """

    problem: str = ""
    again: bool = False
    after_s: float | None = None
    detail: str = ""


# Delivers notices, all or none, within a bounded time; raises nothing on purpose.
Deliver = Callable[[Sequence[Notice]], Delivery]


@dataclass(frozen=True, slots=True)
class BackOff:
    """How long to wait: twice as long after each failure, by chance down to half of it, up to ``most_s`` seconds."""

    first_s: float = 1.0
    most_s: float = 300.0
    longest_asked_s: float = 3_600.0
    chance: Callable[[], float] = SystemRandom().random

    def pause(self, failures: int, after_s: float | None) -> float:
        """Seconds to wait after a number of failures in a row, not less than the receiver asks for."""
        pause = min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30))
        return max(pause * (0.5 + 0.5 * self.chance()), min(after_s or 0.0, self.longest_asked_s))


class Sender:
    """Delivers notices to one receiver. All methods return at once but ``close``.

    Args:
        name: of the receiver.
        deliver: called on the sender's thread, with one notice, or where there is ``again_s`` with all that wait.
        report: called on any thread with one line when the receiver fails, fails otherwise, or works again.
        again_s: seconds after which what is not over is sent again.
    """

    def __init__(
        self,
        name: str,
        deliver: Deliver,
        *,
        report: Callable[[str], object] = lambda _: None,
        again_s: float | None = None,
        back_off: BackOff | None = None,
        most: int = MOST_WAITING,
    ) -> None:
        self.name = name
        self._deliver = deliver
        self._report = report
        self._again_s = again_s
        self._back_off = back_off or BackOff()
        self._most = most
        self._changed = threading.Condition()
        self._waiting: deque[Notice] = deque()
        # By key what the receiver was asked to take and is not over, where it wants to hear of it again.
        self._taken: dict[str, Notice] = {}
        self._sending: tuple[Notice, ...] = ()
        self._try_at = self._again_at = 0.0
        self._failures = self._dropped = 0
        self._problem = ""
        self._closing = self._full = False
        self._thread: threading.Thread | None = None

    def send(self, notice: Notice) -> None:
        """Have it delivered. One that waits is replaced by newer words on the same alert, unless one says it is over.

        Where too many wait, the oldest that only says that something is wrong is dropped.
        """
        problem = ""
        with self._changed:
            self._put(notice)
            if len(self._waiting) > self._most:
                del self._waiting[next((i for i, each in enumerate(self._waiting) if not each.over), 0)]
                self._dropped += 1
                problem = "" if self._full else f"{self._most} notices wait; older ones are dropped"
                self._full = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"qmon-notify-{self.name}", daemon=True)
                self._thread.start()
            self._changed.notify()
        if problem:
            self._report(f"notices to {self.name}: {problem}")
            _LOG.warning("notices to %s: %s", self.name, problem)

    def _put(self, notice: Notice) -> None:
        at = next((i for i in reversed(range(len(self._waiting))) if self._waiting[i].key == notice.key), None)
        if at is None or notice.over or self._waiting[at].over:
            self._waiting.append(notice)
            return
        before = self._waiting[at]
        event = AlertEvent.RAISED if before.event is AlertEvent.RAISED else notice.event
        self._waiting[at] = replace(notice, event=event, was=before.was or notice.was)

    def close(self) -> None:
        """Begin to end: what waits is tried once more, without waiting."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def join(self, patience_s: float) -> str:
        """Wait for its end, some seconds at most; returns a line about what was not sent, or nothing."""
        if self._thread is not None:
            self._thread.join(patience_s)
        with self._changed:
            lost, dropped = len(self._waiting) + len(self._sending), self._dropped
        if not lost and not dropped:
            return ""
        more = f", {dropped} dropped before" if dropped else ""
        return f"notices to {self.name}: {lost} not sent{more}{f': {self._problem}' if self._problem else ''}"

    def _work(self) -> None:
        while batch := self._next():
            try:
                found = self._deliver(batch)
            except Exception as problem:  # a defect of ours; another notice may go through
                found = Delivery(log.report(problem))
            if not self._settle(batch, found):
                return

    def _next(self) -> tuple[Notice, ...]:
        """Wait for what is to be delivered now; nothing at the end."""
        with self._changed:
            while True:
                now = time.monotonic()
                if self._taken and now >= self._again_at and not self._closing:
                    known = {each.key for each in self._waiting}
                    self._waiting.extend(each for key, each in self._taken.items() if key not in known)
                    self._again_at = now + (self._again_s or 0.0)
                if self._waiting and (self._closing or now >= self._try_at):
                    count = len(self._waiting) if self._again_s is not None else 1
                    self._sending = tuple(self._waiting.popleft() for _ in range(count))
                    return self._sending
                if self._closing:
                    return ()
                until = [self._try_at] if self._waiting else [self._again_at] if self._taken else []
                self._changed.wait(max(0.0, min(until) - now) if until else None)

    def _settle(self, batch: Sequence[Notice], found: Delivery) -> bool:
        """Note what became of it; returns whether to go on."""
        words = ""
        with self._changed:
            self._sending = ()
            if found.again:
                self._failures += 1
                self._try_at = time.monotonic() + self._back_off.pause(self._failures, found.after_s)
                self._waiting.extendleft(reversed(batch))
            elif found.problem:
                self._failures, self._dropped = 0, self._dropped + len(batch)
                self._know(batch)
            else:
                self._failures = 0
                self._know(batch)
                if self._problem or self._dropped:
                    words = f"works again{f'; {self._dropped} notices were dropped' if self._dropped else ''}"
                    self._dropped, self._full = 0, False
            closing = self._closing
        dropped = "; the notice is dropped" if found.problem and not found.again and self._again_s is None else ""
        self._say(found.problem + dropped or words, found.detail)
        return not (closing and found.again)

    def _know(self, batch: Sequence[Notice]) -> None:
        if self._again_s is None:
            return
        for notice in batch:
            if notice.over:
                self._taken.pop(notice.key, None)
            else:
                self._taken[notice.key] = replace(notice, was=None)
        self._again_at = time.monotonic() + self._again_s

    def _say(self, words: str, detail: str = "") -> None:
        if not words or words == self._problem:
            return
        self._problem = "" if words.startswith("works again") else words
        _LOG.log(logging.WARNING if self._problem else logging.INFO, "notices to %s: %s", self.name, words)
        self._report(f"notices to {self.name}: {words}{f': {detail}' if detail else ''}")
