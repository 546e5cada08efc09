"""Each command in each of its formats, on a real queue: the table, JSON and CSV have the same content."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from qmon.cli.output import column_header
from tests.cli.calling import call
from tests.recording.writing import recorded
from tests.schemas import valid

# Arguments, the schema, the object's list that CSV contains, and a column whose text is in the table too.
COMMANDS = [
    (("status", "{shop}", "--over", "500ms"), "status", "queues", "name"),
    (("queues", "{shop}"), "queues", "queues", "name"),
    (("check", "{shop}", "--crit", "ready>0"), "check", "problems", "queue"),
    (("doctor", "{shop}"), "doctor", "checks", "probe"),
    (("operations", "{shop}"), "operations", "operations", "id"),
    (("trash", "list", "{shop}"), "trash", "trash", "operation_id"),
    (("purge", "{shop}", "batch_split", "--state", "ready", "--dry-run"), "action", "", "plan_title"),
]


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("recordings")
    recorded(place, 30)
    return place


@pytest.fixture
def shop(database: str, own_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """A fifo and a batch_split with messages, and a finished purge."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert call("design", "install", database, "fifo", "batch_split", "--schema", "public").exit_code == 0
    for queue in ("fifo", "batch_split"):
        assert call("design", "load", database, queue, "--for", "500ms", "--consumers", "0").exit_code == 0
    done = call("purge", database, "batch_split", "--state", "ready", "--max", "1", "--yes", "--reason", "a test")
    assert done.exit_code == 0, done.output
    return database


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row with the fields of its nested objects next to its own."""
    nested = {f"{name}_{inner}": v for name, of in row.items() if isinstance(of, dict) for inner, v in of.items()}
    return row | nested


@pytest.mark.long
def test_each_form_tells_of_the_same(shop: str, recordings: Path) -> None:
    for arguments, schema, rows, key in COMMANDS:
        given = [each.format(shop=shop, recordings=recordings) for each in arguments]
        table, json, csv_ = (call(*given, "--output", form) for form in ("table", "json", "csv"))
        codes = {table.exit_code, json.exit_code, csv_.exit_code}
        assert codes == {2 if schema == "check" else 0}, (arguments, csv_.output)
        found = valid(json.stdout, schema)
        told = found[rows] if rows else [found]
        keys = [flat(row)[key] for row in told]
        lines = list(csv.DictReader(csv_.stdout.splitlines(), strict=True))
        assert told, arguments
        assert [line[key] for line in lines] == [each or "" for each in keys], arguments
        assert [each for each in keys if each and each not in table.stdout] == [], arguments
        for row, line in zip(told, lines, strict=True):
            plain = {column_header(name) for name, value in row.items() if isinstance(value, str | int | float)} - {
                "schema"
            }
            assert plain <= set(line), arguments
            assert [name for name, value in row.items() if value is None and line.get(column_header(name))] == [], (
                arguments
            )


def test_a_moment_of_a_recording_is_told_in_each_form(recordings: Path) -> None:
    table, json, csv_ = (call("replay", str(recordings), "-o", form) for form in ("table", "json", "csv"))
    (queue,) = valid(json.stdout, "replay")["status"]["queues"]
    (line,) = csv.DictReader(csv_.stdout.splitlines(), strict=True)
    assert (line["name"], line["verdict_code"]) == (queue["name"], queue["verdict"]["code"])
    assert table.stdout.splitlines()[1].split()[:2] == [queue["name"], queue["design"]]


def test_another_form_is_refused_with_those_there_are(database: str) -> None:
    done = call("status", database, "--output", "yaml")
    assert done.exit_code == 2
    assert "'table', 'json', 'csv'" in done.stderr
