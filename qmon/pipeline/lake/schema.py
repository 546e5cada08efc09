"""The tables of the lake, column by column. Times are seconds since the epoch on the server's clock, ``*_s`` seconds.

samples     one row a queue and poll: the figures as the dashboard had them, and what moved since the poll before
waits       one row a poll and kind of wait
operations  one row an operation, as it stood last
minutes, hours, days   sums over time: rates follow by dividing, so that they can be added up again
runs        one row a queue, verdict and stretch of trouble; incidents are made of them
"""

from __future__ import annotations

from typing import Final

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

_D, _S, _L, _I = DoubleType(), StringType(), LongType(), IntegerType()


def _struct(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind, nullable=True) for name, kind in columns.items()])


SEGMENTS: Final = "path string, modificationTime timestamp, length long, content binary"
"""What Spark's reader of whole files gives."""

FIGURES: Final[dict[str, DataType]] = {
    **dict.fromkeys(("queue", "design"), _S),
    **dict.fromkeys(("ready", "in_progress", "stuck", "oldest_s", "scheduled", "dead", "fill", "gap"), _D),
    **dict.fromkeys(("span_s", "pushed", "popped", "completed"), _D),
    "verdict": _S,
    "severity": _I,
    "since_at": _D,
    "proof": _S,
}
"""The columns of ``qmon.recording.format.figures.Figures`` that have one entry a queue."""

_FIGURES_LINE: Final = _struct(
    sequence=_L, sampled_at=_D, server_ms=_D, **{name: ArrayType(kind) for name, kind in FIGURES.items()},
    wait=ArrayType(_S), sessions=ArrayType(_D),
)  # fmt: skip
_OPERATION: Final = _struct(
    id=_S, kind=_S, queue=_S, state=_S, by=_S, reason=_S, planned=_L, done=_L, started_at=_D, ended_at=_D
)
LINE: Final = _struct(v=_I, r=_S, n=_L, figures=_FIGURES_LINE, operation=_OPERATION)
"""What is read of a line."""

STAGED: Final = _struct(
    kind=_S, file=_S, source=_L, place=_L, text=_S, reason=_S, target=_S, zone=_S, date=_S, recorder=_S, sequence=_L,
    sampled_at=_D, span_s=_D, queues=_I, wait=ArrayType(_S), sessions=ArrayType(_D), operation=_OPERATION, share=_I,
    bundle=BinaryType(),
)  # fmt: skip
"""A batch's rows while it is under way, of four kinds: ``poll`` (a line of figures, with the number of its queues, its
waits and the longest ``span_s``), ``bundle`` (samples of the queues of a share), ``operation``, and ``bad`` (a line or
stretch of lines that cannot be used: ``reason`` says why). ``place``: lines of a file from 1; ``source`` stands for the
file.
"""

SAMPLES: Final = _struct(
    recorder=_S, sequence=_L, poll=_L, sampled_at=_D, **FIGURES, zone=_S, target=_S, date=_S
)  # fmt: skip
"""``sequence`` is the number of the recorder's line, ``poll`` that of the snapshot."""

WAITS: Final = _struct(recorder=_S, sequence=_L, sampled_at=_D, span_s=_D, event=_S, sessions=_D, target=_S, date=_S)

OPERATIONS: Final = StructType([*_OPERATION.fields, *_struct(written=_L, target=_S, date=_S).fields])

_TAIL: Final = ("p50", "p95", "p99")
ROLLUPS: Final = _struct(
    queue=_S, at=_D, samples=_L, seconds=_D, flow_s=_D, pushed=_D, popped=_D, completed=_D,
    ready_s=_D, ready_known_s=_D, ready_max=_D, ready_last=_D, **{f"ready_{p}": _D for p in _TAIL},
    oldest_s=_D, oldest_known_s=_D, oldest_max=_D, **{f"oldest_{p}": _D for p in _TAIL},
    in_progress_s=_D, in_progress_known_s=_D, in_progress_max=_D, dead_last=_D, zone=_S, target=_S, date=_S,
)  # fmt: skip
"""``at``: where the stretch begins. ``seconds``: time that was watched; ``flow_s``: the part of it whose counters were
read; ``ready_s``: messages times seconds, to be divided by ``ready_known_s``, the seconds in which it was known.
"""

RUNS: Final = _struct(
    queue=_S, code=_S, severity=_I, first_at=_D, last_at=_D, since_at=_D, samples=_L, proof=_S, proof_at=_D,
    peak_ready=_D, peak_at=_D, target=_S, date=_S,
)  # fmt: skip

TABLES: Final = {
    "samples": SAMPLES,
    "waits": WAITS,
    "operations": OPERATIONS,
    "minutes": ROLLUPS,
    "hours": ROLLUPS,
    "days": ROLLUPS,
    "runs": RUNS,
}
"""Partitioned by target and date (UTC), which are the last two columns."""
