"""Send the notices of one receiver on a separate thread: in order, with retries, from a bounded queue."""

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
from qmon.model.alerts.latches import AlertEvent
from qmon.model.alerts.notices import Notice
from qmon.model.formatting import count_text
from qmon.texts import Text

_LOG: Final = logging.getLogger(__name__)
MOST_WAITING: Final = 500


class DeliveryText(Text):
    """Problems of receivers, and lines about unsent notices."""

    LINE = "notices to {receiver}: {what}"
    WITH_DETAIL = "{line}: {detail}"
    TOO_MANY = "{most:,} notices are queued; qmon drops the oldest"
    DROPPED = "{problem}; the notice is dropped"
    WORKS_AGAIN = "works again"
    WORKS_AFTER_DROPS = "works again; qmon dropped {notices} in the meantime"
    NOT_SENT = "{lost:,} not sent"
    NOT_SENT_AND_DROPPED = "{lost:,} not sent, {dropped:,} dropped earlier"

    NO_ANSWER = "no answer within {time}"
    ANSWERED = "answered {status}"
    REDIRECTED = "answered {status}; qmon does not follow redirects"
    UNTRUSTED = "the server's certificate is not trusted: {reason}"
    TLS_FAILED = "TLS failed: {reason}"
    UNREACHABLE = "cannot be reached: {reason}"

    CANNOT_RUN = "the command cannot be run"
    TOOK_LONGER = "the command took longer than {time} and was killed"
    EXIT_CODE = "the command ended with exit code {code}"


@dataclass(frozen=True, slots=True)
class Delivery:
    """The result of a delivery. ``problem``: empty if the receiver accepted it, otherwise one line without secrets.

    ``detail``: text that a program printed, shown only on the screen. ``again``: a retry may succeed. ``after_s``: the
    seconds that the receiver asks to wait.
    """

    problem: str = ""
    again: bool = False
    after_s: float | None = None
    detail: str = ""


# Delivers all of the notices or no notice, within a limited time. An exception is a bug in qmon.
Deliver = Callable[[Sequence[Notice]], Delivery]


@dataclass(frozen=True, slots=True)
class BackOff:
    """The waits between retries.

    The waits double after each failure, up to ``most_s`` seconds. Each wait is reduced randomly by up to half.
    """

    first_s: float = 1.0
    most_s: float = 300.0
    longest_asked_s: float = 3_600.0
    chance: Callable[[], float] = SystemRandom().random

    def pause(self, failures: int, after_s: float | None) -> float:
        """Return the seconds to wait after ``failures`` failures in a row, but not less than ``after_s`` seconds."""
        pause = min(self.most_s, self.first_s * 2.0 ** min(failures - 1, 30))
        return max(pause * (0.5 + 0.5 * self.chance()), min(after_s or 0.0, self.longest_asked_s))


