"""What every screen has: the header, the line of keys, a table that is sorted and filtered, and ages that tick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen

from qmon.model.operations import Choice, OperationResult
from qmon.model.view import QueueView
from qmon.monitor.source import Focus
from qmon.tui import keys
from qmon.tui.actions.availability import WORDS, ask_for, off_word, why_off
from qmon.tui.shared.alert import alert_lines
from qmon.tui.shared.banner import banner
from qmon.tui.shared.header import header
from qmon.tui.status import Freshness, Shown
from qmon.tui.widgets.filter_bar import FilterBar
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.keyline import KeyLine
from qmon.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from qmon.tui.app import QmonApp


class DashboardScreen(Screen[None], inherit_bindings=False):
    """A screen of the dashboard. Subclasses say what is in it (``body``), draw it, and what they need polled."""

    NAME: ClassVar[str]
    SORTS: ClassVar[Sequence[str]] = ()
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012  # textual types it as of the instance
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.filter_text = ""
        self.sorted_by: tuple[str, bool] = ("", True)
        self._drawn: Freshness | None = None

    @property
    def board(self) -> QmonApp:
        """The app, as what it is."""
        return cast("QmonApp", self.app)

    @property
    def grid(self) -> Grid:
        """The screen's table."""
        return self.query_one(Grid)

    def compose(self) -> ComposeResult:
        """The header, what the screen is about, and the keys."""
        yield Lines(id="header")
        yield Lines(id="alert")
        yield Lines(id="banner", most=3)
        yield from self.body()
        yield FilterBar()
        yield KeyLine(id="keys")

    def body(self) -> ComposeResult:
        """The widgets between the header and the keys."""
        yield from ()

    def on_mount(self) -> None:
        """Follow the app from now on."""
        self.watch(self.app, "shown", self._shown_changed, init=False)
        self.watch(self.app, "theme", self.redraw, init=False)

    def on_screen_resume(self) -> None:
        """Have polled what is on this screen, and catch up with what happened while another was shown."""
        self.board.refocus()
        self.redraw()

    def _shown_changed(self) -> None:
        if self in self.app.screen_stack:
            self.redraw()

    def redraw(self) -> None:
        """Draw everything; widgets paint what has changed."""
        if not (self.is_mounted and self.app.is_running):  # else not all its widgets are there
            return
        shown, now = self.board.shown, self.board.clock()
        self._drawn = shown.freshness(now)
        self.draw(shown, now, stale=self._drawn is Freshness.STALE)
        self._draw_frame(shown, now)

    def tick(self) -> None:
        """Time has passed and nothing came: ages grow; figures that have become too old turn grey."""
        shown, now = self.board.shown, self.board.clock()
        if shown.freshness(now) is not self._drawn:
            self.redraw()
        else:
            self._draw_frame(shown, now)

    def _draw_frame(self, shown: Shown, now: float) -> None:
        self.query_one("#header", Lines).show(lambda cells, _: header(shown, now, cells))
        alerted = bool(alert_lines(shown.alerts, now, 80))
        self.set_class(alerted, "-alerted")
        if alerted:
            self.query_one("#alert", Lines).show(lambda cells, _: alert_lines(shown.alerts, now, cells))
        paused = banner(shown, now, 80)
        self.set_class(bool(paused), "-paused")
        if paused:
            self.query_one("#banner", Lines).show(lambda cells, _: banner(shown, now, cells))
        bar, off = self._bar(), self.offs()
        self.query_one("#keys", KeyLine).show_keys(
            bar, off, off_word(self.board.runner, shown.view), self.NAME, self.filter_text
        )
        self.draw_ages(shown, now)

    def _bar(self) -> list[Binding]:
        return keys.plain((*self.grid.offered, *self.BINDINGS, *self.board.BINDINGS))

    def draw(self, shown: Shown, now: float, *, stale: bool) -> None:
        """Draw the figures."""

    def draw_ages(self, shown: Shown, now: float) -> None:
        """Draw the panels' titles, which hold their age."""

    def focus_wanted(self) -> Focus:
        """What must be polled for this screen."""
        return Focus()

    # ---------------------------------------------------------------------------------------------------- acting

    def acting_on(self) -> QueueView | None:
        """The queue that the keys act on."""
        return None

    def chosen(self) -> Choice:
        """The messages of it that are meant."""
        return Choice()

    def offs(self) -> dict[str, str]:
        """By the id of a key why it can do nothing now."""
        board, queue = self.board, self.acting_on()
        here = {binding.id for binding in keys.plain(self.BINDINGS)}
        told = {word: why_off(board.runner, board.shown.view, queue, word) for word in WORDS if word in here}
        return {word: why for word, why in told.items() if why is not None}

    def action_act(self, word: str) -> None:
        """Plan an action and open its dialog, or say why there is none."""
        why = self.offs().get(word)
        if why is not None:
            self.board.say(why)
        else:
            view = self.board.shown.view
            self.board.act(ask_for(word, view, self.acting_on(), self.chosen()), self.acted)

    def acted(self, result: OperationResult | None) -> None:
        """An action has ended; ``None``: it was left before it began."""

    # ------------------------------------------------------------------------------------------ sort and filter

    def action_sort(self) -> None:
        """Sort by the next column."""
        at = self.SORTS.index(self.sorted_by[0]) if self.sorted_by[0] in self.SORTS else -1
        self._sort_by(self.SORTS[(at + 1) % len(self.SORTS)])

    def action_reverse(self) -> None:
        """Turn the order around."""
        self.sorted_by = (self.sorted_by[0], not self.sorted_by[1])
        self.redraw()

    def _sort_by(self, column: str) -> None:
        self.sorted_by = (column, column not in ("queue", "id", "owner", "design", "state"))
        self.redraw()

    @on(Grid.SortAsked)
    def _header_clicked(self, message: Grid.SortAsked) -> None:
        if message.column == self.sorted_by[0]:
            self.action_reverse()
        else:
            self._sort_by(message.column)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While the filter is typed, its key is part of the text."""
        return action != "filter" or not isinstance(self.focused, FilterBar)

    def action_filter(self) -> None:
        """Open the line in which the filter is typed; the focus is there before the next key is."""
        bar = self.query_one(FilterBar)
        bar.open(self.filter_text)
        self.set_focus(bar)

    @on(FilterBar.Typed)
    def _filter_typed(self, message: FilterBar.Typed) -> None:
        self.filter_text = message.text
        self.redraw()

    @on(FilterBar.Done)
    def _filter_done(self) -> None:
        self.query_one(FilterBar).display = False
        self.set_focus(self.grid)

    def action_back(self) -> None:
        """Drop the filter where there is one, else go back to the overview."""
        if self.filter_text:
            self.filter_text = ""
            self.redraw()
        elif self.NAME != self.app.DEFAULT_MODE:
            self.app.switch_mode(self.app.DEFAULT_MODE)
