"""The help: explains the verdict, figure or wait under the cursor, the symbols and words, and all keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.tui import keys
from qmon.tui.sanitize import pad
from qmon.tui.shared.glossary import terms_in
from qmon.tui.shared.keybar import key_name
from qmon.tui.shared.topics import Topic, TopicGroup
from qmon.tui.spans import Line, wrap_text
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.grid_table import GridColumn
from qmon.tui.widgets.lines import Lines

_SYMBOLS: Final = (
    ("~", "estimated: the last exact count plus the changes in the server's counters"),
    ("≥", "at least: counted up to a limit, or counted only since qmon started"),
    ("–", "unknown; press ? on the column, or open the queue screen, for the reason"),
    ("■ ▲ ‖ ◦ ·", "critical, warning, paused on purpose, notice, fine"),
    ("● live", "figures are from the last poll; their age counts from the start of the poll"),
    ("◌ late", "a poll missed its deadline; the figures turn grey and get older"),
    ("✕ lost", "no connection; qmon reconnects automatically"),
    ("◇ frozen", "the display is frozen; polling continues"),
    ("△ ▽", "above or below the usual range for this hour of the week, over the last minutes"),
)
# The help of the queue screen has more than 200 lines.
_MAX_LINES: Final = 1_000
# Width of the names at the left, in cells.
_NAME_CELLS: Final = 21


def all_bindings(app_bindings: Iterable[BindingType] = keys.APP) -> Iterable[Binding]:
    """Return every key of every screen once, in the order of the groups. ``app_bindings``: keys of all screens."""
    found: dict[str, Binding] = {}
    for binding in keys.bindings_in(
        (*app_bindings, *keys.OVERVIEW, *keys.QUEUE_SCREEN, *keys.GRID, *keys.MESSAGE, *keys.HISTORY)
    ):
        found.setdefault(binding.id or binding.key, binding)
    return sorted(
        found.values(), key=lambda binding: keys.GROUPS.index(binding.group) if binding.group in keys.GROUPS else 0
    )


def help_lines(
    cells: int,
    topic_groups: Iterable[TopicGroup] = (),
    columns: Iterable[GridColumn] = (),
    app_bindings: Iterable[BindingType] = keys.APP,
    text: str = "",
) -> list[Line]:
    """Return the whole help as lines.

    ``topic_groups``: the topics under the cursor, shown first. ``columns``: the columns of the table on screen.
    ``app_bindings``: the keys of all screens. ``text``: the text of the screen, whose special words are explained.
    """
    lines: list[Line] = [(("↑ ↓ scroll · esc closes · manual: qmon help in a shell", "muted"),), ()]
    for each in topic_groups:
        lines += [((each.title, "title"),), *_topic_lines(each.topics, cells), ()]
    lines += [(("SYMBOLS", "title"),), *_entry_lines(_SYMBOLS, cells)]
    words = {figure.words: figure.about for figure in QUEUE_FIGURES}
    others = {c.title.lower(): c.about for c in columns if c.title and c.about and c.about not in words.values()}
    terms = [(term.name, term.meaning) for term in terms_in(text) if term.name not in words.keys() | others.keys()]
    lines += [(), (("WORDS", "title"),), *_entry_lines((*words.items(), *others.items(), *terms), cells)]
    lines += [(), (("KEYS", "title"),)]
    group = ""
    for binding in all_bindings(app_bindings):
        name = binding.group.description if binding.group else ""
        shown = "" if name == group else name.lower()
        group = name
        about = binding.tooltip or binding.description
        lines.append(((pad(shown, 10), "muted"), (pad(key_name(binding), 7), "key"), (about, "text")))
    return lines


def _topic_lines(topics: Iterable[Topic], cells: int) -> list[Line]:
    lines: list[Line] = []
    for topic in topics:
        lines += [((piece, "key"),) for piece in wrap_text(topic.name, cells, cells, 3)]
        if topic.text:
            lines += [((f"  {piece}", "text"),) for piece in wrap_text(topic.text, cells - 2, cells - 2, 20)]
    return lines


def _entry_lines(entries: Iterable[tuple[str, str]], cells: int) -> list[Line]:
    lines: list[Line] = []
    for name, meaning in entries:
        for index, piece in enumerate(wrap_text(meaning, cells - _NAME_CELLS - 1, cells - _NAME_CELLS - 1, 4)):
            lines.append(((pad(name if index == 0 else "", _NAME_CELLS), "key"), (f" {piece}", "text")))
    return lines


class Help(Dialog[None], inherit_bindings=False):
    """The help dialog. The arguments are those of ``help_lines``."""

    BINDINGS = keys.HELP
    AUTO_FOCUS = "VerticalScroll"

    def __init__(
        self, topic_groups: Sequence[TopicGroup] = (), columns: Sequence[GridColumn] = (), text: str = ""
    ) -> None:
        super().__init__()
        self._topic_groups, self._columns, self._text = topic_groups, columns, text

    def compose(self) -> ComposeResult:
        with Vertical(), VerticalScroll():
            yield Lines(id="help-lines", most=_MAX_LINES)

    def on_mount(self) -> None:
        self.query_one("#help-lines", Lines).show(
            lambda cells, _: help_lines(cells, self._topic_groups, self._columns, self.app.BINDINGS, self._text)
        )

    def action_close(self) -> None:
        self.finish()
