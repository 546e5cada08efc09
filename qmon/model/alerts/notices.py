"""Notices: messages to receivers about alerts. Alerts with the same cause become one notice about all queues."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from qmon.model.alerts.latches import Alert, AlertEvent
from qmon.model.figure import Severity


@dataclass(frozen=True, slots=True)
class Notice:
    """One message to one receiver. Times are seconds since the epoch by this machine's clock.

    Attributes:
        name: code of the verdict, or name of the rule about a figure.
        cause: ``session 61``; empty if it is unknown or affects only one queue.
        queues: affected queues, sorted; empty for the target itself.
        text: text of the worst alert in the notice; ``value`` is the figure of this alert.
        was: severity in the previous notice, if it was different.
    """

    event: AlertEvent
    target: str
    name: str
    cause: str
    queues: tuple[str, ...]
    severity: Severity
    text: str
    value: float | None
    since_at: float
    at: float
    was: Severity | None = None

    @property
    def key(self) -> str:
        """The identifier that all notices of one alert share.

        Other qmon instances give the alert the same identifier if they use the same names for targets and rules.
        """
        about = (self.target, self.name, self.cause, "" if self.cause else "".join(self.queues))
        return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:32]

    @property
    def is_over(self) -> bool:
        """True if the notice reports that the alert is cleared."""
        return self.event is AlertEvent.CLEARED

    def for_min_severity(self, severity: Severity) -> Notice | None:
        """Return the notice for a receiver with this minimum severity, or ``None`` if the receiver gets no notice."""
        if self.severity >= severity:
            unheard = self.was is not None and self.was < severity
            return replace(self, event=AlertEvent.RAISED, was=None) if unheard else self
        if self.was is not None and self.was >= severity:
            return replace(self, event=AlertEvent.CLEARED, severity=self.was, was=None)
        return None


def notices_for(target: str, alerts: Sequence[Alert], now: float, wall: float) -> dict[str, Notice]:
    """Return the raised alerts as notices, keyed by ``Notice.key``.

    ``now``: the clock of ``alerts``. ``wall``: the time of day.
    """
    groups: dict[tuple[str, str, str], list[Alert]] = {}
    for alert in alerts:
        cause = alert.cause
        about = (alert.code or alert.rule, "", alert.queue) if cause is None else (cause.code, cause.who, "")
        groups.setdefault(about, []).append(alert)
    found = {}
    for (name, who, _), group in groups.items():
        worst = group[0]
        notice = Notice(
            AlertEvent.RAISED,
            target,
            name,
            who,
            tuple(sorted({each.queue for each in group} - {""})),
            worst.severity,
            worst.text,
            worst.value,
            wall - max(0.0, now - min(each.since_at for each in group)),
            wall,
        )
        found[notice.key] = notice
    return found


@dataclass(frozen=True, slots=True)
class SentNotice:
    """The last notice that was sent. Times are monotonic.

    ``first_at``: when the alert was first seen. ``told_at``: when the notice was sent, or ``None`` if it was not sent
    yet. ``over_at``: when the alert ended, or ``None`` while it lasts.
    """

    notice: Notice
    first_at: float
    told_at: float | None = None
    over_at: float | None = None


def select_due_notices(
    before: Mapping[str, SentNotice], notices: Mapping[str, Notice], now: float, wall: float, wait_s: float
) -> tuple[dict[str, SentNotice], list[Notice]]:
    """Return the new state and the notices to send now.

    A new notice waits ``wait_s`` seconds for other queues with the same cause. If the alert is over after this time,
    the notice is not sent. Additional queues are reported at most once in ``wait_s`` seconds. An alert is cleared when
    it has been over for ``wait_s`` seconds. A changed severity is sent immediately.
    """
    after, out = dict[str, SentNotice](), list[Notice]()
    for key, notice in notices.items():
        old = before.get(key, SentNotice(notice, now))
        event = _due_event(old, notice, now, wait_s)
        if event is None:
            after[key] = replace(old, over_at=None) if old.told_at is not None else replace(old, notice=notice)
            continue
        was = old.notice.severity if event in (AlertEvent.WORSE, AlertEvent.BETTER) else None
        said = replace(notice, event=event, was=was)
        after[key] = SentNotice(said, old.first_at, now)
        out.append(said)
    for key, old in before.items():
        if key in notices or old.told_at is None:
            continue
        over_at = now if old.over_at is None else old.over_at
        if now - over_at >= wait_s:
            out.append(replace(old.notice, event=AlertEvent.CLEARED, at=wall - (now - over_at), was=None))
        else:
            after[key] = replace(old, over_at=over_at)
    return after, out


def _due_event(old: SentNotice, notice: Notice, now: float, wait_s: float) -> AlertEvent | None:
    """Return the event to report about a notice, or ``None`` if there is nothing to report."""
    if old.told_at is None:
        return AlertEvent.RAISED if now - old.first_at >= wait_s else None
    if notice.severity != old.notice.severity:
        return AlertEvent.WORSE if notice.severity > old.notice.severity else AlertEvent.BETTER
    more = not set(notice.queues) <= set(old.notice.queues)
    return AlertEvent.MORE if more and now - old.told_at >= wait_s else None
