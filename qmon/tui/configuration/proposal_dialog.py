"""The dialog with the tables that were found on a target. The user marks the tables to write to ``qmon.toml``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message

from qmon.model.formatting import count_text
from qmon.model.layout.layout import ObjectName
from qmon.monitor.catalog.discovery.candidates import Candidate, is_likely
from qmon.texts import Text
from qmon.tui.keys import PROPOSAL_DIALOG
from qmon.tui.sanitize import clean, shorten_words
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.grid import Grid
from qmon.tui.widgets.grid_table import GridColumn, GridRow
from qmon.tui.widgets.lines import Lines

_COLUMNS: Final = (
    GridColumn("table", "TABLE", least=12, most=40, shrinks_to=16, sortable=False),
    GridColumn("design", "AS", least=6, most=14, sortable=False, rank=1),
    GridColumn("why", "WHY", least=20, shorten=shorten_words, grows=True, sortable=False),
)


class ProposalText(Text):
    """The texts of the dialog."""

    ONE_TABLE = "{tables} of {target} may be a queue"
    TABLES = "{tables} of {target} may be queues"
    MARKED = "◆ marked to be written; qmon only guesses, so check them"
    MISSING = "missing: {columns}; {summary}"
    ENTER_MISSING = "missing: {columns}; run qmon init to enter it"
    NONE_MARKED = "no table is marked; space marks the table under the cursor"


class QueuesFound(Message):
    """The search for queues has ended. ``problem``: why it failed. ``by_user``: the user requested the search."""

    def __init__(self, candidates: Sequence[Candidate], problem: str = "", *, by_user: bool) -> None:
        super().__init__()
        self.candidates, self.problem, self.by_user = tuple(candidates), problem, by_user


class ProposalDialog(Dialog[tuple[Candidate, ...]], inherit_bindings=False):
    """Lists the tables, with the cursor on ``at``. The result: the tables to write; empty if the user writes none."""

    BINDINGS = PROPOSAL_DIALOG
    AUTO_FOCUS = "Grid"

    def __init__(self, target: str, candidates: Sequence[Candidate], path: Path, at: ObjectName | None = None) -> None:
        super().__init__()
        self._target, self._path, self._at = target, path, at
        self._found = {str(each.layout.table): each for each in candidates}
        self._marked = {name for name, each in self._found.items() if is_likely(each)}

    def compose(self) -> ComposeResult:
        with Vertical(id="proposal"):
            yield Lines(id="proposal-title", most=2)
            yield Grid(_COLUMNS)
            yield Lines(id="proposal-hint", most=2)

    def on_mount(self) -> None:
        count = len(self._found)
        title = (ProposalText.ONE_TABLE if count == 1 else ProposalText.TABLES).render(
            tables=count_text(count, "table"), target=clean(self._target)
        )
        self.query_one("#proposal-title", Lines).show(
            lambda *_: [
                ((f" {title}", "strong"),),
                ((f" {ProposalText.MARKED}", "muted"),),
            ]
        )
        self._show_rows()
        if self._at is not None:
            self.query_one(Grid).select(str(self._at))

    def _show_rows(self) -> None:
        self.query_one(Grid).show([_row(name, each, name in self._marked) for name, each in self._found.items()])
        count = count_text(len(self._marked), "queue")
        path = clean(str(self._path))
        self.query_one("#proposal-hint", Lines).show(
            lambda *_: [
                ((" space", "key"), (" marks  ", "muted"), ("W", "key"), (f" writes {count} to", "muted")),
                ((f" {path}", "muted"), ("  esc", "key"), (" closes without writing", "muted")),
            ]
        )

    def action_mark(self) -> None:
        """Mark the table under the cursor, or unmark it."""
        name = self.query_one(Grid).cursor
        if name is None:
            return
        if self._found[name].missing:
            words = ProposalText.ENTER_MISSING.render(columns=clean(self._found[name].missing))
            self.app.notify(words, timeout=10, markup=False)
            return
        self._marked ^= {name}
        self._show_rows()

    def action_write(self) -> None:
        """Close the dialog and write the marked tables."""
        if not self._marked:
            self.app.notify(ProposalText.NONE_MARKED, timeout=5, markup=False)
            return
        self._close_with(tuple(each for name, each in self._found.items() if name in self._marked))

    def action_close(self) -> None:
        self._close_with(())

    def _close_with(self, chosen: tuple[Candidate, ...]) -> None:
        self.finish(chosen)


def _row(name: str, candidate: Candidate, marked: bool) -> GridRow:
    tone = "faint" if candidate.missing else "strong" if marked else "text"
    why = candidate.summary
    if candidate.missing:
        why = ProposalText.MISSING.render(columns=candidate.missing, summary=candidate.summary)
    design = candidate.layout.design if candidate.written is None else "states"
    return GridRow(
        name,
        ((("◆ " if marked else "  ") + clean(name), tone), (clean(design), "muted"), (clean(why), "muted")),
        id=clean(name),
    )
