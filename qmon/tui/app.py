"""The app: takes what the source gives, shows it on the screens of the catalogue, and does what the keys say."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from heapq import nlargest
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text
from textual.css.query import NoMatches
from textual.message import Message
from textual.reactive import var
from textual.screen import Screen
from textual.timer import Timer

from qmon import log
from qmon.config.preferences import Preferences
from qmon.model.figure import Severity
from qmon.model.layout.layout import TableName
from qmon.model.text import duration
from qmon.model.view import QueueView, View
from qmon.monitor.alerting import Alerting, AlertState, FleetAlerting
from qmon.monitor.source import MOST_WRONG, Focus, SnapshotSource, SourceState
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.tui import keys, palette_items
from qmon.tui.action_runner import ActionRunner, Ended, UnderWay
from qmon.tui.catalogue import ENTRIES, Entry
from qmon.tui.feed import Feed, Fold, FoldFailed, StateChanged, ViewReady
from qmon.tui.past_reader import KnownPast
from qmon.tui.personal import PersonalApp
from qmon.tui.sanitize import clean
from qmon.tui.status import Shown
from qmon.tui.widgets.dialog import leave_pushed

if TYPE_CHECKING:
    from qmon.demo.story import TourStep
    from qmon.recording.write.recorder import Recorder

_TICK_S: Final = 1.0
# The poll intervals that `+` and `-` step through, in seconds.
_INTERVALS_S: Final = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
_ASKED_S: Final = 3.0
_NO_RULES: Final = "no alert is configured for this target: [[alert]] in qmon.toml"


class NoticeFailed(Message):
    """The command that is run for alerts has failed."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class QmonApp(PersonalApp, inherit_bindings=False):
    """The dashboard over one source.

    Args:
        source: where snapshots come from; it is started here and closed by whoever runs the app.
        fold: makes the view of each snapshot; called on the source's thread, once for every snapshot, in order.
        prod, read_only, environment: the badges of the target.
        alerting: the rules of the configuration, where there are some for this target.
        runner: plans and runs actions; without one the keys that act are off.
        recorder: what records the source, for the badge; it is left open.
        dark, plain, preferences: as of ``PersonalApp``.
        for_s: end by itself after so many seconds.
        known: recordings of the target, and what is usual.
        served: where the ``qmon serve`` is that the source reads from, such as ``ops-1:9777``.
        told: what a tour says now.
        clock: our monotonic clock, in seconds.

    Attributes:
        memory: what was seen since the start; ``None`` in a replay.
        moment: which one the history screen is to show when it appears, seconds since the epoch.
        fixed: why the source can be asked for nothing more than it gives, in one line; empty where it can.
        maybe_queues: tables that may be queues and that the configuration does not name; empty until they were found.
        unwritten: why no queue can be written into the configuration from here; empty where one can.
        failed: what to tell the operator after the screen is gone, where the app itself has failed.
    """

    CSS_PATH = Path(__file__).with_name("qmon.tcss")
    BINDINGS = keys.APP
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = "Grid"
    TITLE = "qmon"
    DEFAULT_MODE: ClassVar[str] = ENTRIES[0].name
    MODES: ClassVar[dict[str, str | Callable[[], Screen[Any]]]] = {e.name: e.make for e in ENTRIES}
    ENTRIES: ClassVar[tuple[Entry, ...]] = ENTRIES

    # Screens follow it and paint what has changed; a `reactive` would paint everything.
    shown: var[Shown] = var(lambda: Shown(""), init=False)
    # Seconds without new figures, counted; screens follow it.
    ticks: var[int] = var(0, init=False)

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
        alerting: Alerting | FleetAlerting | None = None,
        recorder: Recorder | None = None,
        known: KnownPast | None = None,
        served: str = "",
        told: Callable[[], TourStep] | None = None,
        preferences: Preferences | None = None,
    ) -> None:
        super().__init__(dark=dark, plain=plain, preferences=preferences)
        self.animation_level = "none"
        self.fixed = f"read from the qmon serve at {clean(served)}, which decides what is read" if served else ""
        self.maybe_queues: frozenset[TableName] = frozenset()
        self.unwritten = "only a dashboard that polls the database itself writes qmon.toml"
        self.failed = ""
        self.clock = clock
        self.selected: str | None = None
        self.source = source
        self.runner = runner
        self.alerting = alerting
        self.known = known or KnownPast()
        self.memory = self._new_memory()
        self.moment: float | None = None
        self.told = told
        self._recorder = recorder
        self._for_s = for_s
        self._feed = Feed(self, fold, self.memory)
        self._ticker: Timer | None = None
        self._focus = Focus()
        self._held: ViewReady | None = None
        self._asked_to_quit = False
        first = Shown(
            source.target,
            interval_s=source.interval_s,
            environment=environment,
            prod=prod,
            read_only=read_only or (runner is not None and runner.read_only is not None),
            recording=None if recorder is None else True,
            served=served,
        )
        self.set_reactive(QmonApp.shown, first)

    def _new_memory(self) -> InMemoryHistory | None:
        return InMemoryHistory()

    def on_mount(self) -> None:
        """Start the source once there is a screen to show it on."""
        if isinstance(self.alerting, Alerting) and self.memory is not None:
            self.alerting.on_change = self.memory.alerted
        if self.alerting is not None and self.alerting.notifier is not None:  # it has threads of its own
            self.alerting.notifier.on_failure = lambda words: self.post_message(NoticeFailed(words))
        self._ticker = self.set_interval(_TICK_S, self.tick)
        if self._for_s is not None:
            self.set_timer(self._for_s, self.exit)
        self.start_sources()

    def start_sources(self) -> None:
        """Have figures come from now on."""
        self.source.start(self._feed)

    # ------------------------------------------------------------------------------------------- what the source gives

    def on_view_ready(self, message: ViewReady) -> None:
        """New figures: shown at once, or held back while the display is frozen."""
        newest_at, alerts = message.view.taken_at, self._alerts_after(message.view)
        wrong = (queue for queue in message.view.queues if queue.verdict.severity > Severity.FINE)
        worst = nlargest(MOST_WRONG, wrong, key=lambda queue: queue.verdict.severity)
        self._set_focus(replace(self._focus, with_verdict=frozenset(queue.name for queue in worst)))
        if self.shown.frozen:
            self._held = message
            self.shown = replace(self.shown, newest_at=newest_at, alerts=alerts)
            return
        if self.shown.served:  # both are said by who polls
            self.shown = replace(self.shown, target=self.source.target, interval_s=self.source.interval_s)
        self.shown = replace(self.shown, view=message.view, newest_at=newest_at, alerts=alerts)
        if self._ticker is not None:
            self._ticker.reset()

    def on_state_changed(self, message: StateChanged) -> None:
        """The source is connecting, live, late, lost or closed."""
        self.shown = replace(self.shown, state=message.state, alerts=self._alerts_after(message.state))

    def on_fold_failed(self, message: FoldFailed) -> None:
        """A fault of qmon's own: end with its traceback instead of showing figures that are not there."""
        raise message.error

    def tick(self) -> None:
        """A second has passed without new figures."""
        if (alerts := self._alerts_after(None)) != self.shown.alerts:
            self.shown = replace(self.shown, alerts=alerts)
        if self._recorder is not None and self.shown.recording and (why := self._recorder.status.stopped):
            self.shown = replace(self.shown, recording=False)
            self.notify(clean(f"recording has stopped: {why}"), severity="error", timeout=30, markup=False)
        self.ticks += 1

    def refocus(self, wanted: Focus) -> None:
        """Tell the source what is on screen now, where that has changed, and ask for its rows at once."""
        self._set_focus(replace(wanted, with_verdict=self._focus.with_verdict))

    def _set_focus(self, focus: Focus) -> None:
        before, self._focus = self._focus, focus
        if focus != before:
            self.source.set_focus(focus)
            if focus.at_once(before):
                self.source.poll_now()

    # ---------------------------------------------------------------------------------------------------------- alerts

    def on_notice_failed(self, message: NoticeFailed) -> None:
        """Show it; each failure comes once."""
        self.notify(clean(message.words), severity="warning", timeout=15, markup=False)

    def _alerts_after(self, event: View | SourceState | None) -> AlertState:
        """The state of the alerts after this event; rings the bell where one was raised."""
        if self.alerting is None:
            return AlertState()
        if self.alerting.on_event(event):
            self.bell()
        return self.alerting.state

    def action_acknowledge(self) -> None:
        """Acknowledge the alert in the banner."""
        alert = self.alerting.acknowledge() if self.alerting is not None else None
        if alert is None:
            self.say("no alert to acknowledge" if self.alerting is not None else _NO_RULES)
        else:
            self.say(f"acknowledged: {clean(alert.queue or self.shown.target)}, {clean(alert.rule)}")
        self._show_alerts()

    def action_mute(self) -> None:
        """Mute bell and banner for a while, for longer, or no longer."""
        if self.alerting is None:
            self.say(_NO_RULES)
            return
        seconds = self.alerting.mute()
        self.say("alerts are no longer muted" if seconds is None else f"alerts are muted for {duration(seconds)}")
        self._show_alerts()

    def _show_alerts(self) -> None:
        if self.alerting is not None:
            self.shown = replace(self.shown, alerts=self.alerting.state)

    # --------------------------------------------------------------------------------------------------- what keys do

    async def action_screen(self, name: str) -> None:
        """Go to a screen; it tells the source what it needs as it appears. A message that is open is closed."""
        await leave_pushed(self)
        await self.switch_mode(name)

    async def go_to_queue(self, name: str) -> None:
        """Show the queue of that name."""
        self.selected = name
        await self.action_screen("queue")

    def leave_screen(self, name: str) -> None:
        """Go from the screen of that name to the one that it is part of."""
        if name != self.DEFAULT_MODE:
            self.switch_mode(self.DEFAULT_MODE)

    def places(self) -> list[palette_items.PaletteItem]:
        """Where one may go to by some letters: every queue."""
        view = self.shown.view
        return palette_items.queues(view.queues if view is not None else (), self.go_to_queue)

    def typed_name(self, queue: str) -> str:
        """What is typed to confirm an action on a queue where that is asked for."""
        return queue

    async def go_to_moment(self, queue: str, at: float) -> None:
        """Show the past around a moment, of a queue where one is given; a replay goes there, too."""
        self.selected, self.moment = queue or self.selected, at
        if self.known.go is not None:
            self.known.go(at)
        await self.action_screen("history")

    def action_faster(self) -> None:
        """Poll at the next shorter interval; the shortest stays."""
        now = self.asked_s
        self._set_interval(max((i for i in _INTERVALS_S if i < now), default=_INTERVALS_S[0]))

    def action_slower(self) -> None:
        """Poll at the next longer interval; the longest stays."""
        now = self.asked_s
        self._set_interval(min((i for i in _INTERVALS_S if i > now), default=_INTERVALS_S[-1]))

    @property
    def asked_s(self) -> float:
        """Seconds between polls of what is on the screen, as asked for."""
        return self.shown.interval_s

    def _set_interval(self, seconds: float) -> None:
        if self.fixed:
            self.say(self.fixed)
            return
        self.source.set_interval(seconds)
        self.shown = replace(self.shown, interval_s=seconds)
        self.preferences.change(self.shown.target, lambda of: replace(of, interval_s=seconds))
        self.say(f"polls every {duration(seconds)}")

    def action_poll_now(self) -> None:
        """Poll now, and read what is throttled, too."""
        self.source.poll_now(whole=True)
        if self.fixed:
            self.say(self.fixed)

    def action_freeze(self) -> None:
        """Freeze the display, or go on with the newest figures."""
        held, self._held = self._held, None
        view = held.view if held is not None and self.shown.frozen else self.shown.view
        self.shown = replace(self.shown, frozen=not self.shown.frozen, view=view)

    def count_exactly(self, queue: str | None) -> None:
        """Ask for an exact count of one queue; it arrives with a later poll."""
        if self.fixed:
            self.say(self.fixed)
        elif queue is not None:
            self.source.count_exactly(queue)
            self.say("counting exactly; the count arrives with a later poll")

    def propose(self, queue: QueueView | None = None) -> None:
        """List the tables that may be queues, with the cursor on this one, to write them into the configuration."""
        self.say(self.unwritten)

    def on_ended(self, message: Ended) -> None:
        """An operation in the background has ended."""
        if message.well:
            self.notify(clean(message.words()), timeout=15, markup=False)
        else:
            self.notify(clean(message.words()), timeout=60, markup=False, severity="warning")
        self.source_of(message.plan.target).poll_now(changed=message.plan.queue)
        self.ticks += 1

    def source_of(self, target: str) -> SnapshotSource:
        """The source of the target of that name."""
        return self.source

    def say(self, words: str) -> None:
        """One short line in a corner, gone after a while."""
        self.notify(words, timeout=3, markup=False)

    async def action_quit(self) -> None:
        """Leave, but ask first where an operation is under way, which this ends after its batch.

        The source is closed afterwards, since it may be stuck in a poll.
        """
        under_way = self.under_way
        if under_way and not self._asked_to_quit:
            self._ask_to_quit(f"{clean('; '.join(under_way))}: still under way; press q again to stop it and leave")
        else:
            self.exit()

    @property
    def under_way(self) -> list[str]:
        """The operations under way, in words."""
        return [] if self.runner is None else self.runner.under_way

    @property
    def in_background(self) -> list[UnderWay]:
        """The operations that go on in the background."""
        return [] if self.runner is None else self.runner.in_background

    async def action_copy_or_quit(self) -> None:
        """Copy what is selected; where nothing is, leave when asked a second time."""
        if selected := self.screen.get_selected_text():
            self.copy_to_clipboard(selected)
            self.say("copied: what is selected")
        elif self._asked_to_quit:
            await self.action_quit()
        else:
            self._ask_to_quit("leave qmon? press ctrl+c again, or q")

    def _ask_to_quit(self, words: str) -> None:
        self._asked_to_quit = True
        self.set_timer(_ASKED_S, self._forget_to_quit)
        self.notify(words, timeout=_ASKED_S, markup=False)

    def _forget_to_quit(self) -> None:
        self._asked_to_quit = False

    # ----------------------------------------------------------------------------------------------- faults of the app

    def _handle_exception(self, error: Exception) -> None:
        """Log what ends the app."""
        if self._exit and isinstance(error, NoMatches):
            return  # we are leaving, and the handler of an event that came late looks for a widget that is gone
        self.failed = log.report(error)
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Leave, and show the traceback as it is logged. Textual's shows variables, which hold rows and statements."""
        self.bell()
        self.panic(Text(log.traceback_of(self._exception)) if self._exception is not None else "")
