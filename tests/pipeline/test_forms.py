"""The output of ``qmon pipeline run`` and ``report`` in each format, for an ingested recording."""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from pyspark.sql import SparkSession

from qmon.cli.commands.pipeline import pipeline as command
from qmon.cli.commands.pipeline.pipeline_options import lake_path
from qmon.cli.commands.pipeline.report_object import report_object
from qmon.cli.output import column_header, print_report
from qmon.cli.reports.pipeline_reports import PeriodReport
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.pipeline_texts import ReportText
from qmon.pipeline.report.data_files import COLUMNS
from tests.cli.calling import call
from tests.pipeline.pages import hostile_facts
from tests.recording.writing import recorded
from tests.schemas import valid
from tests.wordings import has


def test_each_form_of_what_was_taken_in(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextlib.contextmanager
    def lake_here(context: typer.Context, *, little_data: bool = True) -> Iterator[Lake]:
        yield Lake(spark, lake_path(context))

    monkeypatch.setattr(command, "open_lake", lake_here)
    recorded(tmp_path / "kept", 30)
    place = ("--lake", str(tmp_path / "lake"))
    took = call("pipeline", "run", "--recordings", str(tmp_path / "kept"), *place, "-o", "json")
    assert took.exit_code == 0, took.output
    assert valid(took.stdout, "pipeline-run")["samples"] == 30
    again = call("pipeline", "run", "--recordings", str(tmp_path / "kept"), *place, "-o", "csv")
    (line,) = csv.DictReader(again.stdout.splitlines(), strict=True)
    assert (line["samples"], line["segments"], line["bad"]) == ("30", "1", "0")
    day = (*place, "--from", "2026-11-21", "--to", "2026-11-22")
    config = tmp_path / "qmon.toml"
    config.write_text('[[slo]]\nfigure = "depth"\nbelow = 1\nobjective = 0.9\n')
    json, csv_, text = (
        call("pipeline", "report", *day, "--config", str(config), "--output", form) for form in ("json", "csv", "table")
    )
    told = valid(json.stdout, "pipeline-report")
    (queue,) = told["queues"]
    assert [(each["queue"], each["slo"]) for each in told["levels"]] == [(queue["queue"], "depth (1)")]
    assert text.stdout.splitlines()[0] == told["headline"]
    for place_, thing in enumerate(told["look_at"], 1):
        assert f"{place_}. {thing['text']}" in text.stdout.splitlines()
    files = call("pipeline", "report", *day, "--data", str(tmp_path / "data"))
    assert files.exit_code == 0, files.output
    assert {path.name for path in (tmp_path / "data").iterdir()} == {f"{name}.csv" for name in COLUMNS}
    elsewhere = call("pipeline", "report", *place, "--to", "2026-11-20")
    assert elsewhere.exit_code == 2
    assert has(" ".join(elsewhere.stderr.split()), ReportText.NO_DATA, newest="2026-11-21")
    (line,) = csv.DictReader(csv_.stdout.splitlines(), strict=True)
    assert line == {column_header(name): "" if value is None else str(value) for name, value in queue.items()}


def test_any_name_is_in_each_form(capsys: pytest.CaptureFixture[str]) -> None:
    facts = hostile_facts()
    print_report("json", report_object(facts), PeriodReport, "queues")
    found = valid(capsys.readouterr().out, "pipeline-report")
    assert [(q["target"], q["queue"]) for q in found["queues"]] == [(q.target, q.queue) for q in facts.queues]
    assert len(found["incidents"]) == len(facts.incidents) and len(found["waits"]) == len(facts.waits)
    print_report("csv", report_object(facts), PeriodReport, "queues")
    assert len(list(csv.DictReader(capsys.readouterr().out.splitlines(), strict=True))) == len(facts.queues)
