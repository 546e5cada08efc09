"""The help: explains the verdict, figure or wait under the cursor, the symbols and words, and all keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.tui import keys
from qmon.tui.sanitize import pad
from qmon.tui.shared.header import HeaderText
from qmon.tui.shared.keybar import key_name
from qmon.tui.shared.topics import Topic, TopicGroup
from qmon.tui.spans import Line, wrap_text
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.grid_table import GridColumn
from qmon.tui.widgets.lines import Lines


@dataclass(frozen=True, slots=True)
class Term:
    """A word or phrase, and its meaning in one line.

    Attributes:
        forms: other forms of the word, such as a plural.
        is_exact: capital letters matter, because the word is an abbreviation that is also a common word.
    """

    name: str
    meaning: str
    forms: tuple[str, ...] = ()
    is_exact: bool = False
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Build the pattern that finds the term."""
        each = "|".join(re.escape(form).replace(r"\ ", r"\s+") for form in (self.name, *self.forms))
        flags = re.NOFLAG if self.is_exact else re.IGNORECASE
        object.__setattr__(self, "_pattern", re.compile(rf"(?<![\w-])(?:{each})(?![\w/-])", flags))

    def is_in(self, text: str) -> bool:
        """Return whether the text contains the term as a whole word."""
        return self._pattern.search(text) is not None


# In alphabetical order. Words of the columns and figures are not listed here, because the help contains these anyway.
GLOSSARY: Final = (
    Term("budget", "the server time that polling may use, by default 1 % of one processor"),
    Term("buffers", "pages of 8 kB that the server reads, from memory or from disk"),
    Term("BUFFERS/s", "buffers read per second; see buffers", is_exact=True),
    Term("cost", "server time of polling, as a share of its budget; key i of screen 3 shows details", ("costs",)),
    Term("dead rows", "old versions of rows that vacuum has not removed yet", ("dead row",)),
    Term("ESC/s", "locks of rows that became a lock of the whole table, per second", is_exact=True),
    Term("FRAG", "fragmentation: share of the index's pages that are out of order", is_exact=True),
    Term("FWD/s", "rows that moved and are read in two steps, per second", is_exact=True),
    Term("GHOST/s", "deleted rows that the server has not removed yet, per second", is_exact=True),
    Term("head blocker", "session that blocks others and does not wait itself", ("head blockers",)),
    Term("hole", "number of a ring without a message; consumers wait for it", ("holes",)),
    Term("horizon", "oldest state of the data that a transaction may still read; rows deleted later stay in the table"),
    Term("HOT", "share of updates that changed no index (heap-only tuples); a higher share is cheaper", is_exact=True),
    Term("idle wait", "wait that delays no queue: an idle client, or a timer", ("idle waits",)),
    Term("in flight", "taken by a consumer that has not committed"),
    Term("IO/s", "waits for reads and writes of pages, per second", is_exact=True),
    Term("latch", "short lock of the server on a page or structure in memory", ("latches", "latch-bound")),
    Term("LATCH/s", "waits for latches per second; see latch", is_exact=True),
    Term("LOCK/s", "waits for locks per second", is_exact=True),
    Term("OLD ROWS", "deleted and replaced rows that still take space in the table", is_exact=True),
    Term("orphan", "message that a consumer took but did not pop before it was gone", ("orphans", "orphaned")),
    Term("peak", "greatest value in the time that the plot shows"),
    Term("probe", "one query of a poll", ("probes",)),
    Term("rolled back", "number of a push that was undone; it will never have a message"),
    Term(
        "rows touched per pop",
        "rows that the server reads to find one message; many: deleted rows not cleaned up, or no index",
    ),
    Term("ROWS/s", "rows read per second", is_exact=True),
    Term("SCANS/s", "searches of the table or index per second", is_exact=True),
    Term("skipped", "number that will never have a message: the sequence left it out"),
    Term("SPLIT/s", "pages divided because they were full, per second", is_exact=True),
    Term("throttled", "read less often, so that polling stays within its budget"),
    Term("TRIED/s", "attempts to replace locks of rows by a lock of the table, per second", is_exact=True),
    Term("tx/s", "transactions per second on this database, without those of qmon"),
    Term("uncommitted", "number of a push whose transaction is still open"),
    Term("xid", "number of a transaction"),
)


def terms_in(text: str) -> tuple[Term, ...]:
    """Return the terms that the text contains."""
    return tuple(term for term in GLOSSARY if term.is_in(text))


_SYMBOLS: Final = (
    ("~", "estimated: the last exact count plus the changes in the server's counters"),
    ("≥", "at least: counted up to a limit, or counted only since qmon started"),
    ("–", "unknown; press ? on the column, or open the queue screen, for the reason"),
    ("■ ▲ ‖ ◦ ·", "critical, warning, paused on purpose, notice, fine"),
    (HeaderText.LIVE, "figures are from the last poll; their age counts from the start of the poll"),
    (HeaderText.LATE, "a poll missed its deadline; the figures turn grey and get older"),
    (HeaderText.LOST, "no connection; qmon reconnects automatically"),
    (HeaderText.FROZEN, "the display is frozen; polling continues"),
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
    words = {figure.screen_name: figure.about for figure in QUEUE_FIGURES}
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
