"""The report's page and its data as files, for queues with names that must not break anything."""

from __future__ import annotations

import base64
import csv
import hashlib
import re
from pathlib import Path

from qmon.pipeline.report.data_files import COLUMNS, export_rows, write_csv
from qmon.pipeline.report.html import report_page
from tests.pipeline.pages import HOSTILE, Page, hostile_facts


def test_the_page_is_well_formed_and_every_link_leads_somewhere() -> None:
    found = Page(report_page(hostile_facts()))
    assert found.unclosed == []
    assert len(found.names) == len(set(found.names))
    assert {link.removeprefix("#") for link in found.links} <= set(found.names)
    assert len(found.links) > 3 * len(HOSTILE)
    assert all(link.startswith("#") for link in found.links)


def test_names_are_text_and_the_one_script_is_ours() -> None:
    text = report_page(hostile_facts())
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'\"" in text
    assert "alert(1)" not in script
    for reach in ("http:", "https:", "url(", "src=", "<link", "@import", "innerHTML", "eval("):
        assert reach not in text
    queues = [row[0] for row in Page(text).tables["Service levels"][1:]]
    assert set(HOSTILE) <= set(queues)


def test_files_hold_what_the_report_says(tmp_path: Path) -> None:
    facts = hostile_facts()
    wanted = export_rows(facts)
    assert write_csv(facts, tmp_path / "new") == [f"{name}.csv" for name in COLUMNS]
    for name, rows in wanted.items():
        assert rows, name
        with (tmp_path / "new" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            lines = list(csv.DictReader(file, strict=True))
        assert [line["target"] for line in lines] == [row["target"] for row in rows]
        assert tuple(lines[0]) == COLUMNS[name] and all(set(row) == set(COLUMNS[name]) for row in rows)
    by_queue = {row["queue"]: row for row in wanted["queues"]}
    assert by_queue["orders"]["push_per_s"] == 4 * 1234567.0 / 21600
    assert by_queue["orders"]["incident_s"] == 300.0
