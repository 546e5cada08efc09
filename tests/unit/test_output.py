"""JSON and CSV of one object have the same content, and the schemas match the types."""

from __future__ import annotations

import csv
import io
import json
import re
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict, Union, get_args, get_origin, get_type_hints

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

import qmon.recording
from qmon.cli.app import app
from qmon.cli.output import Format, print_report
from qmon.cli.reports import pipeline_reports, target_reports
from qmon.cli.reports.bench_reports import BenchLoad
from qmon.model import report_shapes
from qmon.model.operation_records import Operation
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.report_shapes import QueueReport
from qmon.model.status_report import queue_object
from qmon.recording.format.records import KINDS
from tests import schemas
from tests.tui.scripted import queue


@dataclass(frozen=True, slots=True)
class Inner:
    """Nested."""

    low: int
    high: float | None


class Row(TypedDict):
    """A row of every kind of field."""

    name: str
    count: int | None
    sure: bool
    inner: Inner | None
    words: list[str]
    by_name: NotRequired[dict[str, float]]


class Rows(TypedDict):
    """A list of them."""

    schema: int
    rows: list[Row]


def printed(capsys: pytest.CaptureFixture[str], form: Format, found: Any, kind: type, rows: str = "") -> str:
    print_report(form, found, kind, rows)
    return capsys.readouterr().out


def as_rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text), strict=True))


def made(**fields: object) -> dict[str, Any]:
    row = {"name": "q", "count": 1, "sure": True, "inner": Inner(1, 2.5), "words": ["a"], "by_name": {"x": 0.5}}
    return {"schema": 1, "rows": [row | fields]}


def test_csv_has_a_column_for_each_field_and_json_where_it_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "csv", made(), Rows, "rows")
    assert text.splitlines() == [
        "name,count,sure,inner_low,inner_high,words,by_name",
        'q,1,true,1,2.5,"[""a""]","{""x"": 0.5}"',
    ]
    assert json.loads(printed(capsys, "json", made(), Rows, "rows"))["rows"][0]["inner"] == {"low": 1, "high": 2.5}


def test_what_is_not_known_is_empty_and_never_zero(capsys: pytest.CaptureFixture[str]) -> None:
    unknown = made(count=None, inner=None)
    del unknown["rows"][0]["by_name"]
    (row,) = as_rows(printed(capsys, "csv", unknown, Rows, "rows"))
    assert (row["count"], row["inner_low"], row["inner_high"], row["by_name"]) == ("", "", "", "")
    (row,) = as_rows(printed(capsys, "csv", made(count=0, inner=Inner(0, 0.0)), Rows, "rows"))
    assert (row["count"], row["inner_low"], row["inner_high"]) == ("0", "0", "0.0")


def test_without_rows_there_is_the_header_and_an_object_is_one_row(capsys: pytest.CaptureFixture[str]) -> None:
    header = printed(capsys, "csv", {"schema": 1, "rows": []}, Rows, "rows")
    assert header == "name,count,sure,inner_low,inner_high,words,by_name\n"
    assert printed(capsys, "csv", {"low": 1, "high": None}, Inner) == "low,high\n1,\n"


# Ends of column names that are not counts.
UNIT = re.compile(r"(^|_)(s|ms|seconds|epoch_s|bytes|share|days|per_(s|pop|cycle))$")
# Columns without a unit, or with a unit that their row names.
COUNTS = {"dead_rows", "ready_mean", "ready_p95", "ready_max", "times_naive", "value", "before", "after"}
# Rows of each command whose CSV has numbers.
FIGURES = [
    *(report_shapes.QueueReport, report_shapes.ProblemReport, target_reports.KnownQueue, target_reports.ProbeCheck),
    *(target_reports.TrashRow, target_reports.ActionReport, Operation),
    *(BenchLoad, pipeline_reports.IngestReport, pipeline_reports.QueuePeriod),
]


@pytest.mark.parametrize("kind", FIGURES)
def test_each_column_of_csv_says_its_unit(kind: type, capsys: pytest.CaptureFixture[str]) -> None:
    row = filled(kind)
    text = printed(capsys, "csv", row, kind)
    (line,) = as_rows(text)
    fractions = {name for name, value in line.items() if value == "0.5"}
    assert {name for name in fractions if not UNIT.search(name)} <= COUNTS
    assert [name for name in line if name.endswith(("_rate", "_at", "_until"))] == []


