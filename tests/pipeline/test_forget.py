"""``qmon pipeline forget``: targets and days disappear from all tables, and nothing else changes."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from qmon.errors import QmonError
from qmon.pipeline.ingest.segment_intake import SegmentIntake
from qmon.pipeline.lake.deleted_days import DeletedDays, deleted_days_entry, read_deleted_days
from qmon.pipeline.lake.delta import TableLog, frame_from_rows
from qmon.pipeline.lake.forget import ForgetRequest, count_rows, forget_rows
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.maintenance import LakeRetention, tidy_lake
from qmon.pipeline.lake.schema import BASELINES, MESSAGES, TABLES
from qmon.pipeline.rollup.rollups import DAY_S
from qmon.recording.figure_rows.row_schema import bucket_for
from qmon.recording.write.retention import read_lake_marks
from tests.cli.calling import call
from tests.pipeline import reference
from tests.pipeline.comparing import START, compared, rolled_up, run
from tests.pipeline.recordings import Watched, rows

pytestmark = pytest.mark.timeout(1200)
FIRST, SECOND = (datetime.date.fromisoformat(reference.date(START + n * DAY_S)) for n in (0, 1))
# In the same bucket as "shop", so that their rows share files.
NEIGHBOUR = next(f"shop'{n}" for n in range(100) if bucket_for(f"shop'{n}") == bucket_for("shop"))


class Cut(QmonError):
    """The command ends here."""


def forget(lake: Path, *arguments: str) -> Any:
    return call("pipeline", "forget", "--lake", str(lake), *arguments)


def versions(lake: Path) -> dict[str, int]:
    """Return the newest version of each table."""
    paths = {name: str(lake / name) for name in TABLES}
    return {name: DeltaTable(path).version() for name, path in paths.items() if DeltaTable.is_deltatable(path)}


def stored(lake: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, read without Spark."""
    found: list[dict[str, Any]] = DeltaTable(str(lake / table)).to_pyarrow_dataset().to_table().to_pylist()
    return found


def filled(spark: SparkSession, root: Path, place: Path) -> tuple[Lake, list[Watched]]:
    """Create a lake of two targets over two days, with bad lines, messages and baselines of both."""
    watched = [Watched(root, "shop", "aaaaaaaaaaaa"), Watched(root, NEIGHBOUR, "bbbbbbbbbbbb")]
    for seed, each in enumerate(watched):
        path, *_ = each.record(START, 900, seed=seed, trouble=range(5, 700))
        path.with_name("empty.jsonl.zst").touch()
    lake = run(spark, root, place)
    for name, schema in (("messages", MESSAGES), ("baselines", BASELINES)):
        said = [
            {"target": each.target, "bucket": bucket_for(each.target), "queue": "orders", "date": day}
            for each in watched
            for day in (FIRST, SECOND)
        ]
        lake.table(name).replace_rows(frame_from_rows(spark, said, schema))
    return lake, watched


def test_a_target_disappears_from_all_tables(spark: SparkSession, tmp_path: Path) -> None:
    root, place = tmp_path / "recordings", tmp_path / "lake"
    lake, (shop, other) = filled(spark, root, place)
    before, segments = versions(place), stored(place, "segments")
    others = {name: [row for row in stored(place, name) if row["target"] != "shop"] for name in TABLES}
    dry = forget(place, "--target", "shop", "--dry-run")
    assert (dry.exit_code, versions(place)) == (0, before)
    refused = forget(place, "--target", "shop")
    assert (refused.exit_code, versions(place)) == (2, before)
    done = forget(place, "--target", "shop", "--yes")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith(dry.stdout)
    for name in set(TABLES) - {"segments"}:
        assert sorted(map(repr, stored(place, name))) == sorted(map(repr, others[name])), name
    assert stored(place, "segments") == segments
    compared(lake, list(rows(other.written)))

    after = versions(place)
    again = forget(place, "--target", "shop", "--yes")
    assert (again.exit_code, versions(place)) == (0, after)
    assert run(spark, root, place).view().batch == lake.view().batch == 2, "no segment is read again"
    shop.written.clear()
    Watched.record(shop, START + 7200, 30, seed=3)
    run(spark, root, place)
    compared(lake, [row for each in (shop, other) for row in rows(each.written)])


def test_days_before_stay_deleted(spark: SparkSession, tmp_path: Path) -> None:
    root, place = tmp_path / "recordings", tmp_path / "lake"
    lake, watched = filled(spark, root, place)
    assert forget(place, "--before", str(SECOND), "--yes").exit_code == 0
    assert {row["date"] for name in set(TABLES) - {"segments"} for row in stored(place, name)} == {SECOND}
    late = Watched(root, "shop", "cccccccccccc")
    (path, _) = late.record(START + 1140, 60, seed=4)  # from 23:59
    run(spark, root, place)
    unique = reference.unique(row for each in (*watched, late) for row in rows(each.written))
    rolled_up(lake, unique, since=str(SECOND))
    assert {row["date"] for name in ("samples", "minutes", "hours", "days", "runs") for row in stored(place, name)} == {
        SECOND
    }
    assert [Path(row["file"]).name for row in stored(place, "bad") if row["target"] == "shop"] == [path.name]
    assert read_deleted_days(lake.view().read_entries()) == (DeletedDays(SECOND),)


