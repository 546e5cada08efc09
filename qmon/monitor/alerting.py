"""Manage the alerts of one session: apply the rules, acknowledge and mute alerts, and send notices.

Acknowledging and muting only affect the bell and banner of this screen. Receivers still get notices, because other
people may depend on them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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


class Alerting:
    """The alerts of one target. Not thread-safe: call it from the code that receives the events of the source.

    Args:
        target: the name of the target, without secrets.
        rules: the rules of the configuration. Rules about other targets are ignored.
        notifier: sends notices to the receivers, if any are configured. Several targets may share it.
        group_wait_s: seconds that a notice waits for other notices with the same cause.
        redact: hides the secrets of the configuration in notices.
        bell: whether ``on_event`` may ring the bell.
        clock: the monotonic clock of views and states.
    """

    def __init__(
        self,
        target: str,
        rules: Sequence[AlertRule],
        *,
        notifier: Notifier | None = None,
        group_wait_s: float = 0.0,
        redact: Callable[[str], str] = lambda text: text,
        bell: bool = True,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.notifier = notifier
        # Called with each change of an alert, acknowledged or not.
        self.on_change: Callable[[Change], object] = lambda change: None
        self._target = target
        self._rules = tuple(rules)
        self._group_wait_s = group_wait_s
        self._redact = redact
        self._bell = bell
        self._clock = clock
        self._memory: dict[LatchKey, Latch] = {}
        self._alerts: tuple[Alert, ...] = ()
        self._told: dict[str, SentNotice] = {}
        self._acknowledged: dict[tuple[str, str, str], Severity] = {}
        self._muted_until: float | None = None
        self._mute_step = 0
        self._lost_reason = ""

    def configure_rules(self, rules: Sequence[AlertRule], *, bell: bool) -> None:
        """Use these rules from now on, and forget the alerts of rules that no longer exist."""
        self._rules, self._bell = tuple(rules), bell
        names = {rule.name for rule in rules}
        self._memory = {key: latch for key, latch in self._memory.items() if key[0] in names}

    def record_event(self, event: View | SourceState | None) -> bool:
        """Record a view or a change of phase; return whether to ring the bell.

        ``event``: ``None`` means that a second has passed.
        """
        now = self._clock()
        if isinstance(event, View):
            self._lost_reason = ""
            self._memory = record_view(self._rules, event, self._memory)
        elif event is not None and event.phase is Phase.LOST:
            self._lost_reason = event.reason or AccessVerdictText.NO_CONNECTION
        if self._lost_reason:
            self._memory = record_loss(self._rules, self._target, self._lost_reason, now, self._memory)
        if self._muted_until is not None and now >= self._muted_until:
            self._unmute()
        before, self._alerts = self._alerts, raised_alerts(self._memory)
        changed = find_changes(before, self._alerts)
        for change in changed:
            self._update_acknowledged(change)
            self.on_change(change)
        if self.notifier is not None:
            for notice in self._due_notices(now, self._group_wait_s):
                self.notifier.send(notice)
        louder = any(change.turn in (AlertEvent.RAISED, AlertEvent.WORSE) for change in changed)
        return louder and self._bell and self._muted_until is None

    def _update_acknowledged(self, change: Change) -> None:
        key, severity = change.alert.key, self._acknowledged.get(change.alert.key)
        known = severity is not None and change.alert.severity <= severity
        if severity is not None and (change.turn is AlertEvent.CLEARED or not known):
            del self._acknowledged[key]

    def _due_notices(self, now: float, wait_s: float) -> list[Notice]:
        wall = time.time()
        notices = notices_for(self._target, self._alerts, now, wall)
        self._told, out = select_due_notices(self._told, notices, now, wall, wait_s)
        return [replace(notice, words=hide_secrets(self._redact(notice.words))) for notice in out]

    def send_cleared_notices(self) -> None:
        """Send the notices of alerts that are over. Called when monitoring ends."""
        for notice in self._due_notices(self._clock(), 0.0) if self.notifier is not None else ():
            if notice.is_over and self.notifier is not None:
                self.notifier.send(notice)

    @property
    def state(self) -> AlertState:
        """The current alerts."""
        known = tuple(a for a in self._alerts if self._acknowledged.get(a.key, Severity.FINE) >= a.severity)
        return AlertState(tuple(a for a in self._alerts if a not in known), known, self._muted_until)

    def acknowledge(self) -> Alert | None:
        """Acknowledge the worst open alert until it gets worse or is cleared; return it."""
        worst = next(iter(self.state.open), None)
        if worst is not None:
            self._acknowledged[worst.key] = worst.severity
        return worst

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
        """Send the remaining notices within ``patience_s`` seconds.

        Returns one line for each receiver that missed a notice.
        """
        self.send_cleared_notices()
        return [] if self.notifier is None else self.notifier.close(patience_s)


class FleetAlerting:
    """The alerts of several targets on one screen, with the interface of ``Alerting``. Not thread-safe.

    Args:
        alerting: the alerts of each target, keyed by its name.
        notifier: the notifier that all targets share, if there are receivers.
    """

    def __init__(self, alerting: Mapping[str, Alerting], notifier: Notifier | None = None) -> None:
        self.notifier = notifier
        self._alerting = alerting

    def set_change_listeners(self, on_change: Mapping[str, Callable[[Change], object]]) -> None:
        """Set the function that gets each change of an alert, for each target name."""
        for name, each in self._alerting.items():
            each.on_change = on_change[name]

    def record_event(self, event: View | SourceState | None) -> bool:
        """Record an event of one target's source; return whether to ring the bell.

        ``event``: ``None`` means that a second has passed.
        """
        about = [each for name, each in self._alerting.items() if event is None or name == event.target]
        return any([each.record_event(event) for each in about])

    @property
    def state(self) -> AlertState:
        """The current alerts of all targets, worst first. Each queue name begins with the name of its target."""
        states = {name: each.state for name, each in self._alerting.items()}
        opened = [_with_target(name, alert) for name, state in states.items() for alert in state.open]
        known = [_with_target(name, alert) for name, state in states.items() for alert in state.acknowledged]
        muted_until = max((s.muted_until for s in states.values() if s.muted_until is not None), default=None)
        return AlertState(tuple(sorted(opened, key=_by_severity)), tuple(sorted(known, key=_by_severity)), muted_until)

    def acknowledge(self) -> Alert | None:
        """Acknowledge the worst open alert and return it."""
        raised = {name: each.state.open for name, each in self._alerting.items()}
        worst = min(((_by_severity(opened[0]), name) for name, opened in raised.items() if opened), default=None)
        if worst is None or (alert := self._alerting[worst[1]].acknowledge()) is None:
            return None
        return _with_target(worst[1], alert)

    def mute(self) -> float | None:
        """Mute all targets; see ``Alerting.mute``."""
        seconds = [each.mute() for each in self._alerting.values()]
        return seconds[0] if seconds else None

    def close(self, patience_s: float) -> list[str]:
        """Send the remaining notices; see ``Alerting.close``."""
        for each in self._alerting.values():
            each.send_cleared_notices()
        return [] if self.notifier is None else self.notifier.close(patience_s)


def _with_target(target: str, alert: Alert) -> Alert:
    return replace(alert, queue=f"{target}/{alert.queue}" if alert.queue else target)


def _by_severity(alert: Alert) -> tuple[int, float]:
    return -alert.severity, alert.since_at


class HeadlessAlerting:
    """The alerts of several targets without a screen. Thread-safe. The rules are also applied every second.

    Args:
        alerting: the alerts of each target, keyed by its name.
        notifier: the notifier that all targets share.
    """

    def __init__(self, alerting: Mapping[str, Alerting], notifier: Notifier) -> None:
        self._alerting = alerting
        self._notifier = notifier
        self._lock = threading.Lock()
        self._problem = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run_ticks, name="qmon-alerts", daemon=True)
        self._thread.start()

    def record_event(self, target: str, event: View | SourceState) -> None:
        """Record an event of one target's source; returns immediately."""
        self._on_event(target, event)

    def _on_event(self, target: str, event: View | SourceState | None) -> None:
        found = self._alerting.get(target)
        if found is None:
            return
        try:
            with self._lock:
                found.record_event(event)
        except Exception as problem:  # a bug in qmon must be reported, and polling must continue
            words = log.report_defect(problem)
            if words != self._problem:
                self._problem = words
                self._notifier.on_failure(words)

    def _run_ticks(self) -> None:
        while not self._closing.wait(_TICK_S):
            for target in self._alerting:
                self._on_event(target, None)

    def close(self, patience_s: float) -> list[str]:
        """Send the remaining notices; see ``Alerting.close``."""
        self._closing.set()
        self._thread.join(_TICK_S)
        for alerting in self._alerting.values():
            alerting.send_cleared_notices()
        return self._notifier.close(patience_s)
