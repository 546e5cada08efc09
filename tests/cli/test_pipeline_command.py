"""``qmon pipeline`` if Spark is not installed, and the input that it refuses before it would start Spark."""

from __future__ import annotations

import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from tests.cli.calling import call


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
    ("arguments", "said"),
    [
        (("report", "--lake", "x", "--file", "/nowhere/at/all/y.html"), "the folder /nowhere/at/all does not exist"),
        (("report", "--lake", "x", "--from", "soon"), "is not a day or time"),
        pytest.param(
            ("run", "--lake", "x", "--recordings", ".", "--conf", "memory"),
            "--conf needs NAME=VALUE",
            marks=pytest.mark.spark,
        ),
        (("forget", "--lake", "x"), "name the rows to delete with --target, --before or --after"),
        (("forget", "--lake", "x", "--before", "soon"), "is not a day such as 2026-11-21"),
        (("forget", "--lake", "x", "--before", "2026-11-22", "--after", "2026-11-21"), "no day is after 2026-11-21"),
        (("forget", "--lake", "x", "--recordings", "/nowhere/at/all"), "the folder /nowhere/at/all does not exist"),
        (("forget", "--lake", "/nowhere/at/all", "--target", "shop", "--yes"), "has no lake; nothing was changed"),
        (("baselines", "--lake", "x", "--recordings", "y", "--zone", "Mars/Base"), "not 'Mars/Base'"),
        (("baselines", "--lake", "x", "--recordings", "y", "--zone", "shop="), "not ''"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(arguments: tuple[str, ...], said: str) -> None:
    done = call("pipeline", *arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())
