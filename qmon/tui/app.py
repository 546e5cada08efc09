"""The app: takes what the source gives, shows it on the screens of the catalogue, and does what the keys say."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Final

from textual.reactive import reactive
from textual.screen import Screen
from textual.timer import Timer

from qmon.model.operations import OperationResult
from qmon.monitor.alerting import Alerting
from qmon.monitor.source import Focus, SnapshotSource
from qmon.tui import keys
from qmon.tui.actions.request import ActionRequest
from qmon.tui.actions.runner import ActionRunner
from qmon.tui.alarm import Alarm
from qmon.tui.catalogue import ENTRIES
from qmon.tui.feed import Feed, Fold, FoldFailed, StateChanged, ViewReady
from qmon.tui.history.reader import KnownPast
from qmon.tui.intervals import faster, slower
from qmon.tui.shared.menus import Menus
from qmon.tui.shared.screen import DashboardScreen
from qmon.tui.status import Shown
from qmon.tui.text import interval
from qmon.tui.themes import DARK, LIGHT, PLAIN, THEMES, no_color

_TICK_S: Final = 1.0


class QmonApp(Alarm, Menus, inherit_bindings=False):
    """The dashboard over one source.

    Args:
        source: where snapshots come from; it is started here and closed by whoever runs the app.
        fold: makes the view of each snapshot; called on the source's thread, once for every snapshot, in order.
        prod, read_only, environment: the badges of the target.
        alerting: the rules of the configuration, where there are some.
        office: where actions are planned and done; without one the keys that act are off.
        dark: which theme to begin with.
        plain: no colours; by default as ``NO_COLOR`` says.
        for_s: end by itself after so many seconds.
        known: recordings of the target, and what is usual.
        clock: our monotonic clock, in seconds.
    """

    CSS_PATH = Path(__file__).with_name("qmon.tcss")
    BINDINGS = keys.APP
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    AUTO_FOCUS = "Grid"
    TITLE = "qmon"
    DEFAULT_MODE: ClassVar[str] = ENTRIES[0].name
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {e.name: e.make for e in ENTRIES}

    shown: reactive[Shown] = reactive(lambda: Shown(""), init=False)

    def __init__(
        self,
        source: SnapshotSource,
        fold: Fold,
        *,
        prod: bool = False,
        read_only: bool = False,
        environment: str = "",
        dark: bool = True,
        plain: bool | None = None,
        for_s: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        runner: ActionRunner | None = None,
        alerting: Alerting | None = None,
        known: KnownPast | None = None,
    ) -> None:
        no_colour = no_color() if plain is None else plain
        super().__init__(ansi_color=True if no_colour else None)
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = PLAIN if no_colour else DARK if dark else LIGHT
        self.animation_level = "none"
        self.clock = clock
        self.selected: str | None = None
        self.source = source
        self.runner = runner
        self.alerting = alerting
        self.known = known or KnownPast()
        self._for_s = for_s
        self._feed = Feed(self, fold)
        self._ticker: Timer | None = None
        self._focus: Focus | None = None
        self._held: ViewReady | None = None
        first = Shown(source.target, interval_s=source.interval_s, environment=environment)
        read_only = read_only or (runner is not None and runner.read_only is not None)
        self.set_reactive(QmonApp.shown, replace(first, prod=prod, read_only=read_only))

    def on_mount(self) -> None:
        """Start the source once there is a screen to show it on."""
        self._ticker = self.set_interval(_TICK_S, self.tick)
        if self._for_s is not None:
            self.set_timer(self._for_s, self.action_quit)
        self.source.start(self._feed)

    # ------------------------------------------------------------------------------------ what the source says

    def on_view_ready(self, message: ViewReady) -> None:
        """New figures: shown at once, or kept while the display is frozen."""
        newest_at, alerts = message.view.taken_at, self.heard(message.view)
        if self.shown.frozen:
            self._held = message
            self.shown = replace(self.shown, newest_at=newest_at, alerts=alerts)
            return
        self.shown = replace(self.shown, view=message.view, newest_at=newest_at, alerts=alerts)
        if self._ticker is not None:
            self._ticker.reset()

    def on_state_changed(self, message: StateChanged) -> None:
        """The source is connecting, live, late, lost or closed."""
        self.shown = replace(self.shown, state=message.state, alerts=self.heard(message.state))

    def on_fold_failed(self, message: FoldFailed) -> None:
        """A fault of qmon's own: end with its traceback instead of showing figures that are not there."""
        raise message.error

    def tick(self) -> None:
        """A second has passed without new figures."""
        if (alerts := self.heard(None)) != self.shown.alerts:
            self.shown = replace(self.shown, alerts=alerts)
        if self.is_running and isinstance(base := self.screen_stack[0], DashboardScreen):
            base.tick()

    # ----------------------------------------------------------------------------------------- what the keys do

    def refocus(self) -> None:
        """Tell the source what is on screen now, where that has changed, and ask for its rows at once."""
        base = self.screen_stack[0]
        wanted = base.focus_wanted() if isinstance(base, DashboardScreen) else Focus()
        if wanted != self._focus:
            self._focus = wanted
            self.source.set_focus(wanted)
            if wanted.at_once:
                self.source.poll_now()

    async def action_screen(self, name: str) -> None:
        """Go to a screen; it tells the source what it needs as it appears."""
        await self.switch_mode(name)

    def action_faster(self) -> None:
        """Poll more often."""
        self._set_interval(faster(self.shown.interval_s))

    def action_slower(self) -> None:
        """Poll less often."""
        self._set_interval(slower(self.shown.interval_s))

    def _set_interval(self, seconds: float) -> None:
        self.source.set_interval(seconds)
        self.shown = replace(self.shown, interval_s=seconds)
        self.say(f"polls every {interval(seconds)}")

    def action_poll_now(self) -> None:
        """Poll now."""
        self.source.poll_now()

    def action_freeze(self) -> None:
        """Freeze the display, or go on with the newest figures."""
        held, self._held = self._held, None
        view = held.view if held is not None and self.shown.frozen else self.shown.view
        self.shown = replace(self.shown, frozen=not self.shown.frozen, view=view)

    def action_next_theme(self) -> None:
        """Dark or light."""
        if self.theme == PLAIN:
            self.say("no colours: NO_COLOR is set")
        else:
            self.theme = LIGHT if self.theme == DARK else DARK

    def count_exactly(self, queue: str | None) -> None:
        """Ask for an exact count of one queue; it arrives with a later poll."""
        if queue is not None:
            self.source.count_exactly(queue)
            self.say("counting exactly; the count arrives with a later poll")

    def act(self, ask: ActionRequest, acted: Callable[[OperationResult | None], None]) -> None:
        """Open the dialog of an action; ``acted`` is called when it closes."""
        from qmon.tui.actions.dialog import ActionDialog

        if self.runner is not None:
            self.push_screen(ActionDialog(ask, self.runner), acted)

    def say(self, words: str) -> None:
        """One short line in a corner, gone after a while."""
        self.notify(words, timeout=3, markup=False)

    async def action_quit(self) -> None:
        """Leave at once; the source is closed afterwards, since it may be stuck in a poll."""
        self.exit()
