"""Alerts in the dashboard: the bell, the keys that acknowledge and mute, and the words of a hook that fails."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, cast

from textual.message import Message

from qmon.model.view import View
from qmon.monitor.alerting import Alerting, AlertState
from qmon.monitor.source import SourceState
from qmon.tui import text
from qmon.tui.shared.sanitize import clean

if TYPE_CHECKING:
    from qmon.tui.app import QmonApp


class AlertCommandFailed(Message):
    """The command that is told of alerts has failed."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class Alarm:
    """What the app does about alerts. ``alerting`` is ``None`` where no rule is about this target."""

    alerting: Alerting | None = None

    @property
    def _board(self) -> QmonApp:
        return cast("QmonApp", self)

    def on_mount(self) -> None:
        """Hear of the hook's failures; it runs on a thread of its own."""
        if self.alerting is not None and self.alerting.hook is not None:
            board = self._board
            self.alerting.hook.on_failure = lambda words: board.post_message(AlertCommandFailed(words))

    def on_alert_command_failed(self, message: AlertCommandFailed) -> None:
        """Said once; the hook tells each failure once."""
        self._board.notify(clean(message.words), severity="warning", timeout=15, markup=False)

    def heard(self, event: View | SourceState | None) -> AlertState:
        """How the alerts stand after this; rings the bell where one was raised."""
        if self.alerting is None:
            return AlertState()
        if self.alerting.hear(event):
            self._board.bell()
        return self.alerting.standing

    def action_acknowledge(self) -> None:
        """Acknowledge the alert in the banner."""
        alert = self.alerting.acknowledge() if self.alerting is not None else None
        if alert is None:
            self._board.say("no alert to acknowledge" if self.alerting is not None else _NO_RULES)
        else:
            self._board.say(f"acknowledged: {clean(alert.queue or self._board.shown.target)}, {clean(alert.rule)}")
        self._refresh()

    def action_mute(self) -> None:
        """Mute bell and banner for a while, for longer, or no longer."""
        if self.alerting is None:
            self._board.say(_NO_RULES)
            return
        seconds = self.alerting.mute()
        said = "alerts are heard again" if seconds is None else f"alerts are muted for {text.long_age(seconds)}"
        self._board.say(said)
        self._refresh()

    def _refresh(self) -> None:
        if self.alerting is not None:
            self._board.shown = replace(self._board.shown, alerts=self.alerting.standing)


_NO_RULES = "no alert is configured for this target: [[alert]] in qmon.toml"
