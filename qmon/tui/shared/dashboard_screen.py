"""The base class of all dashboard screens: header, key line, a sorted and filtered table, and ages that grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.screen import Screen
from textual.widget import Widget

from qmon.model.operation_records import Choice, OperationResult
from qmon.model.view import QueueView
from qmon.monitor.source import ReadScope
from qmon.texts import Text
from qmon.tui import keys, palette_items
from qmon.tui.actions.availability import ACTIONS, action_request_for, disabled_reason, read_only_word
from qmon.tui.actions.request import ActionRequest
from qmon.tui.app import QmonApp
from qmon.tui.palette_items import PaletteItem
from qmon.tui.sanitize import clean
from qmon.tui.screen_list import make_detail_screen, make_server_health_dialog
from qmon.tui.screen_texts import ScreenText
from qmon.tui.shared import topics
from qmon.tui.shared.banner import alert_lines, operation_lines, pause_lines, tour_lines
from qmon.tui.shared.header import header_lines, heading_line
from qmon.tui.shared.keybar import KeyLine
from qmon.tui.shown_state import Freshness, ShownState
from qmon.tui.widgets.compositor import ChangedLinesCompositor
from qmon.tui.widgets.filter_bar import FilterBar
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import Table
from qmon.tui.widgets.lines import Lines
from qmon.tui.widgets.terminal_size import use_current_size

if TYPE_CHECKING:
    from qmon.tui.shared.note import NoteGathered


class DashboardText(Text):
    """The texts of all screens."""

    FILTER_KEYS = "!text excludes · enter keeps · esc clears"
    NO_THEME = "no theme has this name"


# Keys that send a request to the source.
_SOURCE_KEYS = ("count", "faster", "slower", "poll-now")


class DashboardScreen(Screen[None], inherit_bindings=False):
    """A screen of the dashboard.

    Subclasses define the widgets (``compose_body``), draw the figures (``draw_figures``), and choose the probes for
    the screen (``read_scope``).
    """

    NAME: ClassVar[str]
    SORT_COLUMNS: ClassVar[Sequence[str]] = ()
    # The prompt of the filter line, and the hint next to it.
    FILTER: ClassVar[tuple[str, str]] = ("filter", DashboardText.FILTER_KEYS)
    app = getters.app(QmonApp)
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (120, "-wide")]  # noqa: RUF012  # an instance attribute in Textual
    VERTICAL_BREAKPOINTS = [(0, "-short"), (32, "-tall")]  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self._compositor = ChangedLinesCompositor()
        self.filter_text = ""
        self.sorted_by: tuple[str, bool] = ("", True)
        self._drawn_freshness: Freshness | None = None

    def on_resize(self, event: events.Resize) -> None:
        use_current_size(self, event)

    @property
    def grid(self) -> Grid:
        """The screen's table."""
        return self.query_one(Grid)

    @property
    def shows_all_targets(self) -> bool:
        """True if several targets are watched and this screen shows all of them."""
        return self.NAME in self.app.FLEET_SCREENS

    @property
    def _main_widget(self) -> Widget:
        """The widget that has the focus while the user is not typing a filter."""
        return self.grid

    def compose(self) -> ComposeResult:
        yield Lines(id="header")
        yield Lines(id="alert")
        yield Lines(id="banner", most=3)
        yield Lines(id="under-way", most=2)
        yield from self.compose_body()
        yield Lines(id="tour", most=4)
        yield FilterBar(*self.FILTER)
        yield KeyLine(id="keys")

    def compose_body(self) -> ComposeResult:
        """Yield the widgets between the header and the keys."""
        yield from ()

    def on_mount(self) -> None:
        self.watch(self.app, "shown", self._shown_changed, init=False)
        self.watch(self.app, "ticks", self._tick_if_open, init=False)
        self.watch(self.app, "theme", self.redraw, init=False)

    def on_screen_resume(self) -> None:
        """Request the polls that this screen needs, and show figures that arrived while another screen was open."""
        self.prepare_to_show()
        self.set_read_scope()
        self.redraw()

    def set_read_scope(self) -> None:
        """Make the source read the data of this screen, unless another screen of the dashboard is over this screen."""
        dashboards = [screen for screen in self.app.screen_stack if isinstance(screen, DashboardScreen)]
        if dashboards[-1:] == [self]:
            self.app.set_read_scope(self.read_scope())

    def prepare_to_show(self) -> None:
        """Prepare the screen before it is drawn, because it has come to the front. Subclasses override this.

        They do not define ``on_screen_resume``, because Textual calls that handler for each class that defines it.
        """

    def _shown_changed(self) -> None:
        if self in self.app.screen_stack:
            self.redraw()

    def _tick_if_open(self) -> None:
        if self in self.app.screen_stack:
            self.tick()

    def redraw(self) -> None:
        """Draw everything. Widgets repaint only what has changed."""
        if not (self.is_mounted and self.app.is_running):  # some widgets do not exist before the screen is mounted
            return
        shown, now = self.app.shown, self.app.clock()
        self._drawn_freshness = shown.freshness(now)
        self.set_class(self.app.preferences.target_preferences(shown.target).folded, "-folded")
        self.draw_figures(shown, now, stale=self._drawn_freshness is Freshness.STALE)
        self._draw_frame(shown, now)

    def tick(self) -> None:
        """Update the ages. If the figures have become stale, draw the figures grey."""
        shown, now = self.app.shown, self.app.clock()
        if shown.freshness(now) is not self._drawn_freshness:
            self.redraw()
        else:
            self._draw_frame(shown, now)

    def _draw_frame(self, shown: ShownState, now: float) -> None:
        header = self.query_one("#header", Lines)
        self._draw_notices(shown, now)
        if self.shows_all_targets:
            header.show(lambda cells, _: [self.app.fleet_header(now, cells)])
            self._show_keys("")
        else:
            header.show(lambda cells, _: header_lines(shown, now, cells))
            self._draw_target_notices(shown, now)
            self._show_keys(read_only_word(self.app.runner, shown.view))
        self.draw_headings(shown, now)

    def _draw_target_notices(self, shown: ShownState, now: float) -> None:
        """Draw the pauses of the target, and the step of the tour."""
        paused = pause_lines(shown, now, 80)
        self.set_class(bool(paused), "-paused")
        if paused:
            self.query_one("#banner", Lines).show(lambda cells, _: pause_lines(shown, now, cells))
        if (told := self.app.tour_step) is not None:
            self.add_class("-tour")
            self.query_one("#tour", Lines).show(lambda cells, _: tour_lines(told(), cells))

    def _draw_notices(self, shown: ShownState, now: float) -> None:
        """Draw the alert and the operations in the background, which every screen shows."""
        alerted, under_way = bool(alert_lines(shown.alerts, now, 80)), self.app.background_operations
        self.set_class(alerted, "-alerted")
        if alerted:
            self.query_one("#alert", Lines).show(lambda cells, _: alert_lines(shown.alerts, now, cells))
        self.set_class(bool(under_way), "-under-way")
        if under_way:
            self.query_one("#under-way", Lines).show(lambda cells, _: operation_lines(under_way, cells))

    def _show_keys(self, why: str) -> None:
        self.query_one("#keys", KeyLine).show_keys(
            self._bar_bindings(), self.disabled_reasons(), why, self.NAME, self.filter_text, self.app.ENTRIES
        )

    def _bar_bindings(self) -> list[Binding]:
        return keys.bindings_in((*self.grid.offered_bindings, *self.BINDINGS, *self.app.BINDINGS))

    def draw_figures(self, shown: ShownState, now: float, *, stale: bool) -> None:
        """Draw the figures; grey if ``stale``. Subclasses override this."""

    def draw_headings(self, shown: ShownState, now: float) -> None:
        """Draw the titles of the panels, which contain ages. Subclasses override this."""

    def show_heading(self, id: str, title: str, extra: str = "", *, aged: bool = True) -> None:
        """Draw the title of a panel. ``aged``: include the age of the figures below the title."""
        shown, now = (self.app.shown, self.app.clock()) if aged else (None, 0.0)
        self.query_one(f"#{id}", Lines).show(
            lambda cells, _: [heading_line(title, cells, extra=extra, shown=shown, now=now)]
        )

    @property
    def is_stale(self) -> bool:
        """True if the figures are too old to count as current."""
        return self.app.shown.freshness(self.app.clock()) is Freshness.STALE

    def neighbour_queue(self, by: int, names: Sequence[str], current: str | None) -> str | None:
        """Return the queue ``by`` places after ``current``, wrapping around; ``None`` without queues."""
        at = names.index(current) if current in names else 0
        return names[(at + by) % len(names)] if names else None

    def no_match_text(self, rows: str) -> str:
        """Return the text of a table in which no row matches the filter. ``rows``: the thing that a row shows."""
        return ScreenText.NO_MATCH.render(what=rows, filter=clean(self.filter_text))

    def read_scope(self) -> ReadScope:
        """Return the focus of the polls while this screen is shown."""
        return ReadScope()

    # ---------------------------------------------------------------------------------------------------- acting

    def current_queue(self) -> QueueView | None:
        """Return the queue that the action keys act on, or ``None``."""
        return None

    def message_choice(self) -> Choice:
        """Return the messages that the action keys act on, all of the current queue."""
        return Choice()

    def disabled_reasons(self) -> dict[str, str]:
        """Return the reasons why keys are disabled, keyed by binding id."""
        app, queue = self.app, self.current_queue()
        here = {binding.id for binding in keys.bindings_in(self.BINDINGS)}
        reasons = {
            id: disabled_reason(app.runner, app.shown.view, queue, id, can_propose=not app.unwritable_reason)
            for id in ACTIONS
            if id in here
        }
        reasons |= dict.fromkeys(_SOURCE_KEYS, app.fixed_reason or None)
        reasons["propose"] = app.unwritable_reason or None
        return {id: why for id, why in reasons.items() if why is not None}

    def request_for(self, action: str) -> ActionRequest | None:
        """Return the request for the action with this id, or ``None``."""
        return action_request_for(action, self.app.shown.view, self.current_queue(), self.message_choice())

    def action_propose(self) -> None:
        """List tables that may be queues, so that the user can add some to the configuration."""
        self.app.propose_queues(self.current_queue())

    def action_detail(self, name: str) -> None:
        """Open the screen ``name`` about the current queue over this screen."""
        if (queue := self.current_queue()) is None:
            self.app.notify_briefly(ScreenText.NO_QUEUE_SELECTED)
        else:
            self.app.selected = queue.name  # the cursor returns to it, even if another queue is first by then
            self.app.push_screen(make_detail_screen(name, queue.name))

    def action_server_health(self) -> None:
        """Open the dialog about the server of the shown target, with the cost of polling."""
        self.app.push_screen(make_server_health_dialog())

    def action_act(self, action: str) -> None:
        """Open the dialog that plans an action. If the action is disabled, notify the user of the reason."""
        if (why := self.disabled_reasons().get(action)) is not None:
            self.app.notify_briefly(why)
        else:
            self.open_action_dialog(self.request_for(action))

    def open_action_dialog(self, request: ActionRequest | None) -> None:
        """Open the dialog of this request. If changes are not allowed here, notify the user of the reason."""
        from qmon.tui.actions.action_dialog import ActionDialog

        if request is not None and self.app.runner is not None:
            self.app.push_screen(ActionDialog(request, self.app.runner), self.handle_result)

    def handle_result(self, result: OperationResult | None) -> None:
        """Handle the result of an action. ``None``: the dialog was closed before the action started."""

    # ------------------------------------------------------------------------------------------- help and palette

    def action_help(self) -> None:
        """Open the help. The help starts with the chosen column, the row under the cursor and the queue."""
        from qmon.tui.shared.help_dialog import Help

        grid = next(iter(self.query(Grid)), None)
        column = grid.chosen_column if grid is not None else None
        chosen = topics.column_topics(column, grid.cursor_row) if grid is not None and column is not None else []
        columns = grid.columns if grid is not None else ()
        self.app.push_screen(Help([*chosen, *self.help_topics()], columns, self._visible_text()))

    def _visible_text(self) -> str:
        """Return the text on screen, in which the help looks for special words."""
        panels = (line for panel in self.query(Lines) if panel.size for line in panel.plain_lines)
        return "\n".join((*panels, *(grid.visible_text for grid in self.query(Grid) if grid.size)))

    def help_topics(self) -> list[topics.TopicGroup]:
        """Return the topics of this screen. By default, these are about the queue under the cursor."""
        queue = self.current_queue()
        return topics.queue_topics(queue) if queue is not None else []

    async def action_palette(self) -> None:
        """Open the list of available actions and queues, and run the chosen entry."""
        from qmon.tui.shared import palette

        async def run_choice(choice: PaletteItem | None) -> None:
            if choice is not None:
                await choice.run()

        off = self.disabled_reasons() | self.app.file_reasons
        actions = palette.action_items(self.active_bindings.values(), off, self.app.run_action)

        async def explain(topic: str) -> None:
            from qmon.tui.shared.help_dialog import Help

            self.app.push_screen(Help([topics.word_topics(topic)]))

        places = [*self.palette_places(), *palette_items.word_items(explain)]
        await self.app.push_screen(palette.Palette(actions, places), run_choice)

    def palette_places(self) -> list[PaletteItem]:
        """Return the places in the palette for this screen."""
        return self.app.palette_places()

    def action_choose_theme(self) -> None:
        """List the themes and use the theme that the user chooses."""
        from qmon.tui.shared import palette

        async def run_choice(choice: PaletteItem | None) -> None:
            if choice is not None:
                await choice.run()

        themes = palette.theme_items(self.app.theme, self.app.use_theme)
        self.app.push_screen(palette.Palette(themes, [], prompt="theme", empty_text=DashboardText.NO_THEME), run_choice)

    # ---------------------------------------------------------------------------------------------------- saving

    def shown_table(self) -> Table | None:
        """Return the table that ``ctrl+s`` saves as CSV or JSON; ``None`` if there is no table."""
        grid = next(iter(self.query(Grid)), None)
        return Table(tuple(grid.columns), grid.rows) if grid is not None and grid.rows else None

    def action_save(self) -> None:
        """Ask for a file and save the table or the screen."""
        from qmon.tui.shared import saving

        if (why := self.app.file_reasons.get("save")) is not None:
            self.app.notify_briefly(why)
            return
        view = self.app.shown.view
        saving.ask_and_save(self.app, self.NAME, self.shown_table(), view.sampled_at if view is not None else None)

    def action_note(self) -> None:
        """Gather the facts of the incident on screen, then ask for a file and write them."""
        from qmon.tui.shared.note import start_note

        if (why := self.app.file_reasons.get("save")) is not None:
            self.app.notify_briefly(why)
        else:
            start_note(self.app, self)

    def on_note_gathered(self, message: NoteGathered) -> None:
        """Ask for a file name. If the facts could not be gathered, notify the user of the reason."""
        from qmon.tui.shared.note import ask_and_write

        if message.note is None:
            self.app.notify(clean(message.problem), severity="warning", timeout=15, markup=False)
        else:
            ask_and_write(self.app, message.note)

    # ------------------------------------------------------------------------------------------ sort and filter

    def action_sort(self) -> None:
        sorts = self.sortable_columns()
        at = sorts.index(self.sorted_by[0]) if self.sorted_by[0] in sorts else -1
        self._sort_by(sorts[(at + 1) % len(sorts)])

    def sortable_columns(self) -> Sequence[str]:
        """Return the columns that ``s`` cycles through."""
        return self.SORT_COLUMNS

    def action_fold(self) -> None:
        """Hide the plots of this target, or show the plots again."""
        self.app.preferences.change_target(self.app.shown.target, lambda of: replace(of, folded=not of.folded))
        self.redraw()

    def action_reverse(self) -> None:
        self.sorted_by = (self.sorted_by[0], not self.sorted_by[1])
        self.redraw()

    def _sort_by(self, column: str) -> None:
        self.sorted_by = (column, column not in ("queue", "id", "owner", "design", "state", "target"))
        self.redraw()

    @on(Grid.SortAsked)
    def _header_clicked(self, message: Grid.SortAsked) -> None:
        if message.column == self.sorted_by[0]:
            self.action_reverse()
        else:
            self._sort_by(message.column)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable the keys of the screen while the user is typing a filter, because keys are then part of the text."""
        return action not in ("filter", "palette") or not isinstance(self.focused, FilterBar)

    def action_filter(self) -> None:
        """Open the filter line and focus it immediately, so that it receives the next key."""
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
        self.set_focus(self._main_widget)

    def action_back(self) -> None:
        """Remove the filter if there is one, or go back to the parent screen."""
        if self.filter_text:
            self.filter_text = ""
            self.redraw()
        else:
            self.app.leave_screen(self.NAME)
