"""``qmon pipeline`` if Spark is not installed, and the input that it refuses before it would start Spark."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from qmon.cli.commands.pipeline.forget_command import ForgetOptionText
from qmon.cli.commands.pipeline.pipeline import PipelineText
from qmon.cli.commands.pipeline.pipeline_options import PipelineOptionText
from qmon.pipeline.pipeline_texts import LakeText
from qmon.texts import Text
from tests.cli.calling import call
from tests.wordings import has


def test_without_the_extra_it_says_which_command_installs_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = importlib.util.find_spec

    def without_spark(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "pyspark" else real(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without_spark)
    for arguments in (
        ("run", "--recordings", str(tmp_path), "--lake", str(tmp_path / "lake")),
        ("report", "--lake", str(tmp_path / "lake")),
        ("baselines", "--lake", str(tmp_path / "lake"), "--recordings", str(tmp_path)),
        ("messages", "shop", "orders", "--lake", str(tmp_path / "lake")),
    ):
        done = call("pipeline", *arguments)
        assert done.exit_code == 2
        (line,) = done.stderr.splitlines()
        assert 'pip install "deltalake' in line and '"pyspark>=' in line
    assert {each.name for each in tmp_path.iterdir()} <= {"state"}, "nothing but its log"


@pytest.mark.parametrize(
    ("arguments", "text", "fields"),
    [
        (
            ("report", "--lake", "x", "--file", "/nowhere/at/all/y.html"),
            PipelineText.NO_FOLDER,
            {"path": "/nowhere/at/all"},
        ),
        (("report", "--lake", "x", "--from", "soon"), PipelineText.NOT_A_TIME, {"text": "soon"}),
        pytest.param(
            ("run", "--lake", "x", "--recordings", ".", "--conf", "memory"),
            PipelineOptionText.NOT_A_SETTING,
            {"text": "memory"},
            marks=pytest.mark.spark,
        ),
        (("forget", "--lake", "x"), ForgetOptionText.NO_FILTER, {}),
        (("forget", "--lake", "x", "--before", "soon"), ForgetOptionText.NOT_A_DAY, {"text": "soon"}),
        (
            ("forget", "--lake", "x", "--before", "2026-11-22", "--after", "2026-11-21"),
            ForgetOptionText.NO_DAY,
            {"after": "2026-11-21", "before": "2026-11-22"},
        ),
        (
            ("forget", "--lake", "x", "--recordings", "/nowhere/at/all"),
            ForgetOptionText.NO_FOLDER,
            {"path": "/nowhere/at/all"},
        ),
        (
            ("forget", "--lake", "/nowhere/at/all", "--target", "shop", "--yes"),
            LakeText.NO_LAKE_TO_CHANGE,
            {"lake": "/nowhere/at/all"},
        ),
        (
            ("baselines", "--lake", "x", "--recordings", "y", "--zone", "Mars/Base"),
            PipelineText.NOT_A_ZONE,
            {"name": "Mars/Base"},
        ),
        (("baselines", "--lake", "x", "--recordings", "y", "--zone", "shop="), PipelineText.NOT_A_ZONE, {"name": ""}),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(
    arguments: tuple[str, ...], text: Text, fields: dict[str, str]
) -> None:
    done = call("pipeline", *arguments)
    assert done.exit_code == 2
    assert has(" ".join(done.stderr.split()), text, **fields)
