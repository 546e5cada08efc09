"""The palette lists every available action with its key, and every queue. Typed text narrows the list."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.containers import Vertical
from textual.dom import DOMNode
from textual.fuzzy import Matcher

from qmon import manual
from qmon.texts import Text
from qmon.tui.keys import GROUPS, PALETTE
from qmon.tui.palette_items import PaletteItem
from qmon.tui.sanitize import clean, shorten_words
from qmon.tui.shared.keybar import key_name
from qmon.tui.themes import NAMES, is_light
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.filter_bar import FilterBar
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridColumn, GridRow

_COLUMNS: Final = (
    GridColumn("key", "KEY", least=5, most=8, sortable=False),
    GridColumn("name", "NAME", least=10, most=30, sortable=False),
    GridColumn("what", "WHAT IT DOES", least=20, shorten=shorten_words, grows=True, sortable=False),
    GridColumn("group", "", least=8, most=10, sortable=False, rank=1),
)
_MOST_QUEUES: Final = 50

# Score of an action whose alias was typed. Such an action is listed first.
_ALIAS_SCORE: Final = 1e6


def action_items(
    active: Iterable[ActiveBinding], off: Mapping[str, str], run: Callable[[str, DOMNode], Awaitable[object]]
) -> list[PaletteItem]:
    """Return every action except the palette once, in the order of the groups.

    ``off``: the reasons why actions are disabled, keyed by binding id. ``run``: runs an action on a node.
    """
    found: dict[str, tuple[DOMNode, Binding]] = {}
    for node, binding, enabled, _ in active:
        if enabled and binding.id is not None and binding.group in GROUPS and binding.id != "palette":
            found.setdefault(binding.id, (node, binding))
    out = [
        PaletteItem(
            id,
            key_name(binding),
            binding.description,
            binding.tooltip,
            _group_for(binding).description,
            partial(run, binding.action, node),
            off.get(id),
        )
        for id, (node, binding) in found.items()
    ]
    names = [group.description for group in GROUPS]
    return sorted(out, key=lambda choice: names.index(choice.group))


def theme_items(current: str, use: Callable[[str], None]) -> list[PaletteItem]:
    """Return an entry for every theme.

    ``current``: the theme in use. ``use``: switches to the theme with a name.
    """

    async def use_theme(name: str) -> None:
        use(name)

    return [
        PaletteItem(
            f"theme:{name}",
            "●" if name == current else "",
            name,
            PaletteHint.USE_LIGHT if is_light(name) else PaletteHint.USE_DARK,
            "",
            partial(use_theme, name),
        )
        for name in NAMES
    ]


def matching_items(choices: Iterable[PaletteItem], query: str) -> list[PaletteItem]:
    """Return the entries that match the typed letters, best first.

    An entry matches if its name has the typed letters in this order, if its description contains the typed text, or if
    the typed text is an alias of the name.
    """
    matcher, words = Matcher(query), query.casefold()
    alias = manual.ALIASES.get(manual.normalize_words(query))

    def score(choice: PaletteItem) -> float:
        inside = words in f"{choice.key} {choice.group} {choice.about}".casefold()
        named = _ALIAS_SCORE if choice.name == alias else 0.0
        return max(2 * matcher.match(choice.name), float(inside), named)

    scored = [(score(choice), choice) for choice in choices]
    return [choice for points, choice in sorted(scored, key=lambda pair: -pair[0]) if points]


def _group_for(binding: Binding) -> Binding.Group:
    return binding.group or GROUPS[-1]


def _item_row(choice: PaletteItem) -> GridRow:
    what = clean(choice.about) if choice.off is None else PaletteHint.NOT_NOW.render(why=clean(choice.off))
    tones = ("key", "text", "muted") if choice.off is None else ("faint",) * 3
    cells = zip((choice.key, clean(choice.name), what), tones, strict=True)
    return GridRow(choice.id, (*cells, (choice.group.lower(), "faint")))


class PaletteHint(Text):
    """The texts of the palette."""

    NOT_NOW = "not now: {why}"
    NO_MATCH = "no action, queue or word matches"
    KEYS = "type part of a name · enter runs the entry · esc closes"
    USE_DARK = "use this dark theme"
    USE_LIGHT = "use this light theme"


class Palette(Dialog[PaletteItem], inherit_bindings=False):
    """A dialog that lists the actions and, once something is typed, also the queues.

    The result is the chosen entry, or ``None``.
    """

    BINDINGS = PALETTE
    AUTO_FOCUS = "FilterBar"

    def on_key(self, event: events.Key) -> None:
        """Add keys to the input line that were pressed before the line had the focus."""
        if self.focused is None:
            self.query_one(FilterBar).on_key(event)

    def __init__(
        self,
        actions: list[PaletteItem],
        queues: list[PaletteItem],
        *,
        prompt: str = "go to or do",
        empty_text: str = PaletteHint.NO_MATCH,
    ) -> None:
        """``empty_text``: the text to show if no entry matches."""
        super().__init__()
        self._actions, self._queues = actions, queues
        self._prompt, self._empty_text = prompt, empty_text

    def compose(self) -> ComposeResult:
        with Vertical():
            yield FilterBar(prompt=self._prompt, hint=PaletteHint.KEYS)
            yield Grid(_COLUMNS)

    def on_mount(self) -> None:
        self._show_matching("")

    def _show_matching(self, query: str) -> None:
        kept = self._actions
        if query.strip():
            names = matching_items(self._queues, query.strip())[:_MOST_QUEUES]
            kept = matching_items([*self._actions, *names], query.strip())
        self.query_one(Grid).show([_item_row(choice) for choice in kept], empty=self._empty_text)

    @on(FilterBar.Typed)
    def _show_typed(self, message: FilterBar.Typed) -> None:
        self._show_matching(message.text)
        self.query_one(Grid).action_end(-1)  # the best entry is on top

    @on(FilterBar.Done)
    def _choose_or_leave(self, message: FilterBar.Done) -> None:
        self._finish_with(self.query_one(Grid).cursor if message.kept else None)

    @on(Grid.Opened)
    def _choose_clicked(self, message: Grid.Opened) -> None:
        self._finish_with(message.key)

    def _finish_with(self, id: str | None) -> None:
        self.finish(next((choice for choice in (*self._actions, *self._queues) if choice.id == id), None))

    def action_close(self) -> None:
        self._finish_with(None)

    def action_move(self, by: int) -> None:
        self.query_one(Grid).action_move(by)
