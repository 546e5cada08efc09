"""The alerts of one session: the rules over what the source reports, what is acknowledged, and what is told of them.

Acknowledging and muting are for this screen: they quieten bell and banner. Receivers of notices are told all the same,
since others may depend on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from qmon import log
from qmon.model.alerts.alerts import Alert, AlertEvent, Change, Key, Latch, alerts, changes, lost, observe
from qmon.model.alerts.notices import Notice, Told, notices_of, tell
from qmon.model.alerts.rules import AlertRule
from qmon.model.figure import Severity
from qmon.model.view import View
from qmon.monitor.source import Phase, SourceState
from qmon.redact import hide_secrets

if TYPE_CHECKING:
    from qmon.monitor.notify.notifier import Notifier

# How long muting lasts: each time it is asked for again the next, and then no longer at all.
MUTES_S: Final = (900.0, 3_600.0, 14_400.0)
_TICK_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class AlertState:
    """How the alerts stand. ``open``: not acknowledged, the worst first. Times: our monotonic clock, seconds."""

    open: tuple[Alert, ...] = ()
    acknowledged: tuple[Alert, ...] = ()
    muted_until: float | None = None


class Alerting:
    """Not thread-safe: called by whoever takes the events of the source.

    Args:
        target: its name, free of secrets.
        rules: those of the configuration; the ones about other targets are passed over.
        notifier: tells receivers, if there are some; several targets may share it.
        group_wait_s: seconds that a notice waits for others of its cause.
        redact: covers what the configuration says in what is told.
        bell: whether ``on_event`` asks for the bell.
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
        # Called with what becomes of each alert, acknowledged or not.
        self.on_change: Callable[[Change], object] = lambda change: None
        self._target = target
        self._rules = tuple(rules)
        self._group_wait_s = group_wait_s
        self._redact = redact
        self._bell = bell
        self._clock = clock
        self._memory: dict[Key, Latch] = {}
        self._alerts: tuple[Alert, ...] = ()
        self._told: dict[str, Told] = {}
        self._acknowledged: dict[tuple[str, str, str], Severity] = {}
        self._muted_until: float | None = None
        self._mute_step = 0
        self._lost = ""

    def use(self, rules: Sequence[AlertRule], *, bell: bool) -> None:
        """Go by these rules from now on; what was raised by one that is no longer there is forgotten."""
        self._rules, self._bell = tuple(rules), bell
        names = {rule.name for rule in rules}
        self._memory = {key: latch for key, latch in self._memory.items() if key[0] in names}

    def on_event(self, event: View | SourceState | None) -> bool:
        """Take in new figures, a change of phase, or that a second has passed; returns whether to ring the bell."""
        now = self._clock()
        if isinstance(event, View):
            self._lost = ""
            self._memory = observe(self._rules, event, self._memory)
        elif event is not None and event.phase is Phase.LOST:
            self._lost = event.reason or "no connection"
        if self._lost:
            self._memory = lost(self._rules, self._target, self._lost, now, self._memory)
        if self._muted_until is not None and now >= self._muted_until:
            self._unmute()
        before, self._alerts = self._alerts, alerts(self._memory)
        changed = changes(before, self._alerts)
        for change in changed:
            self._take(change)
            self.on_change(change)
        if self.notifier is not None:
            for notice in self._to_tell(now, self._group_wait_s):
                self.notifier.send(notice)
        louder = any(change.turn in (AlertEvent.RAISED, AlertEvent.WORSE) for change in changed)
        return louder and self._bell and self._muted_until is None

    def _take(self, change: Change) -> None:
        key, severity = change.alert.key, self._acknowledged.get(change.alert.key)
        known = severity is not None and change.alert.severity <= severity
        if severity is not None and (change.turn is AlertEvent.CLEARED or not known):
            del self._acknowledged[key]

    def _to_tell(self, now: float, wait_s: float) -> list[Notice]:
        wall = time.time()
        notices = notices_of(self._target, self._alerts, now, wall)
        self._told, out = tell(self._told, notices, now, wall, wait_s)
        return [replace(notice, words=hide_secrets(self._redact(notice.words))) for notice in out]

    def tell_ends(self) -> None:
        """Have told at once what is over, since nobody looks any longer."""
        for notice in self._to_tell(self._clock(), 0.0) if self.notifier is not None else ():
            if notice.over and self.notifier is not None:
                self.notifier.send(notice)

    @property
    def state(self) -> AlertState:
        """How the alerts stand now."""
        known = tuple(a for a in self._alerts if self._acknowledged.get(a.key, Severity.FINE) >= a.severity)
        return AlertState(tuple(a for a in self._alerts if a not in known), known, self._muted_until)

    def acknowledge(self) -> Alert | None:
        """Acknowledge the worst alert that is not yet, until it gets worse or is cleared; returns it."""
        worst = next(iter(self.state.open), None)
        if worst is not None:
            self._acknowledged[worst.key] = worst.severity
        return worst

    def mute(self) -> float | None:
        """Mute for a quarter of an hour, longer when asked again, and at last no longer; the seconds, or ``None``."""
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
        """Send what is left, for a few seconds; returns a line for each receiver that was not told everything."""
        self.tell_ends()
        return [] if self.notifier is None else self.notifier.close(patience_s)


