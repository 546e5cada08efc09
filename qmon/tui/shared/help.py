"""The help: the verdict and the unknown figures of the queue under the cursor, the symbols and words, and every key."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen

from qmon import manual
from qmon.errors import QmonError
from qmon.model.figure import Severity
from qmon.model.view import QueueView
from qmon.tui import figures, keys
from qmon.tui.sanitize import clean, pad
from qmon.tui.shared.keybar import key_name
from qmon.tui.spans import Line, wrap
from qmon.tui.widgets.lines import Lines

_SYMBOLS: Final = (
    ("~", "estimated: an exact count, carried on by the server's counters"),
    ("≥", "at least: counted up to a limit, or watched by qmon itself"),
    ("–", "not known; the tooltip and the queue screen say why"),
    ("■ ▲ ‖ ◦ ·", "critical, warning, paused on purpose, notice, fine"),
    ("● live", "figures are of the last poll; the age counts from its begin"),
    ("◌ late", "a poll has overrun its deadline: figures are grey and age"),
    ("✕ lost", "no connection; qmon tries again by itself"),
    ("◇ frozen", "the display stands still, sampling goes on"),
    ("△ ▽", "more or less than usual at this hour of the week, over the last minutes"),
)
_WORDS: Final = (
    ("ready", "messages that can be popped now; their number is the depth"),
    ("in prog", "popped and not finished yet"),
    ("stuck", "in progress for longer than the queue's timeout"),
    ("oldest", "age of the oldest message that is ready"),
    ("gap", "ring: push position minus pop position, negative where poppers wait for numbers not pushed yet; "
            "other designs: last issued id minus head id"),
    ("probe", "what the last poll cost the server; qmon slows down to stay in its budget"),
)  # fmt: skip


def all_bindings(of_app: Iterable[BindingType] = keys.APP) -> Iterable[Binding]:
    """Every key of every screen once, in the order of the groups. ``of_app``: those that all screens have."""
    found: dict[str, Binding] = {}
    for binding in keys.plain((*of_app, *keys.OVERVIEW, *keys.QUEUE_SCREEN, *keys.GRID, *keys.MESSAGE, *keys.HISTORY)):
        found.setdefault(binding.id or binding.key, binding)
    return sorted(found.values(), key=lambda b: keys.GROUPS.index(b.group) if b.group in keys.GROUPS else 0)


def help_lines(cells: int, queue: QueueView | None = None, of_app: Iterable[BindingType] = keys.APP) -> list[Line]:
    """The whole help as lines. ``queue``: the one under the cursor, whose verdict and unknown figures are explained.

    ``of_app``: the keys that all screens have.
    """
    lines: list[Line] = [(("↑ ↓ scroll · esc closes · qmon help in a shell: the manual", "muted"),), ()]
    if queue is not None:
        lines += _explained(queue, cells)
    lines += [(("SYMBOLS", "title"),)]
    lines += _entries(_SYMBOLS, cells)
    lines += [(), (("WORDS", "title"),), *_entries(_WORDS, cells), (), (("KEYS", "title"),)]
    group = ""
    for binding in all_bindings(of_app):
        name = binding.group.description if binding.group else ""
        shown = "" if name == group else name.lower()
        group = name
        about = binding.tooltip or binding.description
        lines.append(((pad(shown, 10), "muted"), (pad(key_name(binding), 7), "key"), (about, "text")))
    return lines


def _explained(queue: QueueView, cells: int) -> list[Line]:
    """What the manual says of the worst verdict, unless all is well, and of each reason for an unknown figure."""
    topics = [queue.verdict.code] if queue.verdict.severity > Severity.FINE else []
    topics += dict.fromkeys(reason for _, reason in figures.unknown(queue))
    lines: list[Line] = []
    seen: set[str] = set()
    for words in topics:
        try:
            text = manual.paragraph(words)
        except QmonError:  # the installation is broken; the keys are of use all the same
            return []
        if text and text not in seen:
            seen.add(text)
            lines += [((piece, "key"),) for piece in wrap(clean(words), cells, cells, 2)]
            lines += [((f"  {piece}", "text"),) for piece in wrap(text, cells - 2, cells - 2, 20)]
    return [((clean(queue.layout.queue), "title"),), *lines, ()] if lines else []


def _entries(entries: Iterable[tuple[str, str]], cells: int) -> list[Line]:
    lines: list[Line] = []
    for name, meaning in entries:
        for index, piece in enumerate(wrap(meaning, cells - 11, cells - 11, 4)):
            lines.append(((pad(name if index == 0 else "", 10), "key"), (f" {piece}", "text")))
    return lines


class Help(ModalScreen[None], inherit_bindings=False):
    """Scrolls where it does not fit. ``queue``: the one under the cursor."""

    BINDINGS = keys.HELP
    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, queue: QueueView | None = None) -> None:
        super().__init__()
        self._queue = queue

    def compose(self) -> ComposeResult:
        """One long text."""
        with Vertical(), VerticalScroll():
            yield Lines(id="help-lines")

    def on_mount(self) -> None:
        """Write it."""
        self.query_one("#help-lines", Lines).show(lambda cells, _: help_lines(cells, self._queue, self.app.BINDINGS))

    def action_close(self) -> None:
        """Close."""
        if self.is_current:  # a second key may come before the screen has gone
            self.dismiss(None)
