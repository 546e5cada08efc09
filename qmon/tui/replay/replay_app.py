"""The dashboard over a recording: the same screens, the recorded time in the header, and keys to move in time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from qmon.errors import BadInput
from qmon.model.view import View
from qmon.monitor.source import SourceState
from qmon.recording.read.replay import SPEEDS, Replay
from qmon.recording.times import local_time, parse_moment
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.app import QmonApp
from qmon.tui.sanitize import clean
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.filter_bar import FilterBar


class ReplayNotice(Text):
    """The notices of a replay, and why keys are disabled."""

    NO_NEW_DATA = "a replay cannot read new data"
    SPEED = "plays at {speed:g} times the speed"
    MARK = "{queue}: {text}"
    NONE_AFTER = "no incident or operation after this moment"
    NONE_BEFORE = "no incident or operation before this moment"


class ReplayApp(QmonApp, inherit_bindings=False):
    """Shows the snapshots of a replay. The keys of actions are disabled."""

    BINDINGS = keys.REPLAY

    def __init__(self, target: DashboardTarget, **options: Any) -> None:
        source = cast("Replay", target.source)
        super().__init__(replace(target, memory=None), clock=source.clock, **options)  # the recording is the history
        self._replay = source
        self.fixed_reason = ReplayNotice.NO_NEW_DATA
        self._update_label()
        source.on_change = self._schedule_move

    def _schedule_move(self) -> None:
        """Called on the replay's thread."""
        self.call_later(self._show_position)

    def _update_label(self) -> None:
        replay = self._replay
        how = f"▶ ×{replay.speed:g}" if replay.is_playing else "‖"
        text = f"{local_time(replay.position, replay.reader.session.zone)} {how}"
        self.set_reactive(QmonApp.shown, replace(self.shown, replay=text))

    def _show_position(self) -> None:
        self._update_label()
        self.tick()

    def show_view(self, view: View) -> None:
        """Show new figures with their recorded time."""
        self._update_label()
        super().show_view(view)

    def show_state(self, state: SourceState) -> None:
        """Show the recorded state of the poller."""
        self._update_label()
        super().show_state(state)

    def action_play(self) -> None:
        """Play or pause."""
        self._replay.set_playing(not self._replay.is_playing)

    def action_step(self, direction: int) -> None:
        """Move one snapshot forward or back."""
        if direction > 0:
            self._replay.step()
        else:
            self._replay.step_back()

    def action_speed(self, direction: int) -> None:
        at = min(range(len(SPEEDS)), key=lambda place: abs(SPEEDS[place] - self._replay.speed))
        speed = SPEEDS[min(max(at + direction, 0), len(SPEEDS) - 1)]
        self._replay.set_speed(speed)
        self.notify_briefly(ReplayNotice.SPEED.render(speed=speed))

    def action_jump(self, direction: int) -> None:
        """Go to the next or previous incident or operation."""
        mark = self._replay.jump_to_mark(direction > 0)
        if mark:
            self.notify_briefly(ReplayNotice.MARK.render(queue=mark.queue, text=clean(mark.text)))
        else:
            self.notify_briefly(ReplayNotice.NONE_AFTER if direction > 0 else ReplayNotice.NONE_BEFORE)

    def action_go_to(self) -> None:
        """Ask for a time and go there."""

        def go(text: str | None) -> None:
            if text is None:
                return
            reader, relative = self._replay.reader, text[:1] in ("+", "-")
            try:
                self._replay.seek(
                    parse_moment(text, reader.session.zone, self._replay.position if relative else reader.ends_at)
                )
            except BadInput as problem:
                self.notify_briefly(clean(str(problem)))

        self.push_screen(GoTo(), go)


class GoToText(Text):
    """The hint of the dialog."""

    FORMS = "14:03:20 or 2026-11-21 14:03 or +5m · esc cancels"


class GoTo(Dialog[str | None], inherit_bindings=False):
    """Ask for a time. The result is the text, or ``None`` if nothing was typed or the dialog was cancelled."""

    AUTO_FOCUS = "FilterBar"

    def compose(self) -> ComposeResult:
        with Vertical():
            yield FilterBar("go to", GoToText.FORMS)

    @on(FilterBar.Done)
    def _finish_with_text(self, message: FilterBar.Done) -> None:
        self.finish(self.query_one(FilterBar).text.strip() or None if message.kept else None)
