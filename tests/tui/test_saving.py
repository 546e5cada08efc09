"""``ctrl+s`` writes the table as CSV or JSON, or the screen as SVG, into a new file."""

from __future__ import annotations

import csv
import html
import json
from pathlib import Path

import pytest

from qmon.files import FileText
from qmon.tui.sanitize import clean
from qmon.tui.shared.saving import SavingText
from tests.tui.driving import Driver, dashboard
from tests.tui.opening import found, shown
from tests.tui.scripted import NASTY, view
from tests.tui.scripted_acting import Script, ScriptedOffice
from tests.wordings import has


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the files: the one that qmon was started in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def files(folder: Path) -> set[Path]:
    """Return the content of a folder."""
    return set(folder.iterdir())


async def written(d: Driver, folder: Path, *keys: str) -> Path:
    """Return the only file that these keys wrote."""
    before = files(folder)
    await d.press("ctrl+s", *keys, "enter")
    (path,) = files(folder) - before
    assert has(d.said(), SavingText.WRITTEN, path=path)
    return path


async def test_the_overview_as_csv_json_and_svg(folder: Path) -> None:
    async with dashboard((80, 24)) as d:
        await d.give()
        path = await written(d, folder)
        assert path.name.startswith("qmon-orders-prod-overview-2")
        assert path.suffix == ".csv"
        rows = {row["queue"]: row for row in csv.DictReader(path.read_text("utf-8").splitlines())}
        assert len(rows) == len(view().queues), "also rows that do not fit on the screen"
        assert (rows["invoices"]["ready"], rows["invoices"]["stuck"]) == ("60031", "7")
        assert rows["invoices"]["proof"], "also columns that do not fit"
        path = await written(d, folder, "tab")
        found = json.loads(path.read_text("utf-8"))
        assert (path.suffix, found["target"], found["screen"]) == (".json", "orders-prod", "overview")
        invoices = next(row for row in found["rows"] if row["queue"] == "invoices")
        assert (invoices["ready"], invoices["stuck"]) == (60_031, 7)
        path = await written(d, folder, "tab", "tab")
        assert path.suffix == ".svg"
        texts = html.unescape(path.read_text("utf-8")).replace("\xa0", " ")
        assert "invoices" in texts
        assert "write to" not in texts, "the dialog is not on the picture"


async def test_the_filtered_table_is_written_as_it_is_sorted(folder: Path) -> None:
    async with dashboard() as d:
        await d.give()
        await d.press("slash", *"!invoices", "enter", "s")
        path = await written(d, folder, "tab")
        assert [row["queue"] for row in json.loads(path.read_text("utf-8"))["rows"]] == [
            clean(key) for key in d.grid.row_keys
        ]


async def test_no_file_is_written_over_and_a_wrong_ending_or_folder_is_said(folder: Path) -> None:
    (folder / "a.csv").write_text("mine")
    async with dashboard() as d:
        await d.give()
        for name, words in (
            ("a.csv", FileText.EXISTS.render(path=folder / "a.csv")),
            ("a.png", str(SavingText.UNKNOWN_ENDING)),
            (
                "nowhere/a.csv",
                FileText.UNWRITABLE.render(path=folder / "nowhere" / "a.csv", reason="No such file or directory"),
            ),
        ):
            await d.press("ctrl+s", "ctrl+u", *[{"/": "slash", ".": "full_stop"}.get(c, c) for c in name], "enter")
            assert words in d.said()
        await d.press("ctrl+s", "escape")
        assert files(folder) == {folder / "a.csv"}
        assert (folder / "a.csv").read_text() == "mine"


async def test_a_message_is_written_with_all_its_columns_and_other_screens_without_a_table_as_svg(folder: Path) -> None:
    async with dashboard(runner=ScriptedOffice(Script(message=found()))) as d:
        await shown(d)
        path = await written(d, folder, "tab")
        rows = {row["column"]: (row["type"], row["value"]) for row in json.loads(path.read_text("utf-8"))["rows"]}
        assert rows["id"] == ("bigint", "9120311")
        assert rows["trace"] == ("bytea", "00 01 fe ff")
        assert rows["nothing"] == ("inet", None)
        assert all(c.isprintable() for c in rows["note"][1]), NASTY
        await d.press("5")
        assert (await written(d, folder)).suffix == ".svg"
