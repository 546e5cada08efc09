"""The stream: every segment of a folder of recordings into the lake once, in batches, now or for ever."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from qmon.errors import BadInput, QmonError
from qmon.pipeline.ingest.batch import mark_done, take_in
from qmon.pipeline.lake.lake import Lake, Manifest
from qmon.pipeline.lake.schema import SEGMENTS
from qmon.pipeline.lake.storage import Storage
from qmon.pipeline.session import first_line
from qmon.recording.format.frames import SUFFIX

SEGMENTS_A_BATCH: Final = 400
_CHECK_S: Final = 1
_CHECKPOINT: Final = "checkpoint"


def begin(
    lake: Lake, recordings: str, *, every_s: float | None = None, on_batch: Callable[[Manifest], None] | None = None
) -> StreamingQuery:
    """Start to take in the sealed segments below ``recordings``; which ones were, Spark's checkpoint in the lake knows.

    Args:
        lake: where to.
        recordings: the folder that recorders write to, of any Hadoop file system.
        every_s: look for new segments so often (seconds) for ever; ``None``: end when those that are there are done.
        on_batch: called with the manifest after each batch, on a thread of Spark's.

    However late a segment arrives, it is taken in: Spark's own limit for old files is lifted. Raises ``BadInput``
    where there is no such folder.
    """
    folder = Storage(lake.session, recordings)
    if not folder.exists():
        raise BadInput(f"there is no folder {recordings} with recordings; qmon record TARGET --to DIR makes one")

    def batch(segments: DataFrame, number: int) -> None:
        stream = segments.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId") or "batch"
        named = _listed(lake.storage)
        manifest = take_in(lake, segments, f"{stream[:8]}-{number:06d}", named)
        mark_done(folder, named)
        if on_batch is not None:
            on_batch(manifest)

    source = (
        lake.session.readStream.format("binaryFile")
        .schema(SEGMENTS)
        .option("recursiveFileLookup", "true")
        .option("pathGlobFilter", f"*{SUFFIX}")
        .option("maxFileAge", "36500d")
        .option("maxFilesPerTrigger", SEGMENTS_A_BATCH)
        .load(folder.root)
    )
    writer = source.writeStream.foreachBatch(batch).option("checkpointLocation", lake.storage.at(_CHECKPOINT))
    if every_s is None:
        return writer.trigger(availableNow=True).start()
    return writer.trigger(processingTime=f"{every_s:g} seconds").start()


def _listed(storage: Storage) -> list[str]:
    """The segments of the batch under way, as Spark's checkpoint has them: it knows those that it passes over, too."""
    log = (_CHECKPOINT, "sources", "0")
    entries = [
        json.loads(line)
        for name in storage.names(*log)
        if name[0].isdigit()
        for line in storage.read(*log, name).splitlines()[1:]
    ]
    newest = max((entry["batchId"] for entry in entries), default=0)
    return sorted({storage.plain(entry["path"]) for entry in entries if entry["batchId"] == newest})


def wait(query: StreamingQuery, stop: threading.Event | None = None) -> None:
    """Until the stream ends, or ``stop`` is set. Raises ``QmonError`` with one line where a batch fails.

    The signal that sets ``stop`` may have ended Spark's Java as well: then it can only be missed.
    """
    try:
        while not query.awaitTermination(_CHECK_S):
            if stop is not None and stop.is_set():
                query.stop()
                return
    except (PySparkException, Py4JError, OSError) as problem:
        if stop is None or not stop.is_set():
            raise QmonError(f"a batch failed, and nothing of it counts: {_cause(problem)}") from problem


def _cause(problem: Exception) -> str:
    text = str(problem)
    for mark in ("qmon.errors.", "BadInput: ", "QmonError: ", "ModuleNotFoundError: "):
        if mark in text:
            return first_line(QmonError(text[text.index(mark) :]))
    return first_line(problem)
