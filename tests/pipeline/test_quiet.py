"""Commands of the pipeline as separate programs: standard error is for errors, because cron sends it by mail."""

from __future__ import annotations

from pathlib import Path

import pytest

from qmon.cli.commands.pipeline.pipeline import PipelineResultText
from qmon.pipeline.spark_session import SparkText
from tests.cli.calling import run
from tests.pipeline.comparing import START
from tests.pipeline.recordings import Watched
from tests.wordings import has

pytestmark = pytest.mark.timeout(1200)


def test_a_run_that_succeeds_writes_nothing_to_standard_error(tmp_path: Path) -> None:
    """Tidying needs no Java at all."""
    Watched(tmp_path / "recordings", "shop", "aaaaaaaaaaaa").record(START, 20)
    lake = ("--lake", str(tmp_path / "lake"))
    ran = run("pipeline", "run", "--recordings", str(tmp_path / "recordings"), *lake)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert has(ran.stdout, PipelineResultText.COUNTS, samples="40 samples", segments="1 segment")
    tidied = run("pipeline", "tidy", *lake, JAVA_HOME=str(tmp_path), PATH=str(tmp_path))
    assert (tidied.returncode, tidied.stderr) == (0, "")
    assert "samples" in tidied.stdout


def test_why_java_does_not_start_is_printed(tmp_path: Path) -> None:
    (tmp_path / "recordings").mkdir()
    place = ("--recordings", str(tmp_path / "recordings"), "--lake", str(tmp_path / "lake"))
    ran = run("pipeline", "run", *place, "--conf", "spark.driver.extraJavaOptions=-Xss1")
    assert ran.returncode == 2
    assert "Could not create the Java Virtual Machine" in ran.stderr
    assert has(ran.stderr, SparkText.CANNOT_START)
