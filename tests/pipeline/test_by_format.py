"""The lake's minutes and hours equal those of a program that knows the documentation only."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from tests.pipeline import by_format
from tests.pipeline.comparing import START, run
from tests.pipeline.recordings import Watched

pytestmark = pytest.mark.timeout(1200)
TAILS = {f"{name}_{label}" for name in ("ready", "oldest") for label in ("p50", "p95", "p99")}


def test_the_program_does_not_import_qmon() -> None:
    tree = ast.parse(Path(by_format.__file__).read_text(encoding="utf-8"))
    names = {each.name for node in ast.walk(tree) if isinstance(node, ast.Import) for each in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if name.split(".")[0] in ("qmon", "tests")]


def test_every_value_of_minutes_and_hours_agrees(spark: SparkSession, tmp_path: Path) -> None:
    """Two recorders, slow and fast polls, a restart, a copied segment, strange names, and a late segment."""
    root = tmp_path / "recordings"
    (copied, *_) = Watched(root, "shop", "aaaaaaaaaaaa", "Europe/Berlin", "prod", rows_files=True).record(
        START, 500, seed=1
    )
    Watched(root, "a b/é=1", "cccccccccccc", queues=("[a]]b].[c d]", "😀"), step_s=45.0).record(START, 60, seed=2)
    run(spark, root, tmp_path / "lake")
    Watched(root, "shop", "bbbbbbbbbbbb", "Europe/Berlin", "staging", step_s=7.0, rows_files=True).record(
        START + 600, 200, seed=3
    )
    Watched(root, "shop", "dddddddddddd", "Europe/Berlin").record(START - 3000, 60, seed=4)
    shutil.copy(copied, copied.with_name("copy.jsonl.zst"))
    run(spark, root, tmp_path / "lake")
    compared = 0
    for table, seconds in (("minutes", 60), ("hours", 3600)):
        wanted = by_format.minutes_and_hours(root)[seconds]
        stored = DeltaTable(str(tmp_path / "lake" / table)).to_pyarrow_dataset().to_table().to_pylist()
        found = {(row["target"], row["queue"], row["start_at"]): row for row in stored}
        assert len(found) == len(stored)
        assert found.keys() == wanted.keys()
        for key, row in wanted.items():
            differing = {
                name: (found[key][name], value) for name, value in row.items() if not same(name, found[key], value)
            }
            assert differing == {}, (table, key)
            compared += len(row)
    assert compared > 1000


def same(name: str, found: dict[str, Any], wanted: Any) -> bool:
    """Return whether a value agrees: percentiles to 0.8 %, other numbers except for rounding."""
    if isinstance(wanted, float) and found[name] is not None:
        return bool(found[name] == pytest.approx(wanted, rel=0.008 if name in TAILS else 1e-6, abs=1e-6))
    return bool(found[name] == wanted)
