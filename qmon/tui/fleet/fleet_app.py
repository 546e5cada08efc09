"""The dashboard over several targets.

Each target has its own source. Screens that show one target show the target that was opened last.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Final

from textual.await_complete import AwaitComplete
from textual.reactive import var
from textual.widget import AwaitMount

from qmon import log
from qmon.model.formatting import duration
from qmon.model.view import View
from qmon.monitor.source import Phase, ReadScope, SourceState
from qmon.texts import Text
from qmon.tui import keys
from qmon.tui.app import QmonApp
from qmon.tui.fleet import target_health
from qmon.tui.palette_items import PaletteItem, PaletteText
from qmon.tui.sanitize import clean, shorten
from qmon.tui.screen_list import ENTRIES, FLEET_ENTRIES, ScreenEntry
from qmon.tui.shared.header import HeaderText
from qmon.tui.spans import Line, LinePart, spread_parts
from qmon.tui.watched_target import DashboardTarget, WatchedTarget
from qmon.tui.widgets.dialog import leave_pushed_screens

# The poll interval in seconds of a target that is not on screen, unless its requested interval is longer.
OFF_SCREEN_S: Final = 10.0
# On screens of all targets, the poll interval is this many seconds times the number of targets, at most `OFF_SCREEN_S`.
_PER_TARGET_S: Final = 0.5
# Maximum seconds for which only the first target connects. Thirty targets that connect at once would delay it.
FIRST_ALONE_S: Final = 0.5
# Seconds until the first figures are painted.
_PAINT_DELAY_S: Final = 0.05
_ENTRIES: Final = (FLEET_ENTRIES[0], *ENTRIES, *FLEET_ENTRIES[1:])
_FLEET_SCREENS: Final = {entry.name: entry for entry in _ENTRIES if entry.covers_all_targets}


class FleetText(Text):
    """The notices of a dashboard over several targets."""

    NO_CONFIGURATION = "qmon.toml cannot be written with several targets open; open only this target: qmon connect"
    POLLED_EVERY = "{target}: polled every {duration} while it is on screen"
    GO_TO_TARGET = "go to this target: {health}"


class FleetApp(QmonApp):
    """The dashboard over several sources. The attributes of ``QmonApp`` are those of the current target.

    Args:
        targets: two or more, with different names.
        options: as for ``QmonApp``, with the alerts of all targets.

    Attributes:
        has_shown_target: whether a screen of one target was shown since the start.
    """

    BINDINGS = keys.FLEET_APP
    DEFAULT_MODE: ClassVar[str] = FLEET_ENTRIES[0].name
    MODES: ClassVar = {name: entry.make_screen for name, entry in _FLEET_SCREENS.items()}
    ENTRIES: ClassVar[tuple[ScreenEntry, ...]] = _ENTRIES
    FLEET_SCREENS: ClassVar[frozenset[str]] = frozenset(_FLEET_SCREENS)

    # The number of changes of all targets so far. The screens that show all targets watch this value.
    changes: var[int] = var(0, init=False)

    def __init__(self, *targets: DashboardTarget, **options: Any) -> None:
        super().__init__(*targets, **options)
        self.has_shown_target = False
        self._unstarted: list[WatchedTarget] = []
        self.unwritable_reason = FleetText.NO_CONFIGURATION

    @property
    def is_showing_all_targets(self) -> bool:
        """True while a screen of all targets is shown. False while a screen of the current target is shown."""
        return self.current_mode in _FLEET_SCREENS

    def fleet_header(self, now: float, cells: int) -> Line:
        """Return the number of targets by health, and whether the display is frozen."""
        right = [LinePart.from_text(f"{HeaderText.FROZEN} ", "accent")] if self.shown.frozen else []
        left = target_health.counts_line([*self.members.values()], now, cells - 10 * len(right))
        return spread_parts([LinePart(left)], right, cells)

    def start_sources(self) -> None:
        """Start all sources: the first source immediately, the other sources together shortly afterwards."""
        self._set_poll_intervals()
        first, *self._unstarted = self.members.values()
        self.start_target(first)
        self.set_timer(FIRST_ALONE_S, self.start_remaining_targets)

    def start_target(self, member: WatchedTarget) -> None:
        member.target.source.set_focus(member.focus)
        super().start_target(member)

    def start_remaining_targets(self) -> None:
        """Start the sources that have not been started."""
        waiting, self._unstarted = self._unstarted, []
        for member in waiting:
            self.start_target(member)

    # ------------------------------------------------------------------------------------------ events of the sources

    def show_view(self, view: View) -> None:
        """Record the new figures of one target, and show the figures of the current target."""
        member = self.members[view.target]
        member.record_event(view)
        if self._unstarted:
            self.set_timer(_PAINT_DELAY_S, self.start_remaining_targets)
        if member is self.current:
            self.shown = replace(self.shown, interval_s=member.shown.interval_s)
            super().show_view(view)
        else:
            self._show_new_alerts(view)
        self.changes += 1

    def handle_fold_failure(self, error: Exception, target: str) -> None:
        """Show a bug in qmon as a lost target. The other targets continue."""
        self.show_state(SourceState(target, Phase.LOST, log.report_defect(error), changed_at=self.clock()))

    def show_state(self, state: SourceState) -> None:
        """Record the state of one target. A lost target does not delay the others."""
        member = self.members[state.target]
        member.record_event(state)
        if state.phase is Phase.LOST:
            self.start_remaining_targets()
        if member is self.current:
            self.shown = replace(self.shown, state=state)
        self._show_new_alerts(state)
        self.changes += 1

    def _show_new_alerts(self, event: View | SourceState) -> None:
        alerts = self._update_alerts(event)
        if alerts != self.shown.alerts:
            self.shown = replace(self.shown, alerts=alerts)

    # ----------------------------------------------------------------------------------------- focus and poll intervals

    def set_read_scope(self, focus: ReadScope) -> None:
        """Set the focus of the current target's source, and poll the other targets less often."""
        super().set_read_scope(ReadScope(away=True) if self.is_showing_all_targets else focus)
        self._set_poll_intervals()

    def _set_poll_intervals(self) -> None:
        """For each target, set the poll interval that the current screen needs."""
        each_s = min(_PER_TARGET_S * len(self.members), OFF_SCREEN_S) if self.is_showing_all_targets else OFF_SCREEN_S
        for member in self.members.values():
            on_screen = member is self.current and not self.is_showing_all_targets
            member.set_poll_interval(
                member.requested_interval_s if on_screen else max(member.requested_interval_s, each_s)
            )
        now_s = self.current.shown.interval_s
        if self.shown.interval_s < now_s:
            self.shown = replace(self.shown, interval_s=now_s)

    def _set_target_interval(self, seconds: float) -> None:
        """Set the poll interval of the current target while it is on screen."""
        self.current.requested_interval_s = seconds
        self._set_poll_intervals()
        self.preferences.change_target(self.current.name, lambda of: replace(of, interval_s=seconds))
        target = shorten(clean(self.current.name), 24)
        self.notify_briefly(FleetText.POLLED_EVERY.render(target=target, duration=duration(seconds)))

    @property
    def requested_interval_s(self) -> float:
        """The requested seconds between polls of the current target while it is on screen."""
        return self.current.requested_interval_s

    def action_poll_now(self) -> None:
        """Poll the current target. On a screen of all targets, poll all targets."""
        for member in self.members.values() if self.is_showing_all_targets else (self.current,):
            member.target.source.poll_now(include_throttled=True)

    # ------------------------------------------------------------------------------------------------------ navigation

    def switch_mode(self, mode: str) -> AwaitMount | AwaitComplete:  # type: ignore[override]
        """Show a screen of all targets, or a screen of the current target. Each target has its own screens."""
        if mode in _FLEET_SCREENS:
            return super().switch_mode(mode)
        self.has_shown_target = True
        own = f"{mode} {self.current.name}"
        if own not in self._modes:
            self.add_mode(own, next(entry.make_screen for entry in ENTRIES if entry.name == mode))
        return super().switch_mode(own)

    async def go_to_target(self, target: str, queue: str | None = None) -> None:
        """Close an open message, and show the overview of a target or one of its queues."""
        await leave_pushed_screens(self)
        self.select_target(target)
        if queue is not None:
            self.selected = queue
        await self.switch_mode("overview" if queue is None else "queue")

    def select_target(self, target: str) -> None:
        """Make a target the current target. Its screens are shown next."""
        member = self.members[target]
        if member is self.current:
            return
        self.current.set_focus(ReadScope(with_verdict=self.current.focus.with_verdict, away=True))
        self.current, self._held_view = member, None
        shown = replace(member.shown, alerts=self.shown.alerts)
        self.set_reactive(QmonApp.shown, shown)  # avoids a redraw of the screen that is left

    def leave_screen(self, name: str) -> None:
        """Go from a screen of a target to its overview, or from the overview to the screen of all targets."""
        if name == "overview" or (name in _FLEET_SCREENS and name != self.DEFAULT_MODE):
            self.switch_mode(self.DEFAULT_MODE)
        elif name != self.DEFAULT_MODE:
            self.switch_mode("overview")

    def palette_places(self) -> list[PaletteItem]:
        """Return the places in the palette: every target and all their queues."""
        now = self.clock()
        out = [
            PaletteItem(
                f"target:{each.name}",
                "",
                each.name,
                FleetText.GO_TO_TARGET.render(health=target_health.health_text(each, now)),
                "Targets",
                partial(self.go_to_target, each.name),
            )
            for each in self.members.values()
        ]
        for each in self.members.values():
            out += [
                PaletteItem(
                    f"queue:{each.name}\0{queue.name}",
                    "",
                    f"{each.name}/{queue.name}",
                    PaletteText.GO_TO_QUEUE.render(verdict=queue.verdict.code),
                    "Queues",
                    partial(self.go_to_target, each.name, queue.name),
                )
                for queue in each.queues
            ]
        return out

    def confirmation_name(self, queue: str) -> str:
        """Return the names of target and queue, because several targets may have a queue of this name."""
        return f"{self.current.name}/{queue}"

    def action_freeze(self) -> None:
        """Freeze the display, or continue with the newest figures. Other targets are not frozen."""
        super().action_freeze()
        if not self.shown.frozen:
            self.shown = replace(self.current.shown, alerts=self.shown.alerts)
            self.changes += 1
