"""One batch: new segments into the lake, and everything that follows from them anew, for the days they touch."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.storagelevel import StorageLevel

from qmon.pipeline.ingest import samples as stage
from qmon.pipeline.lake.lake import Lake, Manifest
from qmon.pipeline.lake.schema import STAGED
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.rollup.incidents import runs
from qmon.pipeline.rollup.rollups import GRAINS, rollups, rollups_of
from qmon.recording.write.retention import MARK

_COUNTS: Final = ("segments", "lines", "bad", "samples", "duplicates")


def take_in(lake: Lake, segments: DataFrame, stamp: str, named: Iterable[str] = ()) -> Manifest:
    """Take the segments into the lake under ``stamp``, once: a stamp that the newest manifest commits is left alone.

    Samples come to those that the lake has of the same days, doubles fall out, and all that follows from them is
    computed anew for these days: so it does not matter when a segment arrives, nor how often. Until the manifest is
    written nothing of it is seen; a try that was cut short is written over by the next. ``named``: the whole paths of
    the segments, of which those that Spark passes over are reported as bad.
    """
    before = lake.manifest()
    if before.stamp == stamp:
        return before
    rows = _staged(lake, segments, stamp, named)
    days = _touched(rows)
    old = lake.read("samples", before, days)
    new = not any(date in before.days.get(target, {}) for target, date in days)
    doubled = stage.doubled(rows, old)
    unique = new and doubled.isEmpty()
    fresh = stage.samples(rows, gathered=new)
    if not unique:
        fresh = fresh.join(doubled, ["source", "place"], "left_anti")
    lake.write("samples", old.unionByName(fresh.drop("source", "place")), stamp, gathered=new)
    waits = lake.read("waits", before, days).unionByName(stage.waits(rows))
    lake.write("waits", waits.dropDuplicates(["target", "recorder", "sequence", "event"]), stamp)
    done = lake.read("operations", before, days).unionByName(stage.operations(rows))
    lake.write("operations", stage.last_state(done), stamp)
    _derive(lake, days, stamp, stage.bundles(rows) if unique else None)
    counts = _counts(lake, rows, old, days, stamp)
    if counts["bad"]:
        stage.bad(rows).coalesce(1).write.mode("overwrite").parquet(lake.storage.at("bad", f"batch={stamp}"))
    after = replace(
        before.with_days(days, stamp),
        number=before.number + 1,
        stamp=stamp,
        counts={name: before.counts.get(name, 0) + counts[name] for name in _COUNTS},
        bad=(*before.bad, stamp) if counts["bad"] else before.bad,
    )
    lake.commit(after)
    return after


def mark_done(recordings: Storage, named: Iterable[str]) -> None:
    """Add the segments of a batch to the list of those that retention may remove, in the folder of the recordings."""
    known = json.loads(recordings.read(MARK))["done"] if recordings.exists(MARK) else []
    names = {path.removeprefix(f"{recordings.root}/") for path in named}
    done = sorted(name for name in {*known, *names} if recordings.exists(name))
    recordings.replace(json.dumps({"version": 1, "done": done}) + "\n", MARK)


def _staged(lake: Lake, segments: DataFrame, stamp: str, named: Iterable[str]) -> DataFrame:
    """The rows of the segments, read once and kept for this batch; files that are gone are bad."""
    rows = stage.staged(segments)
    if passed := _passed_over(lake, named):
        gone = lake.session.createDataFrame(passed, "kind string, file string, place long, reason string")
        rows = rows.unionByName(gone, allowMissingColumns=True)
    place = lake.storage.at("staged", f"batch={stamp}")
    # What is large is compressed already.
    rows.write.mode("overwrite").option("compression", "none").partitionBy("kind").parquet(place)
    return lake.session.read.schema(STAGED).parquet(place)


def _passed_over(lake: Lake, named: Iterable[str]) -> list[tuple[str, str, int, str]]:
    """A bad line for each segment that Spark passes over: it has vanished since it was listed, or is empty."""
    reasons = {None: "the file was there and vanished before it was read", 0: "the file is empty"}
    lengths = {path: lake.storage.length(path) for path in named}
    return [("bad", path, 0, reasons[size]) for path, size in lengths.items() if size in reasons]


def _touched(rows: DataFrame) -> list[tuple[str, str]]:
    days = rows.where(stage.touched()).select("target", "date").distinct()
    return sorted((row.target, row.date) for row in days.collect())


def _derive(lake: Lake, days: list[tuple[str, str]], stamp: str, bundles: DataFrame | None) -> None:
    """Rollups and runs of these days, from the samples that this batch has written.

    ``bundles``: where these days have the samples of this batch alone, each once; they are rolled up faster.
    """
    paths = [lake.folder("samples", stamp, *day) for day in days]
    samples = lake.read_folders("samples", [path for path in paths if lake.storage.exists(path)])
    lake.write("runs", runs(samples), stamp)
    rolled = rollups(samples) if bundles is None else rollups_of(bundles, samples.count())
    rolled = rolled.persist(StorageLevel.MEMORY_AND_DISK)
    try:
        for table in GRAINS:
            lake.write(table, rolled.where(F.col("grain") == table), stamp)
    finally:
        rolled.unpersist()


def _counts(lake: Lake, rows: DataFrame, old: DataFrame, days: list[tuple[str, str]], stamp: str) -> dict[str, int]:
    counted = (
        rows.where("kind <> 'bundle'")
        .agg(
            F.countDistinct("file").alias("segments"),
            F.count(F.lit(1)).alias("lines"),
            F.count("reason").alias("bad"),
            F.coalesce(F.sum("queues"), F.lit(0)).alias("samples"),
        )
        .first()
    )
    counts = {name: int(value) for name, value in counted.asDict().items()} if counted is not None else {}
    had = old.count()
    paths = [lake.folder("samples", stamp, *day) for day in days]
    kept = lake.read_folders("samples", [path for path in paths if lake.storage.exists(path)]).count()
    return counts | {"samples": kept - had, "duplicates": had + counts["samples"] - kept}
