"""The tables of the lake, column by column. ``docs/lake.md`` describes each column.

Times are seconds since the epoch on the server's clock. Columns ``*_s`` are in seconds, columns ``*_ms`` in
milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type, to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from qmon.recording.figure_rows import row_schema

_D, _S, _L, _I = DoubleType(), StringType(), LongType(), IntegerType()


def _struct(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind, nullable=True) for name, kind in columns.items()])


def _spark_types(columns: Mapping[str, pa.DataType]) -> dict[str, DataType]:
    return {name: from_arrow_type(kind) for name, kind in columns.items()}


# The last columns of every table. `PARTITIONS`, the day (UTC) and a bucket of targets, are the partition columns.
_PLACE: Final = _spark_types(row_schema.PLACE)
_ORIGIN: Final = _spark_types(row_schema.ORIGIN)
OPERATION: Final = StructType(from_arrow_schema(pa.schema(row_schema.OPERATION.fields)).fields)

# One row per queue and poll. `sequence` is the number of the recorder's line, and `poll` is the number of the snapshot.
SAMPLES: Final = from_arrow_schema(row_schema.SAMPLES)

# One row per poll: the number of watched queues, and the waits of sessions.
POLLS: Final = _struct(
    recorder=_S,
    sequence=_L,
    poll=_L,
    sampled_at=_D,
    poll_s=_D,
    queues=_I,
    waits=ArrayType(_struct(event=_S, sessions=_D)),
    **_ORIGIN,
    **_PLACE,
)

# One row per operation in its latest state. `written` is the number of the line with that state.
OPERATIONS: Final = StructType([*OPERATION.fields, *_struct(written=_L, **_PLACE).fields])

_SUMS: Final[dict[str, DataType]] = {
    "samples": _L,
    **dict.fromkeys(("seconds", "flow_s", "pushed", "popped", "completed"), _D),
    **dict.fromkeys(("ready_s", "ready_known_s", "ready_max", "ready_last"), _D),
    **dict.fromkeys(("oldest_s", "oldest_known_s", "oldest_max"), _D),
    **dict.fromkeys(("in_progress_s", "in_progress_known_s", "in_progress_max", "dead_last"), _D),
}

# One row per queue and minute. The columns are sums, which can be added up. Dividing messages by seconds gives rates.
#
# `seconds`: watched time. `ready_known_s`, `oldest_known_s`, `in_progress_known_s`: the part of `seconds` in which the
# figure was known. `flow_s`: time covered by the counters that were read. `ready_s`: messages times seconds.
MINUTES: Final = _struct(queue=_S, start_at=_D, recorder=_S, **_SUMS, **_ORIGIN, **_PLACE)

_MILLISECONDS: Final = MapType(_D, _L)

# Parts of the rows of `MINUTES` and `ROLLUPS`, computed from some of the samples of a minute. Parts can be added up.
#
# `ready_last_at`, `dead_last_at`: time of the newest known value. The maps cover one minute or one hour: see
# `qmon.pipeline.rollup.minute_sums`.
MINUTE_SUMS: Final = _struct(
    target=_S,
    queue=_S,
    start_at=_D,
    recorder=_S,
    **_ORIGIN,
    **_SUMS,
    ready_last_at=_D,
    dead_last_at=_D,
    ready_ms=_MILLISECONDS,
    oldest_ms=_MILLISECONDS,
)

PERCENTILES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99}

# The figures with percentiles.
PERCENTILE_FIGURES: Final = ("ready", "oldest")
_TAILS: Final[dict[str, DataType]] = {
    **{f"{name}_ms": _MILLISECONDS for name in PERCENTILE_FIGURES},
    **{f"{name}_{p}": _D for name in PERCENTILE_FIGURES for p in PERCENTILES},
}

# One row per queue and hour (or day): the sums of its minutes, and how long each value lasted.
#
# `ready_ms`, `oldest_ms`: value → milliseconds. Values are rounded to seven significant binary digits, with an error of
# less than 0.8 %. All percentiles are computed from these maps.
ROLLUPS: Final = _struct(
    queue=_S,
    start_at=_D,
    **_SUMS,
    **_TAILS,
    **_ORIGIN,
    **_PLACE,
)

# The rows of a running batch: those of the kinds in `qmon.recording.figure_rows.row_schema`, of the kind `minute`, and
# of the kind `trouble` (samples with a warning or worse).
STAGED: Final = StructType([*from_arrow_schema(row_schema.ROWS).fields, *_struct(minute=MINUTE_SUMS).fields])

# One row per queue, hour (`start_at`), verdict and run of trouble. Incidents are computed from these rows.
RUNS: Final = _struct(
    queue=_S,
    code=_S,
    severity=_I,
    start_at=_D,
    first_at=_D,
    last_at=_D,
    since_at=_D,
    samples=_L,
    proof=_S,
    proof_at=_D,
    peak_ready=_D,
    peak_at=_D,
    **_PLACE,
)

# Unusable lines. `date` is the day of the segment by its path, or the day of the batch if the path has no day.
BAD: Final = _struct(file=_S, place=_L, text=_S, reason=_S, **_PLACE)

# The files that the lake contains, relative to the folder of recordings, and the batch of each file.
SEGMENTS: Final = _struct(file=_S, bytes=_L, batch=_L, **_PLACE)

# The columns of `qmon.pipeline.messages.archive_reader.ArchivedMessage`.
MESSAGE: Final[dict[str, DataType]] = {
    "archive_id": _L,
    "message_id": _S,
    "enqueued_at": _D,
    "started_at": _D,
    "completed_at": _D,
    "archived_at": _D,
    "attempts": _L,
    "owner": _S,
    "title": _S,
    "payload_bytes": _L,
    "payload": _S,
}

# `target`, `queue`, `made` (how often the archive was recreated) and `archive_id` identify a message.
MESSAGES: Final = _struct(queue=_S, made=_L, **MESSAGE, **_PLACE)

# The baseline of each hour of the week, as computed on the day in `date`.
BASELINES: Final = _struct(queue=_S, figure=_S, zone=_S, hour=_I, median=_D, mad=_D, readings=_L, **_PLACE)

TABLES: Final = {
    "segments": SEGMENTS,
    "polls": POLLS,
    "bad": BAD,
    "operations": OPERATIONS,
    "minutes": MINUTES,
    "hours": ROLLUPS,
    "days": ROLLUPS,
    "runs": RUNS,
    "samples": SAMPLES,
    "messages": MESSAGES,
    "baselines": BASELINES,
}

# The tables that a batch of segments writes, in commit order, after `segments`.
BATCH: Final = ("polls", "bad", "operations", "minutes", "hours", "days", "runs", "samples")


def file_schema(table: StructType) -> pa.Schema:
    """Return the columns of the files of a table. The partition columns are only in the paths of the files."""
    return pa.schema([each for each in to_arrow_schema(table) if each.name not in row_schema.PARTITIONS])
