"""Manage the alerts of one session: apply the rules, acknowledge and mute alerts, and send notices.

Acknowledging and muting only affect the bell and banner of this screen. Receivers still get notices, because other
people may depend on them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from qmon import log
from qmon.model.alerts.alert_rules import AlertRule
from qmon.model.alerts.latches import (
    Alert,
    AlertEvent,
    Change,
    Latch,
    LatchKey,
    find_changes,
    raised_alerts,
    record_loss,
    record_view,
)
from qmon.model.alerts.notices import Notice, SentNotice, notices_for, select_due_notices
from qmon.model.figure import Severity
from qmon.model.verdicts.access_verdicts import AccessVerdictText
from qmon.model.view import View
from qmon.monitor.source import Phase, SourceState
from qmon.redact import hide_secrets

if TYPE_CHECKING:
    from qmon.monitor.notify.notifier import Notifier

# Durations of muting, in seconds. Each repeated request uses the next duration. The request after that unmutes.
MUTES_S: Final = (900.0, 3_600.0, 14_400.0)
_TICK_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class AlertState:
    """The current alerts. ``open``: unacknowledged alerts, worst first. Times: our monotonic clock, seconds."""

    open: tuple[Alert, ...] = ()
    acknowledged: tuple[Alert, ...] = ()
    muted_until: float | None = None


@dataclass(slots=True)
class _TargetAlerts:
    """The rules and alerts of one target."""

    rules: tuple[AlertRule, ...]
    memory: dict[LatchKey, Latch] = field(default_factory=dict)
    raised: tuple[Alert, ...] = ()
    sent: dict[str, SentNotice] = field(default_factory=dict)
    acknowledged: dict[tuple[str, str, str], Severity] = field(default_factory=dict)
    lost_reason: str = ""

    def record(self, target: str, event: View | SourceState | None, now: float) -> tuple[Change, ...]:
        """Record a view or a change of phase, or a second without one; return the changes of alerts."""
        if isinstance(event, View):
            self.lost_reason = ""
            self.memory = record_view(self.rules, event, self.memory)
        elif event is not None and event.phase is Phase.LOST:
            self.lost_reason = event.reason or AccessVerdictText.NO_CONNECTION
        if self.lost_reason:
            self.memory = record_loss(self.rules, target, self.lost_reason, now, self.memory)
        before, self.raised = self.raised, raised_alerts(self.memory)
        changes = find_changes(before, self.raised)
        for change in changes:
            key, severity = change.alert.key, self.acknowledged.get(change.alert.key)
            if severity is not None and (change.turn is AlertEvent.CLEARED or change.alert.severity > severity):
                del self.acknowledged[key]
        return changes

    def is_acknowledged(self, alert: Alert) -> bool:
        return self.acknowledged.get(alert.key, Severity.FINE) >= alert.severity


class Alerting:
    """The alerts of one or several targets. Events may be recorded by any thread.

    Args:
        rules: the rules of each target, keyed by its name, without secrets. Rules about other targets are ignored. If
            there is only one target, all events are about it.
        notifier: sends notices to the receivers, if any are configured.
        group_wait_s: seconds that a notice waits for other notices with the same cause.
        redact: hides the secrets of the configuration in notices.
        bell: whether ``record_event`` may ring the bell.
        clock: the monotonic clock of views and states.
    """

    def __init__(
        self,
        rules: Mapping[str, Sequence[AlertRule]],
        *,
        notifier: Notifier | None = None,
        group_wait_s: float = 0.0,
        redact: Callable[[str], str] = lambda text: text,
        bell: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.notifier = notifier
        # Called with the target and each change of an alert, acknowledged or not.
        self.on_change: Callable[[str, Change], object] = lambda target, change: None
        self._targets = {name: _TargetAlerts(tuple(own)) for name, own in rules.items()}
        self._group_wait_s = group_wait_s
        self._redact = redact
        self._bell = bell
        self._clock = clock
        self._muted_until: float | None = None
        self._mute_step = 0
        self._lock = threading.Lock()
        self._problem = ""
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def configure_rules(self, target: str, rules: Sequence[AlertRule], *, bell: bool) -> None:
        """Use these rules from now on, and forget the alerts of rules that no longer exist."""
        alerts, self._bell = self._targets[target], bell
        names = {rule.name for rule in rules}
        alerts.rules = tuple(rules)
        alerts.memory = {key: latch for key, latch in alerts.memory.items() if key[0] in names}

    def record_event(self, event: View | SourceState | None) -> bool:
        """Record an event of one target's source; return whether to ring the bell.

        ``event``: ``None`` means that a second has passed.
        """
        return self._record(self._names_for(event), event)

    def _names_for(self, event: View | SourceState | None) -> list[str]:
        return [name for name in self._targets if event is None or len(self._targets) == 1 or name == event.target]

    def _record(self, names: Sequence[str], event: View | SourceState | None) -> bool:
        with self._lock:
            now = self._clock()
            if self._muted_until is not None and now >= self._muted_until:
                self._unmute()
            changed = [change for name in names for change in self._record_for(name, event, now)]
            louder = any(change.turn in (AlertEvent.RAISED, AlertEvent.WORSE) for change in changed)
            return louder and self._bell and self._muted_until is None

    def _record_for(self, target: str, event: View | SourceState | None, now: float) -> tuple[Change, ...]:
        alerts = self._targets[target]
        changed = alerts.record(target, event, now)
        for change in changed:
            self.on_change(target, change)
        self._send(self._due_notices(target, alerts, now, self._group_wait_s))
        return changed

    def record_unattended(self, event: View | SourceState) -> None:
        """Record an event without a screen. If qmon has a bug, report it as a failed notice, and return."""
        self._record_guarded(self._names_for(event), event)

    def _record_guarded(self, names: Sequence[str], event: View | SourceState | None) -> None:
        try:
            self._record(names, event)
        except Exception as problem:  # polling must continue
            words = log.report_defect(problem)
            if words != self._problem and self.notifier is not None:
                self._problem = words
                self.notifier.on_failure(words)

    def start_ticking(self) -> None:
        """Apply the rules every second on a thread until ``close``, because no screen does."""
        self._thread = threading.Thread(target=self._run_ticks, name="qmon-alerts", daemon=True)
        self._thread.start()

    def _run_ticks(self) -> None:
        while not self._closing.wait(_TICK_S):
            for name in self._targets:
                self._record_guarded([name], None)

    def _due_notices(self, target: str, alerts: _TargetAlerts, now: float, wait_s: float) -> list[Notice]:
        if self.notifier is None:
            return []
        wall = time.time()
        notices = notices_for(target, alerts.raised, now, wall)
        alerts.sent, out = select_due_notices(alerts.sent, notices, now, wall, wait_s)
        return [replace(notice, text=hide_secrets(self._redact(notice.text))) for notice in out]

    def _send(self, notices: Sequence[Notice]) -> None:
        if self.notifier is not None:
            for notice in notices:
                self.notifier.send(notice)

    @property
    def state(self) -> AlertState:
        """The current alerts, worst first. If there are several targets, queue names begin with the target's name."""
        opened: list[Alert] = []
        known: list[Alert] = []
        for name, alerts in self._targets.items():
            for alert in alerts.raised:
                (known if alerts.is_acknowledged(alert) else opened).append(self._with_target_name(name, alert))
        return AlertState(
            tuple(sorted(opened, key=_by_severity)), tuple(sorted(known, key=_by_severity)), self._muted_until
        )

    def _with_target_name(self, target: str, alert: Alert) -> Alert:
        if len(self._targets) == 1:
            return alert
        return replace(alert, queue=f"{target}/{alert.queue}" if alert.queue else target)

    def acknowledge(self) -> Alert | None:
        """Acknowledge the worst open alert until it gets worse or is cleared; return it."""
        opened = [
            (name, alert)
            for name, alerts in self._targets.items()
            for alert in alerts.raised
            if not alerts.is_acknowledged(alert)
        ]
        if not opened:
            return None
        name, worst = min(opened, key=lambda each: _by_severity(each[1]))
        self._targets[name].acknowledged[worst.key] = worst.severity
        return self._with_target_name(name, worst)

    def mute(self) -> float | None:
        """Mute for 15 minutes, longer with each repeated call, and finally unmute; return the seconds, or ``None``."""
        if self._mute_step >= len(MUTES_S):
            self._unmute()
            return None
        seconds = MUTES_S[self._mute_step]
        self._mute_step += 1
        self._muted_until = self._clock() + seconds
        return seconds

    def _unmute(self) -> None:
        self._muted_until, self._mute_step = None, 0

    def close(self, patience_s: float) -> list[str]:
        """Send the notices of alerts that are over, and the notices that wait, within ``patience_s`` seconds.

        Returns one line for each receiver that missed a notice.
        """
        self._closing.set()
        if self._thread is not None:
            self._thread.join(_TICK_S)
        with self._lock:
            for name, alerts in self._targets.items():
                self._send([each for each in self._due_notices(name, alerts, self._clock(), 0.0) if each.is_over])
        return [] if self.notifier is None else self.notifier.close(patience_s)


def _by_severity(alert: Alert) -> tuple[int, float]:
    return -alert.severity, alert.since_at
