"""The alerts of one session: the rules over what the source reports, what is acknowledged, and the alert command.

Acknowledging and muting are for this screen: they quieten bell and banner. The command gets every change all the
same, with whether it was acknowledged or muted here, since others may depend on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from qmon.model.alerts.alerts import Alert, AlertEvent, Change, Key, Latch, alerts, changes, lost, observe
from qmon.model.alerts.rules import AlertRule
from qmon.model.figure import Severity
from qmon.model.report import iso
from qmon.model.view import View
from qmon.monitor.alert_command import AlertCommand
from qmon.monitor.source import Phase, SourceState

SCHEMA: Final = 1
MUTES_S: Final = (900.0, 3_600.0, 14_400.0)
"""How long muting lasts: each time it is asked for again the next, and then no longer at all."""


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
        hook: the alert command, if there is one.
        bell: whether ``on_event`` asks for the bell.
        clock: the monotonic clock of views and states; ``wall``: the time of day in seconds since the epoch.
    """

    def __init__(
        self,
        target: str,
        rules: Sequence[AlertRule],
        *,
        hook: AlertCommand | None = None,
        bell: bool = True,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.hook = hook
        self._target = target
        self._rules = tuple(rules)
        self._bell = bell
        self._clock = clock
        self._wall = wall
        self._memory: dict[Key, Latch] = {}
        self._alerts: tuple[Alert, ...] = ()
        self._acknowledged: dict[tuple[str, str], Severity] = {}
        self._muted_until: float | None = None
        self._mute_step = 0
        self._lost = ""

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
        louder = any(change.turn in (AlertEvent.RAISED, AlertEvent.WORSE) for change in changed)
        return louder and self._bell and self._muted_until is None

    def _take(self, change: Change) -> None:
        key, severity = change.alert.key, self._acknowledged.get(change.alert.key)
        known = severity is not None and change.alert.severity <= severity
        if severity is not None and (change.turn is AlertEvent.CLEARED or not known):
            del self._acknowledged[key]
        if self.hook is not None:
            self.hook.send(self._event(change, known))

    def _event(self, change: Change, acknowledged: bool) -> dict[str, Any]:
        """What the hook gets. ``queue`` is null for the target itself; times are UTC by this machine's clock."""
        alert, wall = change.alert, self._wall()
        return {
            "schema": SCHEMA,
            "event": change.turn.value,
            "target": self._target,
            "queue": alert.queue or None,
            "rule": alert.rule,
            "severity": alert.severity.name.lower(),
            "words": alert.words,
            "value": alert.value,
            "since": iso(wall - max(0.0, self._clock() - alert.since_at)),
            "at": iso(wall),
            "acknowledged": acknowledged,
            "muted": self._muted_until is not None,
        }

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

    def close(self, patience_s: float) -> None:
        """Let the command have what was raised so far, for at most so many seconds."""
        if self.hook is not None:
            self.hook.close(patience_s)
