"""The columns of the rows that are made from lines of recordings, as Arrow types.

Times are seconds since the epoch on the server's clock. Columns ``*_s`` are in seconds.
"""

from __future__ import annotations

import zlib
from typing import Final

import pyarrow as pa

from qmon.model.queue_figures import MOVING_FIGURES, RECORDED_FIGURES

_D, _S, _L, _I = pa.float64(), pa.string(), pa.int64(), pa.int32()


def _list_of(kind: pa.DataType) -> pa.DataType:
    return pa.list_(pa.field("element", kind))  # the name that Spark gives to the elements


def _struct(**columns: pa.DataType) -> pa.DataType:
    return pa.struct(list(columns.items()))


BUCKETS: Final = 16

# The last columns of every table of the lake: the target, the day (UTC), and a bucket of targets.
PLACE: Final[dict[str, pa.DataType]] = {"target": _S, "date": pa.date32(), "bucket": _I}
PARTITIONS: Final = ("date", "bucket")


def bucket_for(target: str) -> int:
    """Return the bucket of a target. The bucket is the same on every machine."""
    return zlib.crc32(target.encode("utf-8", "surrogatepass")) % BUCKETS


# The columns of `qmon.recording.format.poll_figures.Figures` with one entry per queue.
FIGURES: Final[dict[str, pa.DataType]] = {
    **dict.fromkeys(("queue", "design"), _S),
    **dict.fromkeys((figure.recorded_name for figure in RECORDED_FIGURES), _D),
    **dict.fromkeys(("span_s", *(figure.moved for figure in MOVING_FIGURES)), _D),
    "verdict": _S,
    "severity": _I,
    "since_at": _D,
    "proof": _S,
}

_FIGURES_LINE: Final = _struct(
    sequence=_L,
    sampled_at=_D,
    poll_s=_D,
    **{name: _list_of(kind) for name, kind in FIGURES.items()},
    wait=_list_of(_S),
    sessions=_list_of(_D),
)
OPERATION: Final = _struct(
    id=_S, kind=_S, queue=_S, state=_S, by=_S, reason=_S, planned=_L, done=_L, started_at=_D, ended_at=_D
)

# The fields of a line that are read.
LINE: Final = pa.schema(
    [("v", _I), ("r", _S), ("n", _L), ("at", _D), ("figures", _FIGURES_LINE), ("operation", OPERATION)]
)

# The time zone of the recording machine, and the environment of the target.
ORIGIN: Final[dict[str, pa.DataType]] = {"zone": _S, "environment": _S}

# One row per queue and poll. `sequence` is the number of the recorder's line, and `poll` is the number of the snapshot.
_SAMPLE: Final[dict[str, pa.DataType]] = {
    "recorder": _S,
    "sequence": _L,
    "poll": _L,
    "sampled_at": _D,
    "poll_s": _D,
    **FIGURES,
    **ORIGIN,
}
SAMPLES: Final = pa.schema(list((_SAMPLE | PLACE).items()))

LINE_COLUMN: Final = _struct(
    file=_S, place=_L, text=_S, reason=_S, queues=_I, wait=_list_of(_S), sessions=_list_of(_D), operation=OPERATION
)

# The rows of a segment, of four kinds: `sample`, `poll` (a line of figures), `operation`, and `bad` (an unusable line
# or part, with the reason in `line.reason`). `line.place`: line number in the file, from 1.
ROWS: Final = pa.schema(
    [
        ("kind", _S),
        *(_SAMPLE | {"target": _S}).items(),
        ("line", LINE_COLUMN),
        *((name, PLACE[name]) for name in PARTITIONS),
    ]
)
