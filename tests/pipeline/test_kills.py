"""A run that is cut short at its worst moments and started again: nothing is lost, nothing counts twice.

Each cut is an error raised where a kill would leave the lake and Spark's checkpoint in that very state; ``make soak``
kills the program itself, at random moments.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from qmon.errors import QmonError
from qmon.pipeline.ingest import stream as stream
from qmon.pipeline.lake.lake import Lake
from tests.pipeline.comparing import START, counted, run
from tests.pipeline.recordings import Watched, rows

pytestmark = pytest.mark.timeout(1200)


class Cut(Exception):
    """Here it ends."""


def cut_after(monkeypatch: pytest.MonkeyPatch, where: object, name: str, table: str | None = None) -> list[str]:
    """End the run after the first call of a function, or of the one that writes a table; says then that it did."""
    whole, done = getattr(where, name), list[str]()

    def ending(*arguments: Any, **more: Any) -> None:
        whole(*arguments, **more)
        if table is None or table in arguments:
            done.append(name)
            raise Cut

    monkeypatch.setattr(where, name, ending)
    return done


def test_a_run_that_is_cut_short_neither_loses_nor_doubles(spark: SparkSession, tmp_path: Path) -> None:
    root, place = tmp_path / "Zoë" / "recordings", tmp_path / "Zoë" / "lake"
    watched = Watched(root, "shop", "aaaaaaaaaaaa")
    watched.record(START, 40, seed=1, trouble=range(5, 20))
    cuts: list[tuple[object, str, str | None]] = [
        (Lake, "write", "samples"),  # written, and nothing that follows from them
        (Lake, "commit", None),  # committed, and Spark's checkpoint does not know
    ]
    for where, name, table in cuts:
        with pytest.MonkeyPatch.context() as patch:
            done = cut_after(patch, where, name, table)
            with pytest.raises(QmonError, match="a batch failed"):
                run(spark, root, place)
        assert done == [name]
    assert Lake(spark, str(place)).manifest().number == 1
    Watched(root, "shop", "bbbbbbbbbbbb", queues=()).record(START, 3)
    more = Watched(root, "shop", "cccccccccccc")
    more.record(START + 30, 40, seed=2)
    lake = Lake(spark, str(place))
    query = stream.begin(lake, str(root), every_s=0.5)
    try:
        query.processAllAvailable()
    finally:
        query.stop()
    counted(lake, [row for each in (watched, more) for row in rows(each.written)])
    assert lake.manifest().counts["duplicates"] == 0
    assert not lake.storage.names("staged")
    assert {name.removeprefix("batch=") for name in lake.storage.names("samples")} == named(lake)


def named(lake: Lake) -> set[str]:
    """The batches that the manifests which are kept for readers name: no other's folders stay."""
    kept = [json.loads(lake.storage.read("manifest", name)) for name in lake.storage.names("manifest")]
    return {stamp for each in kept for days in each["days"].values() for stamp in days.values()}
