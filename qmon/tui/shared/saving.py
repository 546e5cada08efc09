"""Saves the table of a screen as CSV or JSON, or the whole screen as SVG."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical

from qmon import files
from qmon.errors import BadInput
from qmon.model.formatting import UNKNOWN, spreadsheet_safe
from qmon.texts import Text
from qmon.tui.keys import SAVE_DIALOG
from qmon.tui.sanitize import clean
from qmon.tui.spans import wrap_text
from qmon.tui.widgets.dialog import Dialog
from qmon.tui.widgets.filter_bar import FilterBar
from qmon.tui.widgets.grid_table import GridColumn, Table
from qmon.tui.widgets.lines import Lines

if TYPE_CHECKING:
    from qmon.tui.app import QmonApp


class SavingText(Text):
    """The hints of the dialog, and the result."""

    TABLE_OR_SCREEN = "the table as .csv or .json, the screen as .svg; tab chooses"
    SCREEN = "the screen as .svg; tab chooses"
    ENTER_WRITES = "enter writes the file in {folder}"
    UNKNOWN_ENDING = "nothing was written: the name must end in .csv, .json or .svg"
    NO_TABLE = "nothing was written: this screen has no table; use .svg to save the screen"
    WRITTEN = "written: {path}"


_TABLE: Final = (".csv", ".json")
_SCREEN: Final = ".svg"
_NUMBER: Final = re.compile(r"-?(0|[1-9]\d*|[1-9]\d{0,2}(,\d{3})+)(\.\d+)?")


def table_records(table: Table) -> list[dict[str, str | float | None]]:
    """Return one record per row, keyed by column. Unknown values are ``None``. Headings of groups are left out."""
    return [
        {column.key: _cell_value(text, column) for column, (text, _) in zip(table.columns, row.cells, strict=True)}
        for row in table.rows
        if not row.heading
    ]


def _cell_value(text: str, column: GridColumn) -> str | float | None:
    """Return the number in a cell of a number column. An estimate is returned as text, with its symbol."""
    text = text.strip()
    if column.right and _NUMBER.fullmatch(text):
        plain = text.replace(",", "")
        return float(plain) if "." in plain else int(plain)
    return None if text in ("", UNKNOWN) else text


def to_csv(table: Table) -> str:
    """Return the table as CSV: a header and one line per row."""
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(column.key for column in table.columns)
    for record in table_records(table):
        lines.writerow(spreadsheet_safe(each) if isinstance(each, str) else each for each in record.values())
    return out.getvalue()


def table_to_json(table: Table, target: str, screen: str, at: str) -> str:
    """Return one JSON object with the target, the screen, the time, and the ``rows`` of the table."""
    found = {"target": target, "screen": screen, "at": at, "rows": table_records(table)}
    return json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def proposed_file_name(target: str, screen: str, at: str) -> str:
    """Return the proposed file name without its extension: ``qmon-shop-overview-20261124-031500``."""
    plain = re.sub(r"[^\w.-]+", "-", target).strip("-.")
    return "-".join(part for part in ("qmon", plain, screen, at) if part)


class SaveDialog(Dialog[Path], inherit_bindings=False):
    """Ask for a file name. The extension of the name selects the format. The result is the name, or ``None``.

    Args:
        name: the proposed name without extension.
        endings: the extensions available here.
        about: what is written, if it is neither the table nor the screen.
    """

    BINDINGS = SAVE_DIALOG
    AUTO_FOCUS = "FilterBar"

    def __init__(self, name: str, endings: Sequence[str], about: str = "") -> None:
        super().__init__()
        self._about = about
        self._first = name + endings[0]
        self._endings = tuple(endings)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield FilterBar(prompt="write to", hint="")
            yield Lines(id="save-hint", most=4)

    def on_mount(self) -> None:
        self.query_one(FilterBar).open(self._first)
        what = self._about or (SavingText.TABLE_OR_SCREEN if _TABLE[0] in self._endings else SavingText.SCREEN)
        try:
            where = SavingText.ENTER_WRITES.render(folder=files.working_folder())
        except BadInput as problem:
            where = str(problem)
        self.query_one("#save-hint", Lines).show(
            lambda cells, _: [
                ((f" {line}", "muted"),)
                for text in (what, where)
                for line in wrap_text(clean(text), cells - 2, cells - 2, 2)
            ]
        )

    def action_next_extension(self) -> None:
        """Switch to the next extension."""
        bar = self.query_one(FilterBar)
        stem, now = bar.text, Path(bar.text).suffix
        if now in self._endings:
            stem = bar.text.removesuffix(now)
        following = self._endings[(self._endings.index(now) + 1) % len(self._endings)] if now in self._endings else ""
        bar.open(stem + (following or self._endings[0]))

    @on(FilterBar.Done)
    def _finish_with_path(self, message: FilterBar.Done) -> None:
        name = self.query_one(FilterBar).text.strip()
        self.finish(Path(name) if message.kept and name else None)


def ask_and_save(app: QmonApp, screen: str, table: Table | None, at: float | None) -> None:
    """Ask for a file name, write the file, and notify the user of the path or the problem.

    ``at``: the time of the figures, in seconds since the epoch; ``None`` before the first figures.
    """
    moment = datetime.now(UTC) if at is None else datetime.fromtimestamp(at, UTC)
    target = app.shown.target

    def write(path: Path | None) -> None:
        if path is None:
            return
        ending = path.suffix.lower()
        try:
            if ending == _SCREEN:
                text = app.export_screenshot(title=f"{target}, {screen}")
            elif ending not in _TABLE:
                raise BadInput(SavingText.UNKNOWN_ENDING)
            elif table is None:
                raise BadInput(SavingText.NO_TABLE)
            elif ending == ".csv":
                text = to_csv(table)
            else:
                text = table_to_json(table, target, screen, moment.isoformat(timespec="seconds"))
            written = files.write_user_file(path, text)
        except BadInput as problem:
            app.notify(clean(str(problem)), severity="warning", timeout=15, markup=False)
        else:
            app.notify(SavingText.WRITTEN.render(path=clean(str(written))), timeout=10, markup=False)

    endings = (*(_TABLE if table is not None else ()), _SCREEN)
    app.push_screen(SaveDialog(proposed_file_name(target, screen, moment.strftime("%Y%m%dT%H%M%SZ")), endings), write)