def test_days_after_may_come_again(spark: SparkSession, tmp_path: Path) -> None:
    """A clock in the future makes days that will come, so later segments of these days are read."""
    root, place = tmp_path / "recordings", tmp_path / "lake"
    lake, (shop, other) = filled(spark, root, place)
    assert forget(place, "--target", "shop", "--after", str(FIRST), "--yes").exit_code == 0
    left = {(row["target"], row["date"]) for name in set(TABLES) - {"segments"} for row in stored(place, name)}
    assert left == {("shop", FIRST), (NEIGHBOUR, FIRST), (NEIGHBOUR, SECOND)}
    again = Watched(root, "shop", "cccccccccccc")
    again.record(START + 7200, 60, seed=4)
    run(spark, root, place)
    kept = [row for row in rows(shop.written) if reference.date(row["sampled_at"]) == str(FIRST)]
    rolled_up(lake, reference.unique([*kept, *rows(again.written), *rows(other.written)]), since=str(SECOND))
    assert read_deleted_days(lake.view().read_entries()) == ()


def test_a_batch_in_flight_refuses_and_an_interrupted_deletion_is_finished(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, place = tmp_path / "recordings", tmp_path / "lake"
    lake, (_, other) = filled(spark, root, place)
    more = Watched(root, NEIGHBOUR, "cccccccccccc")
    (path,) = more.record(START + 7200, 20, seed=5)
    SegmentIntake(lake, str(root))._claim_batch(2, {path.relative_to(root).as_posix(): path.stat().st_size})
    before = versions(place)
    for arguments in (("--dry-run",), ("--yes",)):
        refused = forget(place, "--target", "shop", *arguments)
        assert (refused.exit_code, len(refused.stderr.splitlines()), versions(place)) == (2, 1, before)
    run(spark, root, place)

    commit, tidied = TableLog.commit_batch, list[str]()

    def committing(self: TableLog, *arguments: Any, **named: Any) -> bool:
        name = self.root.rsplit("/", 1)[1]
        if name == "polls" and name not in tidied:  # its files are rewritten before they are removed
            tidied.append(name)
            DeltaTable(self.uri).optimize.compact()
        if name == "hours":
            raise Cut("cut")
        return commit(self, *arguments, **named)

    with monkeypatch.context() as patch, pytest.raises(Cut):
        patch.setattr(TableLog, "commit_batch", committing)
        forget_rows(str(place), ForgetRequest(("shop",), SECOND))
    assert tidied == ["polls"]
    assert lake.view().batch == 2
    assert {row.target for row in lake.view().read("minutes").collect()} == {"shop", NEIGHBOUR}
    assert run(spark, root, place).view().batch == 3
    left = list(rows([*other.written, *more.written]))
    assert {row["target"] for row in stored(place, "hours") if row["date"] < SECOND} == {NEIGHBOUR}
    assert read_deleted_days(lake.view().read_entries()) == (DeletedDays(SECOND, None, "shop"),)
    assert sum(count_rows(str(place), ForgetRequest(("shop",), SECOND)).values()) == 0
    forget_rows(str(place), ForgetRequest(("shop",)))
    compared(lake, left)
    tidy_lake(str(place), LakeRetention(unused_s=0.0))
    compared(lake, left)
    text = "".join(str(stored(place, name)) for name in set(TABLES) - {"segments"})
    assert "target=shop/" not in text


def test_the_mark_of_a_lake_is_deleted(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "recordings"
    Watched(root, "shop", "aaaaaaaaaaaa").record(START, 5)
    for name in ("lake", "other"):
        run(spark, root, tmp_path / name)
    before = versions(tmp_path / "lake")
    (tmp_path / "lake").rename(tmp_path / "moved")
    done = forget(tmp_path / "lake", "--recordings", str(root))
    assert done.exit_code == 0
    assert [mark.lake for mark in read_lake_marks(root)] == [f"file:{tmp_path}/other"]
    assert versions(tmp_path / "moved") == before


def test_deleted_days_are_merged() -> None:
    part = DeletedDays(SECOND, FIRST - datetime.timedelta(days=3), "shop")
    entry = deleted_days_entry({}, [part, DeletedDays(FIRST, None, "shop"), DeletedDays(FIRST, None, "bank")])
    assert len(read_deleted_days(entry)) == 3
    whole = deleted_days_entry(json.loads(json.dumps(entry)), [DeletedDays(SECOND, None, "shop")])
    assert set(read_deleted_days(whole)) == {DeletedDays(SECOND, None, "shop"), DeletedDays(FIRST, None, "bank")}
    every = deleted_days_entry(whole, [DeletedDays(SECOND), DeletedDays(FIRST)])
    assert read_deleted_days(every) == (DeletedDays(SECOND),)
