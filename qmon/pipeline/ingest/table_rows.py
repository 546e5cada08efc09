"""Converts staged rows to the rows of the tables ``polls``, ``samples``, ``operations`` and ``bad``, with Arrow."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.pandas.types import to_arrow_schema

from qmon.pipeline.ingest.poll_survey import LINE_KEY
from qmon.pipeline.lake.schema import BAD, OPERATIONS, POLLS, file_schema
from qmon.pipeline.rollup.row_groups import RowGroups, are_first, encode_rows, numbers
from qmon.recording.figure_rows.row_schema import bucket_for
from qmon.recording.figure_rows.segment_lines import target_from_path

_POLLS: Final = file_schema(POLLS)
_WAITS: Final[pa.ListType] = _POLLS.field("waits").type

# The staged columns that are needed for each table.
STAGED_POLL: Final = (
    *(name for name in _POLLS.names if name not in ("queues", "waits")),
    *(f"line.{name}" for name in ("queues", "wait", "sessions")),
)
STAGED_OPERATION: Final = ("target", "sequence", "line.operation")
STAGED_BAD: Final = ("target", *(f"line.{name}" for name in ("file", "place", "text", "reason")))


def poll_rows(rows: pa.Table) -> pa.Table:
    """Return rows of ``polls`` without partitions, from ``STAGED_POLL``."""
    found: dict[str, Any] = {name: rows[name] for name in rows.column_names if name != "line"}
    line = rows["line"].combine_chunks()
    found |= {"queues": pc.struct_field(line, "queues")}
    found |= {"waits": _zip_lists(pc.struct_field(line, "wait"), pc.struct_field(line, "sessions"))}
    return pa.table({name: found[name] for name in _POLLS.names}, schema=_POLLS)


def _zip_lists(events: pa.Array, sessions: pa.Array) -> pa.Array:
    """Return lists of structs. If a line has lists of different lengths, the missing values are null."""
    known = pc.and_(events.is_valid(), sessions.is_valid())
    if not pc.all(pc.equal(events.value_lengths(), sessions.value_lengths()), min_count=0).as_py():
        pairs = zip(events.to_pylist(), sessions.to_pylist(), strict=True)
        return pa.array([None if None in pair else _padded(*pair) for pair in pairs], _WAITS)
    lengths = pc.if_else(known, events.value_lengths(), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate(([0], np.cumsum(lengths))), pa.int32())
    columns = [each.filter(known).flatten() for each in (events, sessions)]
    values = pa.StructArray.from_arrays(columns, fields=list(_WAITS.value_type))
    return pa.ListArray.from_arrays(offsets, values, type=_WAITS, mask=pc.invert(known))


def _padded(events: Sequence[Any], sessions: Sequence[Any]) -> list[dict[str, Any]]:
    longest = max(len(events), len(sessions))
    padded = ([*each, *[None] * (longest - len(each))] for each in (events, sessions))
    return [dict(zip(("event", "sessions"), pair, strict=True)) for pair in zip(*padded, strict=True)]


def are_new_samples(samples: pa.Table, polls: pa.Table) -> pa.Array:
    """Return for each sample whether it is the first one of its poll and queue, and its poll is in ``polls``.

    Args:
        samples: columns ``LINE_KEY`` and ``queue``.
        polls: the new polls, with columns ``LINE_KEY``.
    """
    numbered = samples.append_column("row", pa.array(np.arange(samples.num_rows)))
    wanted = polls.select(LINE_KEY).cast(pa.schema([samples.schema.field(name) for name in LINE_KEY]))
    found = np.zeros(samples.num_rows, np.bool_)
    found[numbered.join(wanted, list(LINE_KEY), join_type="left semi")["row"].to_numpy()] = True
    return pa.array(found & are_first(samples, [*LINE_KEY, "queue"]))


def operation_rows(rows: pa.Table) -> pa.Table:
    """Return one row per line about an operation, without partitions, from ``STAGED_OPERATION``.

    An operation may have several lines.
    """
    operation = pc.struct_field(rows["line"], "operation")
    found = {each.name: pc.struct_field(operation, each.name) for each in operation.type}
    found |= {"written": rows["sequence"], "target": rows["target"]}
    schema = file_schema(OPERATIONS)
    return pa.table({name: found[name] for name in schema.names}, schema=schema)


def latest_operations(operations: pa.Table) -> pa.Table:
    """Return each operation once, in its latest state."""
    ended_at = np.nan_to_num(numbers(operations, "ended_at"), nan=0.0)
    written = numbers(operations, "written")
    groups = RowGroups((encode_rows(operations, ("target", "id")),), (ended_at, written))
    return operations.take(pa.array(groups.order[groups.ends]))


def unusable_lines(rows: pa.Table) -> pa.Table:
    """Return rows of ``bad`` for unusable lines and parts, from ``STAGED_BAD``."""
    line = rows["line"]
    found = {name: pc.struct_field(line, name).to_pylist() for name in ("file", "place", "text", "reason")}
    return _bad_rows(found | {"target": rows["target"].to_pylist()})


def unusable_files(files: Sequence[tuple[str, str]]) -> pa.Table:
    """Return rows of ``bad`` for whole files, each with its reason."""
    names, reasons = [file for file, _ in files], [reason for _, reason in files]
    found: dict[str, list[Any]] = {"file": names, "reason": reasons, "target": [target_from_path(n) for n in names]}
    return _bad_rows(found | {"place": [0] * len(names), "text": [None] * len(names)})


def _bad_rows(columns: dict[str, list[Any]]) -> pa.Table:
    today = datetime.datetime.now(datetime.UTC).date()
    dates = {file: _segment_date(file) or today for file in set(columns["file"])}
    buckets = {target: bucket_for(target) for target in set(columns["target"])}
    place = {
        "date": [dates[file] for file in columns["file"]],
        "bucket": [buckets[target] for target in columns["target"]],
    }
    schema = to_arrow_schema(BAD)
    return pa.table({name: (columns | place)[name] for name in schema.names}, schema=schema)


def _segment_date(file: str) -> datetime.date | None:
    """Return the day in the path of a segment, or ``None`` if the path has no day."""
    found = re.search(r"/date=([0-9-]+)/", file)
    try:
        return datetime.date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None
