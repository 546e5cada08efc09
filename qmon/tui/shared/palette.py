"""The palette: every action that works here, with its key. Typing narrows it, enter does it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from textual import events, on
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding
from textual.containers import Vertical
from textual.dom import DOMNode
from textual.screen import ModalScreen

from qmon.tui.keys import GROUPS, PALETTE
from qmon.tui.sanitize import clean
from qmon.tui.shared.keybar import key_name
from qmon.tui.widgets.columns import GridColumn, GridRow
from qmon.tui.widgets.filter_bar import FilterBar, keep
from qmon.tui.widgets.grid import Grid

Choice = tuple[DOMNode, Binding]
"""An action that can be done now: the node that does it, and its key."""

_COLUMNS: Final = (
    GridColumn("key", "KEY", least=5, most=8, sortable=False),
    GridColumn("action", "ACTION", least=10, most=14, sortable=False),
    GridColumn("what", "WHAT IT DOES", least=20, grows=True, sortable=False),
    GridColumn("group", "", least=8, most=10, sortable=False, rank=1),
)


def offered(active: Iterable[ActiveBinding]) -> list[Choice]:
    """Every action once, in the order of the groups; those of the palette itself are left out."""
    found: dict[str, Choice] = {}
    for node, binding, enabled, _ in active:
        if enabled and binding.id is not None and binding.group in GROUPS and binding.id != "palette":
            found.setdefault(binding.id, (node, binding))
    return sorted(found.values(), key=lambda choice: GROUPS.index(_group(choice[1])))


def _group(binding: Binding) -> Binding.Group:
    return binding.group or GROUPS[-1]


def _words(choice: Choice) -> str:
    binding = choice[1]
    return f"{key_name(binding)} {_group(binding).description} {binding.description} {binding.tooltip}"


def _row(choice: Choice, off: str | None) -> GridRow:
    """``off``: why it can do nothing now."""
    binding = choice[1]
    group = _group(binding).description.lower()
    if off is not None:
        cells = ((key_name(binding), "faint"), (binding.description, "faint"), (f"not now: {clean(off)}", "faint"))
    else:
        cells = ((key_name(binding), "key"), (binding.description, "text"), (binding.tooltip, "muted"))
    return GridRow(binding.id or "", (*cells, (group, "faint")))


class Palette(ModalScreen[Choice], inherit_bindings=False):
    """Lists what can be done; the result is what was chosen, or ``None``."""

    BINDINGS = PALETTE
    AUTO_FOCUS = "FilterBar"

    def on_key(self, event: events.Key) -> None:
        """Keys that were pressed before the line had the focus."""
        if self.focused is None:
            self.query_one(FilterBar).on_key(event)

    def __init__(self, choices: list[Choice], off: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._choices = choices
        self._off = off or {}
        self._wanted = ""

    def compose(self) -> ComposeResult:
        """A line to type in, and the actions."""
        with Vertical():
            yield FilterBar(prompt="do", hint="enter does it · esc closes")
            yield Grid(_COLUMNS)

    def on_mount(self) -> None:
        """Show everything at first."""
        self._narrow("")

    def _narrow(self, wanted: str) -> None:
        kept = keep(self._choices, wanted, _words)
        self.query_one(Grid).show(
            [_row(choice, self._off.get(choice[1].id or "")) for choice in kept],
            empty="no action is called that",
        )

    @on(FilterBar.Typed)
    def _typed(self, message: FilterBar.Typed) -> None:
        self._narrow(message.text)

    @on(FilterBar.Done)
    def _done(self, message: FilterBar.Done) -> None:
        self._finish(self.query_one(Grid).cursor if message.kept else None)

    @on(Grid.Opened)
    def _opened(self, message: Grid.Opened) -> None:
        self._finish(message.key)

    def _finish(self, id: str | None) -> None:
        if self.is_current:  # a second key may come before the screen has gone
            self.dismiss(next((choice for choice in self._choices if choice[1].id == id), None))

    def action_close(self) -> None:
        """Close without doing anything."""
        self._finish(None)

    def action_move(self, by: int) -> None:
        """Move the cursor while typing."""
        self.query_one(Grid).action_move(by)
