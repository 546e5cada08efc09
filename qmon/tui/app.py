"""The app: receives the events of the source, passes them to the screens of ``screen_list``, and handles the keys."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text as RichText
from textual._context import active_message_pump
from textual.app import App
from textual.css.query import NoMatches
from textual.dom import DOMNode
from textual.driver import Driver
from textual.events import ScreenResume
from textual.message import Message
from textual.message_pump import MessagePump
from textual.reactive import var
from textual.screen import Screen
from textual.timer import Timer

from qmon import log
from qmon.config.preferences import Preferences
from qmon.model.alerts.latches import Change
from qmon.model.formatting import duration
from qmon.model.layout.layout import ObjectName
from qmon.model.view import QueueView, View
from qmon.monitor.alerting import Alerting, AlertState
from qmon.monitor.source import ReadScope, SnapshotSource, SourceState
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.texts import Text
from qmon.tui import keys, palette_items
from qmon.tui.action_runner import ActionRunner, BackgroundOperation, Ended
from qmon.tui.feed import Feed, FoldFailed, StateChanged, ViewReady
from qmon.tui.past_reader import KnownPast
from qmon.tui.sanitize import clean
from qmon.tui.screen_list import ENTRIES, ScreenEntry
from qmon.tui.shown_state import ShownState
from qmon.tui.spans import Line
from qmon.tui.themes import DARK, LIGHT, NAMES, PLAIN, THEMES, is_color_disabled
from qmon.tui.watched_target import DashboardTarget, WatchedTarget
from qmon.tui.widgets.dialog import leave_pushed_screens

if TYPE_CHECKING:
    from qmon.demo.story import TourStep


class PersonalText(Text):
    """Why a preference cannot be changed."""

    NO_COLORS = "no colours: NO_COLOR is set"


class PersonalApp(App[None], inherit_bindings=False):
    """An app with qmon's themes and Textual's themes.

    Args:
        dark: start with the dark theme if no theme is remembered.
        plain: use no colours. By default, the environment variable ``NO_COLOR`` decides.
        preferences: the remembered preferences. By default, preferences are forgotten when the app ends.
    """

    def __init__(self, *, dark: bool, plain: bool | None, preferences: Preferences | None) -> None:
        no_colour = is_color_disabled() if plain is None else plain
        super().__init__(ansi_color=True if no_colour else None)
        self.preferences = preferences or Preferences()
        for theme in THEMES:
            self.register_theme(theme)
        remembered = self.preferences.theme
        chosen = remembered if remembered in NAMES else DARK if dark else LIGHT
        self.theme = PLAIN if no_colour else chosen

    def on_mount(self) -> None:
        """Repaint everything after ``fg``, because the shell has written over the screen."""
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))

    def get_driver_class(self) -> type[Driver]:
        """Return qmon's driver if Textual would use its Linux driver, on which qmon's driver is based."""
        if sys.platform == "win32":
            return super().get_driver_class()
        from textual.drivers.linux_driver import LinuxDriver

        from qmon.tui.driver import TerminalDriver

        usual = super().get_driver_class()
        return TerminalDriver if usual is LinuxDriver else usual

    def use_theme(self, name: str) -> None:
        """Use a theme and remember it."""
        if self.theme == PLAIN:
            self.notify(PersonalText.NO_COLORS, timeout=3, markup=False)
            return
        self.theme = name
        self.preferences.set_theme(name)


_TICK_S: Final = 1.0
# The poll intervals that `+` and `-` step through, in seconds.
_INTERVALS_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
QUIT_CONFIRM_S: Final = 3.0


class AppText(Text):
    """The notices of the dashboard, and why keys are disabled on all screens."""

    IN_BROWSER = "not available in a browser; use qmon connect"
    FROM_SERVE = "not possible with data from qmon serve at {address}"
    NO_CONFIGURATION = "only a dashboard that polls the database itself can write qmon.toml"
    RECORDING_STOPPED = "recording has stopped: {why}"
    RECORDING_OF_STOPPED = "{target}: recording has stopped: {why}"
    NO_ALERT_RULES = "no alert is configured for this target; add [[alert]] to qmon.toml"
    NO_ALERT = "no alert to acknowledge"
    ACKNOWLEDGED = "acknowledged: {queue}, {rule}"
    MUTED = "alerts are muted for {duration}"
    UNMUTED = "alerts are no longer muted"
    POLLS_EVERY = "polls every {duration}"
    COUNT_STARTED = "exact count started; a later poll shows it"
    STILL_RUNNING = "{operations}: still running; press q again to stop and quit"
    COPIED_SELECTION = "copied: the selection"
    PRESS_AGAIN = "press ctrl+c again, or q, to quit"


class NoticeFailed(Message):
    """The command that runs for alerts has failed."""

    def __init__(self, problem: str) -> None:
        super().__init__()
        self.problem = problem


class QmonApp(PersonalApp, inherit_bindings=False):
    """The dashboard over one target.

    Args:
        targets: the targets to show. Only ``FleetApp`` shows more than one.
        alerting: the configured alert rules, if there are any.
        dark, plain, preferences: as for ``PersonalApp``.
        for_s: seconds after which the app ends by itself.
        served: the address of the ``qmon serve`` that the source reads from, such as ``ops-1:9777``.
        tour_step: returns the current step of the tour.
        clock: the local monotonic clock, in seconds.

    Attributes:
        members: the targets by name, in the given order.
        current: the target whose screens are shown.
        history_moment: the moment that the history screen shows when it opens, seconds since the epoch.
        fixed_reason: why this dashboard cannot change the poll interval and the probes, in one line; empty if it can.
        first_queue: the queue whose screen opens first; empty: the overview opens first.
        candidate_tables: tables that may be queues and are not in the configuration; empty until the search has ended.
        unwritable_reason: why this dashboard cannot add queues to the configuration; empty if it can.
        can_write_files: whether the user may save files on this machine and suspend the program.
        failure_text: the text to print after the screen is closed, if the app has failed.
    """

    CSS_PATH = Path(__file__).with_name("qmon.tcss")
    BINDINGS = keys.APP
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = "Grid"
    TITLE = "qmon"
    DEFAULT_MODE: ClassVar[str] = ENTRIES[0].name
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {e.name: e.make_screen for e in ENTRIES}
    ENTRIES: ClassVar[tuple[ScreenEntry, ...]] = ENTRIES
    # The names of the screens that show all targets, if qmon watches several targets.
    FLEET_SCREENS: ClassVar[frozenset[str]] = frozenset()

    # Screens watch this value and repaint only the parts that have changed. A `reactive` would repaint everything.
    shown: var[ShownState] = var(lambda: ShownState(""), init=False)
    # Seconds without new figures. Screens watch this value.
    ticks: var[int] = var(0, init=False)

    def __init__(
        self,
        *targets: DashboardTarget,
        dark: bool = True,
        plain: bool | None = None,
        for_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        alerting: Alerting | None = None,
        served: str = "",
        tour_step: Callable[[], TourStep] | None = None,
        preferences: Preferences | None = None,
    ) -> None:
        super().__init__(dark=dark, plain=plain, preferences=preferences)
        self.animation_level = "none"
        self.fixed_reason = AppText.FROM_SERVE.render(address=clean(served)) if served else ""
        self.candidate_tables: frozenset[ObjectName] = frozenset()
        self.unwritable_reason: str = AppText.NO_CONFIGURATION
        self.can_write_files = True
        self.failure_text = ""
        self.clock = clock
        self.first_queue = ""
        members = [WatchedTarget(target, ReadScope(away=len(targets) > 1)) for target in targets]
        self.members = {member.name: member for member in members}
        self.current = members[0]
        self.alerting = alerting
        self.history_moment: float | None = None
        self.tour_step = tour_step
        self._for_s = for_s
        self._ticker: Timer | None = None
        self._held_view: View | None = None
        self._is_quit_requested = False
        self.set_reactive(QmonApp.shown, replace(self.current.shown, served=served))

    # The objects of the target whose screens are shown.
    @property
    def source(self) -> SnapshotSource:
        return self.current.target.source

    @property
    def runner(self) -> ActionRunner | None:
        return self.current.target.runner

    @property
    def known_past(self) -> KnownPast:
        return self.current.target.past

    @property
    def memory(self) -> InMemoryHistory | None:
        return self.current.target.memory

    @property
    def selected(self) -> str | None:
        return self.current.selected

    @selected.setter
    def selected(self, queue: str | None) -> None:
        self.current.selected = queue

    def on_mount(self) -> None:
        """Start the source, because a screen can now show its figures."""
        self.use_alerting(self.alerting)
        self._ticker = self.set_interval(_TICK_S, self.tick)
        if self._for_s is not None:
            self.set_timer(self._for_s, self.exit)
        self.start_sources()
        if self.first_queue:
            self.call_later(self.go_to_queue, self.first_queue)

    def use_alerting(self, alerting: Alerting | None) -> None:
        """Show the alerts of these rules, keep their changes in the history, and show failed notices."""
        self.alerting = alerting
        if alerting is not None:
            alerting.on_change = self._record_alert
            if alerting.notifier is not None:  # the notifier has its own threads
                alerting.notifier.on_failure = lambda words: self.post_message(NoticeFailed(words))

    def _record_alert(self, target: str, change: Change) -> None:
        memory = self.members[target].target.memory
        if memory is not None:
            memory.record_alert(change)

    def start_sources(self) -> None:
        """Start polling."""
        self.start_target(self.current)

    def start_target(self, member: WatchedTarget) -> None:
        """Start the source of a target."""
        member.target.source.start(Feed(self, member.target.fold, member.target.memory))

    # -------------------------------------------------------------------------------------------- events of the source

    # Textual calls an `on_` handler for each class that defines it. Subclasses therefore override the methods below.
    def on_view_ready(self, message: ViewReady) -> None:
        self.show_view(message.view)

    def on_state_changed(self, message: StateChanged) -> None:
        self.show_state(message.state)

    def on_fold_failed(self, message: FoldFailed) -> None:
        self.handle_fold_failure(message.error, message.target)

    def show_view(self, view: View) -> None:
        """Show new figures. While the display is frozen, keep the figures for later."""
        newest_at, alerts = view.taken_at, self._update_alerts(view)
        self.current.request_details_of_worst(view)
        if self.shown.frozen:
            self._held_view = view
            self.shown = replace(self.shown, newest_at=newest_at, alerts=alerts)
            return
        if self.shown.served:  # the server decides the interval and the probes
            self.shown = replace(self.shown, target=self.source.target, interval_s=self.source.interval_s)
        self.shown = replace(self.shown, view=view, newest_at=newest_at, alerts=alerts)
        if self._ticker is not None:
            self._ticker.reset()

    def show_state(self, state: SourceState) -> None:
        """Show the state of the source."""
        self.shown = replace(self.shown, state=state, alerts=self._update_alerts(state))

    def handle_fold_failure(self, error: Exception, target: str) -> None:
        """End the app with the traceback of this bug in qmon, because figures would be wrong."""
        raise error

    def tick(self) -> None:
        """Count a second without new figures. Show alerts, and report a recording that has stopped."""
        if (alerts := self._update_alerts(None)) != self.shown.alerts:
            self.shown = replace(self.shown, alerts=alerts)
        for member in self.members.values():
            if not (why := member.take_recording_stop_reason()):
                continue
            words = AppText.RECORDING_OF_STOPPED.render(target=member.name, why=why)
            if member is self.current:
                self.shown = replace(self.shown, recording=False)
                words = AppText.RECORDING_STOPPED.render(why=why)
            self.notify(clean(words), severity="error", timeout=30, markup=False)
        self.ticks += 1

    def set_read_scope(self, focus: ReadScope) -> None:
        """Make the source read the data on screen. If this needs other rows than before, poll immediately."""
        self.current.set_focus(replace(focus, with_verdict=self.current.focus.with_verdict))

    # ---------------------------------------------------------------------------------------------------------- alerts

    def on_notice_failed(self, message: NoticeFailed) -> None:
        """Show the failure. A failure is posted only once."""
        self.notify(clean(message.problem), severity="warning", timeout=15, markup=False)

    def _update_alerts(self, event: View | SourceState | None) -> AlertState:
        """Return the state of the alerts after ``event``. Ring the bell if an alert was raised."""
        if self.alerting is None:
            return AlertState()
        if self.alerting.record_event(event):
            self.bell()
        return self.alerting.state

    def action_acknowledge(self) -> None:
        alert = self.alerting.acknowledge() if self.alerting is not None else None
        if alert is None:
            self.notify_briefly(AppText.NO_ALERT if self.alerting is not None else AppText.NO_ALERT_RULES)
        else:
            queue = clean(alert.queue or self.shown.target)
            self.notify_briefly(AppText.ACKNOWLEDGED.render(queue=queue, rule=clean(alert.rule)))
        self._show_alerts()

    def action_mute(self) -> None:
        """Mute the bell and the banner, extend the mute, or end it."""
        if self.alerting is None:
            self.notify_briefly(AppText.NO_ALERT_RULES)
            return
        seconds = self.alerting.mute()
        self.notify_briefly(AppText.UNMUTED if seconds is None else AppText.MUTED.render(duration=duration(seconds)))
        self._show_alerts()

    def _show_alerts(self) -> None:
        if self.alerting is not None:
            self.shown = replace(self.shown, alerts=self.alerting.state)

    # ----------------------------------------------------------------------------------------------------------- keys

    async def action_screen(self, name: str) -> None:
        """Close an open message and switch to a screen. The screen sets the focus of the source."""
        await leave_pushed_screens(self)
        await self.switch_mode(name)

    async def go_to_queue(self, name: str) -> None:
        """Show the queue ``name`` on the queue screen."""
        await self._show_queue(name, "queue")

    async def _show_queue(self, name: str | None, mode: str) -> None:
        """Close an open message and show the screen ``mode`` for the queue ``name``."""
        await leave_pushed_screens(self)
        self.selected = name  # last, because the overview's cursor may change the selection
        before = self.screen
        await self.switch_mode(mode)
        if self.screen is before:
            self.screen.post_message(ScreenResume())

    def leave_screen(self, name: str) -> None:
        """Go from the screen ``name`` to its parent screen."""
        if name != self.DEFAULT_MODE:
            self.switch_mode(self.DEFAULT_MODE)

    def select_target(self, target: str) -> None:
        """Make a target the current target. Its screens are shown next."""

    def fleet_header(self, now: float, cells: int) -> Line:
        """Return the header line of the screens that show all targets."""
        return ()

    def palette_places(self) -> list[palette_items.PaletteItem]:
        """Return the places in the palette: every queue."""
        view = self.shown.view
        return palette_items.queue_items(view.queues if view is not None else (), self.go_to_queue)

    def confirmation_name(self, queue: str) -> str:
        """Return the text that the user must type to confirm some actions on ``queue``."""
        return queue

    async def go_to_moment(self, queue: str, at: float) -> None:
        """Show the history around ``at``, in seconds since the epoch. A replay also goes to this moment.

        ``queue``: the queue to select; empty keeps the selection.
        """
        self.history_moment = at
        if self.known_past.go is not None:
            self.known_past.go(at)
        await self._show_queue(queue or self.selected, "history")

    @property
    def file_reasons(self) -> dict[str, str]:
        """Reasons, keyed by binding id, why keys that use this machine's files or terminal are disabled."""
        return {} if self.can_write_files else dict.fromkeys(("save", "suspend"), AppText.IN_BROWSER)

    def action_suspend_process(self) -> None:
        if (why := self.file_reasons.get("suspend")) is not None:
            self.notify_briefly(why)
        else:
            super().action_suspend_process()

    def action_faster(self) -> None:
        """Poll at the next shorter interval, if there is one."""
        now = self.requested_interval_s
        self._set_target_interval(max((i for i in _INTERVALS_S if i < now), default=_INTERVALS_S[0]))

    def action_slower(self) -> None:
        """Poll at the next longer interval, if there is one."""
        now = self.requested_interval_s
        self._set_target_interval(min((i for i in _INTERVALS_S if i > now), default=_INTERVALS_S[-1]))

    @property
    def requested_interval_s(self) -> float:
        """The requested seconds between polls of the target that is on screen."""
        return self.shown.interval_s

    def _set_target_interval(self, seconds: float) -> None:
        if self.fixed_reason:
            self.notify_briefly(self.fixed_reason)
            return
        self.source.set_interval(seconds)
        self.shown = replace(self.shown, interval_s=seconds)
        self.preferences.change_target(self.shown.target, lambda of: replace(of, interval_s=seconds))
        self.notify_briefly(AppText.POLLS_EVERY.render(duration=duration(seconds)))

    def action_poll_now(self) -> None:
        """Poll now, including throttled probes."""
        self.source.poll_now(include_throttled=True)
        if self.fixed_reason:
            self.notify_briefly(self.fixed_reason)

    def action_freeze(self) -> None:
        """Freeze the display, or continue with the newest figures."""
        held, self._held_view = self._held_view, None
        view = held if held is not None and self.shown.frozen else self.shown.view
        self.shown = replace(self.shown, frozen=not self.shown.frozen, view=view)

    def count_exactly(self, queue: str | None) -> None:
        """Request an exact count of one queue. A later poll contains the count."""
        if self.fixed_reason:
            self.notify_briefly(self.fixed_reason)
        elif queue is not None:
            self.source.count_exactly(queue)
            self.notify_briefly(AppText.COUNT_STARTED)

    def propose_queues(self, queue: QueueView | None = None) -> None:
        """List tables that may be queues and can be added to the configuration. The cursor starts on ``queue``."""
        self.notify_briefly(self.unwritable_reason)

    def on_ended(self, message: Ended) -> None:
        """Report the result of an operation that ran in the background."""
        if message.has_succeeded:
            self.notify(clean(message.result_text()), timeout=15, markup=False)
        else:
            self.notify(clean(message.result_text()), timeout=60, markup=False, severity="warning")
        self.source_for(message.plan.target).poll_now(changed=message.plan.queue)
        self.ticks += 1

    def source_for(self, target: str) -> SnapshotSource:
        """Return the source of the target ``target``."""
        return self.members.get(target, self.current).target.source

    def notify_briefly(self, text: str) -> None:
        """Show one short line in a corner for 3 seconds."""
        self.notify(text, timeout=3, markup=False)

    async def action_quit(self) -> None:
        """Quit. While an operation is running, ask first; quitting stops it after its batch.

        The caller closes the source after the app has ended, because the source may be stuck in a poll.
        """
        under_way = self.running_titles
        if under_way and not self._is_quit_requested:
            self._request_quit(AppText.STILL_RUNNING.render(operations=clean("; ".join(under_way))))
        else:
            self.exit()

    @property
    def running_titles(self) -> list[str]:
        """The titles of the running operations. With several targets, each title begins with its target."""
        alone = len(self.members) == 1
        return [
            words if alone else f"{each.name}: {words}"
            for each in self.members.values()
            if each.target.runner is not None
            for words in each.target.runner.running_titles
        ]

    @property
    def background_operations(self) -> list[BackgroundOperation]:
        """The operations that continue in the background. With several targets, each operation has its target."""
        alone = len(self.members) == 1
        return [
            operation if alone else replace(operation, target=each.name)
            for each in self.members.values()
            if each.target.runner is not None
            for operation in each.target.runner.background_operations
        ]

    async def action_copy_or_quit(self) -> None:
        """Copy the selected text. If no text is selected, quit if the key is pressed twice."""
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            self.notify_briefly(AppText.COPIED_SELECTION)
        elif self._is_quit_requested:
            await self.action_quit()
        else:
            self._request_quit(AppText.PRESS_AGAIN)

    def _request_quit(self, notice: str) -> None:
        self._is_quit_requested = True
        self.set_timer(QUIT_CONFIRM_S, self._forget_quit_request)
        self.notify(notice, timeout=QUIT_CONFIRM_S, markup=False)

    def _forget_quit_request(self) -> None:
        self._is_quit_requested = False

    # ----------------------------------------------------------------------------------------------- errors of the app

    def _handle_exception(self, error: Exception) -> None:
        """Log the error that ends the app."""
        if isinstance(error, NoMatches) and (self._exit or _is_being_removed(active_message_pump.get(None))):
            return  # a late event, whose handler looked for a widget that was removed
        self.failure_text = log.report_defect(error)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Exit and show the logged traceback. Textual's own traceback would show variables with rows and statements."""
        self.bell()
        self.panic(RichText(log.traceback_text(self._exception)) if self._exception is not None else "")


def _is_being_removed(node: MessagePump | None) -> bool:
    """Return whether a widget or its ancestor is being removed, such as a dialog that a key has just closed."""
    return isinstance(node, DOMNode) and any(each._pruning or each._closing for each in node.ancestors_with_self)