class FleetAlerting:
    """The alerts of several targets on one screen, as those of one. Not thread-safe.

    Args:
        alerting: by name of the target.
        notifier: the one that all of them tell, if there are receivers.
    """

    def __init__(self, alerting: Mapping[str, Alerting], notifier: Notifier | None = None) -> None:
        self.notifier = notifier
        self._alerting = alerting

    def tell(self, on_change: Mapping[str, Callable[[Change], object]]) -> None:
        """Tell these of each change of the alerts of a target, by its name."""
        for name, each in self._alerting.items():
            each.on_change = on_change[name]

    def on_event(self, event: View | SourceState | None) -> bool:
        """Take in what the source of one target reports, or that a second has passed; whether to ring the bell."""
        about = [each for name, each in self._alerting.items() if event is None or name == event.target]
        return any([each.on_event(event) for each in about])

    @property
    def state(self) -> AlertState:
        """How the alerts of all stand now, the worst first; what they are about begins with the target's name."""
        states = {name: each.state for name, each in self._alerting.items()}
        opened = [_of(name, alert) for name, state in states.items() for alert in state.open]
        known = [_of(name, alert) for name, state in states.items() for alert in state.acknowledged]
        muted_until = max((s.muted_until for s in states.values() if s.muted_until is not None), default=None)
        return AlertState(tuple(sorted(opened, key=_worst)), tuple(sorted(known, key=_worst)), muted_until)

    def acknowledge(self) -> Alert | None:
        """Acknowledge the worst alert that is not yet; returns it."""
        raised = {name: each.state.open for name, each in self._alerting.items()}
        worst = min(((_worst(opened[0]), name) for name, opened in raised.items() if opened), default=None)
        if worst is None or (alert := self._alerting[worst[1]].acknowledge()) is None:
            return None
        return _of(worst[1], alert)

    def mute(self) -> float | None:
        """Mute all, as ``Alerting.mute`` does one."""
        seconds = [each.mute() for each in self._alerting.values()]
        return seconds[0] if seconds else None

    def close(self, patience_s: float) -> list[str]:
        """End, as ``Alerting.close`` does."""
        for each in self._alerting.values():
            each.tell_ends()
        return [] if self.notifier is None else self.notifier.close(patience_s)


def _of(target: str, alert: Alert) -> Alert:
    return replace(alert, queue=f"{target}/{alert.queue}" if alert.queue else target)


def _worst(alert: Alert) -> tuple[int, float]:
    return -alert.severity, alert.since_at


class HeadlessAlerting:
    """The alerts of several targets without a screen. Thread-safe; alerts are judged each second, too.

    Args:
        alerting: by name of the target, with one notifier for all.
    """

    def __init__(self, alerting: Mapping[str, Alerting], notifier: Notifier) -> None:
        self._alerting = alerting
        self._notifier = notifier
        self._lock = threading.Lock()
        self._problem = ""
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._tick, name="qmon-alerts", daemon=True)
        self._thread.start()

    def take(self, target: str, event: View | SourceState) -> None:
        """Take in what the source of one target reports; returns at once."""
        self._on_event(target, event)

    def _on_event(self, target: str, event: View | SourceState | None) -> None:
        found = self._alerting.get(target)
        if found is None:
            return
        try:
            with self._lock:
                found.on_event(event)
        except Exception as problem:  # a defect of ours must be seen, and polling go on
            words = log.report(problem)
            if words != self._problem:
                self._problem = words
                self._notifier.on_failure(words)

    def _tick(self) -> None:
        while not self._closing.wait(_TICK_S):
            for target in self._alerting:
                self._on_event(target, None)

    def close(self, patience_s: float) -> list[str]:
        """End, as ``Alerting.close`` does."""
        self._closing.set()
        self._thread.join(_TICK_S)
        for alerting in self._alerting.values():
            alerting.tell_ends()
        return self._notifier.close(patience_s)
