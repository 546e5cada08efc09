"""The benchmarks name functions of qmon as texts, and all their modules can be imported."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

MODULES = sorted(path.stem for path in (Path(__file__).parents[1] / "benchmarks").glob("*.py") if path.stem[0] != "_")


def test_the_functions_that_are_timed_exist() -> None:
    code = "from tests.benchmarks import split; split.measure()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", MODULES)
def test_each_part_can_be_imported(name: str) -> None:
    assert importlib.import_module(f"tests.benchmarks.{name}").__doc__