def filled(kind: Any) -> dict[str, Any]:
    """Return a record with 0.5 for every possible fraction, nested ones too."""
    out: dict[str, Any] = {}
    for name, hint in get_type_hints(kind).items():
        parts = set(leaves(hint))
        nested = next((each for each in parts if hasattr(each, "__annotations__")), None)
        out[name] = filled(nested) if nested else 0.5 if float in parts else None
    return out


def leaves(hint: Any) -> Iterator[Any]:
    """Return the possible types of a value."""
    if get_origin(hint) in (types.UnionType, Union, NotRequired):
        for each in get_args(hint):
            yield from leaves(each)
    else:
        yield hint


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", '=HYPERLINK("http://x","y")'])
def test_no_text_is_a_formula(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (row,) = as_rows(printed(capsys, "csv", made(name=name, count=-1), Rows, "rows"))
    assert (row["name"], row["count"]) == (f"'{name}", "-1")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_name_is_one_field_of_one_line_and_the_same_in_both(name: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", out := io.StringIO())
        print_report("csv", made(name=name), Rows, "rows")
        text = out.getvalue()
        patch.setattr("sys.stdout", out := io.StringIO())
        print_report("json", made(name=name), Rows, "rows")
    assert len(text.splitlines()) == 2
    assert text.replace("\n", "").isprintable()
    (row,) = as_rows(text)
    (told,) = json.loads(out.getvalue())["rows"]
    assert told["name"] == name
    shown = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in name)
    assert row["name"].removeprefix("'") == shown.removeprefix("'")


def commands(group: Any, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Return every command with its name, such as ``("trash", "list")``."""
    for name in group.list_commands(typer.Context(group)):
        command = group.get_command(typer.Context(group), name)
        if hasattr(command, "list_commands"):
            yield from commands(command, *path, name)
        yield (*path, name), command


def test_the_option_is_the_same_wherever_figures_are_printed() -> None:
    options = {
        name: {flag: each for each in command.params for flag in getattr(each, "opts", ())}
        for name, command in commands(get_command(app))
    }
    with_output = {name for name, flags in options.items() if "--output" in flags}
    acting = {"requeue", "purge", "pause", "resume", "repair", "undo", "end-session", "setup"}
    printing = {
        "status",
        "check",
        "operations",
        "queues",
        "targets",
        "doctor",
    }
    nested = {
        ("design", "bench"),
        ("trash", "list"),
        ("trash", "empty"),
        ("pipeline", "run"),
        ("pipeline", "report"),
    }
    assert with_output == {(name,) for name in acting | printing | {"demo", "replay"}} | nested
    for name, flags in options.items():
        assert "--json" not in flags, name
        assert ("-o" in flags) is ("--output" in flags), name
        if "--output" in flags:
            assert flags["-o"] is flags["--output"]
            assert flags["-o"].type.choices == get_args(Format), name
            assert flags["-o"].default == (None if name in {("replay",), ("demo",)} else "table"), name


def test_the_schemas_are_those_of_the_types() -> None:
    there = {path.name: path.read_text(encoding="utf-8") for path in schemas.FOLDER.iterdir()}
    assert there == schemas.files(), "run make share to write them"


def test_the_manual_names_each_schema() -> None:
    text = (schemas.FOLDER.parent / "api.md").read_text(encoding="utf-8")
    assert [name for name in schemas.files() if f"schemas/{name}" not in text] == []


def test_a_queue_has_its_figures_in_the_order_of_the_report() -> None:
    figures = [figure.name for figure in QUEUE_FIGURES]
    assert [name for name in QueueReport.__annotations__ if name in figures] == figures
    assert set(queue_object(queue("q"))) <= set(QueueReport.__annotations__)


def test_the_lines_in_the_description_of_recordings_are_valid() -> None:
    import importlib.resources

    text = importlib.resources.files(qmon.recording).joinpath("FORMAT.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith('{"v":')]
    assert {schemas.valid(line, "recording")["k"] for line in lines} == set(KINDS)


def test_a_field_that_no_schema_has_is_found() -> None:
    from jsonschema import ValidationError

    right = {"schema": 1, "bundle": "a.zip", "files": [], "problem": None}
    assert schemas.valid(json.dumps(right), "bundle") == right
    for wrong in (right | {"more": 1}, right | {"files": None}, {k: v for k, v in right.items() if k != "problem"}):
        with pytest.raises(ValidationError):
            schemas.valid(json.dumps(wrong), "bundle")