class Sender:
    """Deliver notices to one receiver. All methods except ``close`` return immediately.

    Args:
        name: the name of the receiver.
        deliver: called on the sender's thread with one notice, or with all queued notices if ``again_s`` is set.
        report: called on any thread with one line when the receiver fails, fails differently, or works again.
        again_s: notices of alerts that are not over are sent again after this many seconds.
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
        # Accepted notices of alerts that are not over, keyed by `Notice.key`. Used only for receivers that need notices
        # repeatedly.
        self._taken: dict[str, Notice] = {}
        self._sending: tuple[Notice, ...] = ()
        self._try_at = self._again_at = 0.0
        self._failures = self._dropped = 0
        self._problem = ""
        self._closing = self._full = False
        self._thread: threading.Thread | None = None

    def send(self, notice: Notice) -> None:
        """Queue a notice.

        The notice replaces a queued notice for the same alert, unless one of the two notices ends the alert.

        If too many notices are queued, the oldest notice that does not end an alert is dropped.
        """
        problem = ""
        with self._changed:
            self._queue_notice(notice)
            if len(self._waiting) > self._most:
                del self._waiting[next((i for i, each in enumerate(self._waiting) if not each.is_over), 0)]
                self._dropped += 1
                problem = "" if self._full else DeliveryText.TOO_MANY.render(most=self._most)
                self._full = True
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._deliver_queued, name=f"qmon-notify-{self.name}", daemon=True
                )
                self._thread.start()
            self._changed.notify()
        if problem:
            self._report_change(logging.WARNING, problem)

    def _queue_notice(self, notice: Notice) -> None:
        at = next((i for i in reversed(range(len(self._waiting))) if self._waiting[i].key == notice.key), None)
        if at is None or notice.is_over or self._waiting[at].is_over:
            self._waiting.append(notice)
            return
        before = self._waiting[at]
        event = AlertEvent.RAISED if before.event is AlertEvent.RAISED else notice.event
        self._waiting[at] = replace(notice, event=event, was=before.was or notice.was)

    def close(self) -> None:
        """Begin to shut down: try the queued notices once more, without waiting between retries."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def join(self, patience_s: float) -> str:
        """Wait up to ``patience_s`` seconds for the end; return a line about unsent notices, or an empty string."""
        if self._thread is not None:
            self._thread.join(patience_s)
        with self._changed:
            lost, dropped = len(self._waiting) + len(self._sending), self._dropped
        if not lost and not dropped:
            return ""
        what = (
            DeliveryText.NOT_SENT_AND_DROPPED.render(lost=lost, dropped=dropped)
            if dropped
            else DeliveryText.NOT_SENT.render(lost=lost)
        )
        return self._line(what, self._problem)

    def _deliver_queued(self) -> None:
        while batch := self._next_batch():
            try:
                found = self._deliver(batch)
            except Exception as problem:  # a bug in qmon; another notice may succeed
                found = Delivery(log.report_defect(problem))
            if not self._record_delivery(batch, found):
                return

    def _next_batch(self) -> tuple[Notice, ...]:
        """Wait until notices are due, and return these notices; empty if the sender shuts down."""
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

    def _record_delivery(self, batch: Sequence[Notice], delivery: Delivery) -> bool:
        """Record the result of a delivery; return whether to continue."""
        recovery = ""
        with self._changed:
            self._sending = ()
            if delivery.again:
                self._failures += 1
                self._try_at = time.monotonic() + self._back_off.pause(self._failures, delivery.after_s)
                self._waiting.extendleft(reversed(batch))
            elif delivery.problem:
                self._failures, self._dropped = 0, self._dropped + len(batch)
                self._remember_taken(batch)
            else:
                self._failures = 0
                self._remember_taken(batch)
                if self._problem or self._dropped:
                    recovery = (
                        DeliveryText.WORKS_AFTER_DROPS.render(notices=count_text(self._dropped, "notice"))
                        if self._dropped
                        else DeliveryText.WORKS_AGAIN
                    )
                    self._dropped, self._full = 0, False
            closing = self._closing
        if delivery.problem:
            is_dropped = not delivery.again and self._again_s is None
            problem = DeliveryText.DROPPED.render(problem=delivery.problem) if is_dropped else delivery.problem
            self._report_problem(problem, delivery.detail)
        elif recovery:
            self._problem = ""
            self._report_change(logging.INFO, recovery)
        return not (closing and delivery.again)

    def _remember_taken(self, batch: Sequence[Notice]) -> None:
        if self._again_s is None:
            return
        for notice in batch:
            if notice.is_over:
                self._taken.pop(notice.key, None)
            else:
                self._taken[notice.key] = replace(notice, was=None)
        self._again_at = time.monotonic() + self._again_s

    def _report_problem(self, problem: str, detail: str) -> None:
        """Report a problem once, until it changes or the receiver works again."""
        if problem != self._problem:
            self._problem = problem
            self._report_change(logging.WARNING, problem, detail)

    def _report_change(self, level: int, text: str, detail: str = "") -> None:
        _LOG.log(level, "%s", self._line(text))
        self._report(self._line(text, detail))

    def _line(self, outcome: str, detail: str = "") -> str:
        line = DeliveryText.LINE.render(receiver=self.name, what=outcome)
        return DeliveryText.WITH_DETAIL.render(line=line, detail=detail) if detail else line
