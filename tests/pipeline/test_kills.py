"""A run that is cut short at its worst moments and started again: nothing is lost, nothing counts twice.

Each cut is an error raised where a kill would leave the lake in that very state; ``make soak`` kills the program
itself, at random moments.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from qmon.errors import QmonError
from qmon.pipeline.ingest.batch import take_in
from qmon.pipeline.ingest.segments import Intake
from qmon.pipeline.lake.delta import ChangedMeanwhile, Conflict, LakeTable
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.lake.schema import BATCH
from qmon.pipeline.lake.tidy import Keep, tidy
from tests.pipeline.comparing import START, compared, run
from tests.pipeline.readers import counted
from tests.pipeline.recordings import Watched, rows

pytestmark = pytest.mark.timeout(1200)


class Cut(QmonError):
    """Here it ends."""


def cut_at(monkeypatch: pytest.MonkeyPatch, name: str, table: str, *, after: bool) -> None:
    """End the run before or after a function of this table is called."""
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
        ("found", "samples", True),  # written, and nothing that follows from them
        ("commit", "minutes", True),  # a part of the tables has the batch
        ("commit", "samples", False),  # all of them but the last
    )
    for name, table, after in cuts:
        with pytest.MonkeyPatch.context() as patch, pytest.raises(QmonError, match="a batch failed"):
            cut_at(patch, name, table, after=after)
            run(spark, root, place)
        lake = Lake(spark, str(place))
        assert (lake.view().batch, lake.view().counts()["samples"]) == (0, 0)
        assert counted(place, "samples") == dict.fromkeys(("duckdb", "polars", "deltalake"), 0)
    more = Watched(root, "shop", "cccccccccccc")
    more.record(START + 30, 40, seed=2)
    lake = run(spark, root, place)
    assert lake.view().batch == 2
    compared(lake, [row for each in (watched, more) for row in rows(each.written)])
    assert lake.view().counts()["duplicates"] == 0

    late = Watched(root, "shop", "dddddddddddd")
    (path,) = late.record(START - 3600, 20, seed=3)
    one, other = Intake(lake, str(root)), Intake(lake, str(root))
    one._claim(3, {path.relative_to(root).as_posix(): 1})
    with pytest.raises(Conflict, match="somebody else writes to the lake"):
        other._claim(3, {path.relative_to(root).as_posix(): 1})
    monkeypatch.setattr("qmon.pipeline.ingest.segments.take_in", tidied_meanwhile(lake))
    assert one.step() is not None  # is done again on top of what was tidied
    whole = [row for each in (watched, more, late) for row in rows(each.written)]
    compared(lake, whole)
    tidy(lake, Keep(unused_s=0.0))
    compared(lake, whole)
    for name in ("samples", "minutes", "hours"):
        assert set(counted(place, name).values()) == {lake.view().read(name).count()}


def tidied_meanwhile(lake: Lake) -> Any:
    """A batch that finds the lake tidied between what it reads and what it commits, once."""
    done = list[bool]()

    def taking(*arguments: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            whole = LakeTable.commit

            def committing(self: LakeTable, *more: Any, **named: Any) -> bool:
                if not done and self.root.endswith(f"/{BATCH[4]}"):
                    done.append(True)
                    tidy(lake, Keep())
                    raise ChangedMeanwhile("tidied")
                return whole(self, *more, **named)

            patch.setattr(LakeTable, "commit", committing)
            return take_in(*arguments)

    return taking
