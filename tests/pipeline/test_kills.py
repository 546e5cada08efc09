"""A run that is interrupted at its worst moments and restarted: nothing is lost, nothing counts twice.

Each interruption is an error, raised where a kill would leave the lake in the same state. ``make soak`` kills the
program itself, at random moments.
"""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from qmon.errors import QmonError
from qmon.pipeline.ingest.segment_intake import SegmentIntake
from qmon.pipeline.lake.deleted_days import DeletedDays, read_deleted_days
from qmon.pipeline.lake.delta import Conflict, LakeTable
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.maintenance import LakeRetention, tidy_lake
from qmon.pipeline.pipeline_texts import IntakeText, LakeText
from qmon.pipeline.rollup.rollups import DAY_S
from tests.pipeline import reference
from tests.pipeline.comparing import START, compared, rolled_up, run
from tests.pipeline.comparing import counted as every_sample
from tests.pipeline.readers import counted
from tests.pipeline.recordings import Watched, rows
from tests.wordings import pattern

pytestmark = pytest.mark.timeout(1200)


class Cut(QmonError):
    """The run ends here."""


def cut_at(monkeypatch: pytest.MonkeyPatch, name: str, table: str, *, after: bool) -> None:
    """End the run before or after this table's function is called."""
    whole = getattr(LakeTable, name)

    def ending(self: LakeTable, *arguments: Any, **more: Any) -> Any:
        here = self.root.endswith(f"/{table}")
        if here and not after:
            raise Cut("cut")
        found = whole(self, *arguments, **more)
        if here:
            raise Cut("cut")
        return found

    monkeypatch.setattr(LakeTable, name, ending)


def test_a_run_that_is_cut_short_neither_loses_nor_doubles(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, place = tmp_path / "Zoë" / "recordings", tmp_path / "lake"
    watched = Watched(root, "shop", "aaaaaaaaaaaa")
    watched.record(START, 40, seed=1, trouble=range(5, 20))
    cuts = (
        ("written_files", "samples", True),  # written, without the results that follow from them
        ("commit_batch", "minutes", True),  # some of the tables have the batch
        ("commit_batch", "samples", False),  # all except the last
    )
    for name, table, after in cuts:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(QmonError, match=pattern(IntakeText.BATCH_FAILED)):
            cut_at(patch, name, table, after=after)
            run(spark, root, place)
        lake = Lake(spark, str(place))
        assert (lake.view().batch, lake.view().counts()["samples"]) == (0, 0)
        assert counted(place, "samples") == dict.fromkeys(("duckdb", "polars", "deltalake"), 0)
    more = Watched(root, "shop", "cccccccccccc")
    more.record(START - 3600, 40, seed=2)
    lake = run(spark, root, place)
    assert lake.view().batch == 2
    compared(lake, [row for each in (watched, more) for row in rows(each.written)])
    assert lake.view().counts()["duplicates"] == 0
    assert [lake.view(batch).counts()["samples"] for batch in (0, 1, 2)] == [0, 80, 160]

    late = Watched(root, "shop", "dddddddddddd")
    (path,) = late.record(START + 30, 20, seed=3)
    one, other = SegmentIntake(lake, str(root)), SegmentIntake(lake, str(root))
    one._claim_batch(3, {path.relative_to(root).as_posix(): 1})
    with pytest.raises(Conflict, match=pattern(LakeText.SECOND_WRITER)):
        other._claim_batch(3, {path.relative_to(root).as_posix(): 1})
    tries = tidied_meanwhile(lake, monkeypatch)
    assert one.run_batch() is not None  # it is repeated on the tidied lake
    assert tries == [False, True]
    whole = [row for each in (watched, more, late) for row in rows(each.written)]
    compared(lake, whole)
    too_late(lake, root, place, whole)


def tidied_meanwhile(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Tidy the lake, including the first days, after a batch has read it and before the batch commits the hours.

    Return a list that records for each attempt whether the batch could commit them.
    """
    commit, tries = LakeTable.commit_batch, list[bool]()

    def committing(self: LakeTable, batch: int, *more: Any, **named: Any) -> bool:
        if not self.root.endswith("/hours"):
            return commit(self, batch, *more, **named)
        if not tries:
            assert sum(each.compacted for each in tidy_lake(lake.storage.root, LakeRetention())) > 0
        tries.append(False)
        tries[-1] = commit(self, batch, *more, **named)
        return tries[-1]

    monkeypatch.setattr(LakeTable, "commit_batch", committing)
    return tries


def too_late(lake: Lake, root: Path, place: Path, whole: list[dict[str, Any]]) -> None:
    """Ingest late samples around midnight: the day whose samples were deleted does not change; the next day counts."""
    old, kept = reference.date(START), reference.date(START + DAY_S)
    gone = [row for row in whole if reference.date(row["sampled_at"]) == old]
    before = rolled(place, old)
    today = datetime.date.fromisoformat(kept) + datetime.timedelta(days=1)
    removed = {
        each.table: each.old_rows
        for each in tidy_lake(lake.storage.root, LakeRetention({"samples": DAY_S}, 0.0), today)
        if each.old_rows
    }
    assert removed == {"samples": len(gone), "polls": len(gone) // 2}
    assert set(counted(place, "samples").values()) == {len(whole) - len(gone)}
    late = Watched(root, "shop", "eeeeeeeeeeee")
    (path, _) = late.record(START + 1140, 60, seed=4)  # from 23:59
    assert SegmentIntake(lake, str(root)).run_batch() is not None
    assert rolled(place, old) == before
    (told,) = stored(place, "bad")
    reason = f"polls of {old} were not added, because this day was deleted from the lake"
    assert (Path(told["file"]).name, told["place"], told["reason"]) == (path.name, 0, reason)
    counting = [row for row in (*whole, *rows(late.written)) if reference.date(row["sampled_at"]) == kept]
    rolled_up(lake, every_sample(lake, counting), since=kept)
    assert read_deleted_days(lake.view().read_entries()) == (DeletedDays(datetime.date.fromisoformat(kept)),)


def rolled(place: Path, date: str) -> list[Any]:
    """Return all rows that follow from the samples of a day."""
    tables = ("minutes", "hours", "days", "runs")
    return [sorted(repr(row) for row in stored(place, name) if str(row["date"]) == date) for name in tables]


def stored(place: Path, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, read without Spark."""
    rows: list[dict[str, Any]] = DeltaTable(str(place / table)).to_pyarrow_dataset().to_table().to_pylist()
    return rows
