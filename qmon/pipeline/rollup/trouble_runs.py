"""Finds runs of trouble in samples, with Arrow and without Spark. ``incident_rollup`` joins them to incidents."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qmon.pipeline.lake.schema import RUNS, file_schema
from qmon.pipeline.rollup.minute_sums import HOUR_S
from qmon.pipeline.rollup.row_groups import RowGroups, encode_rows, nullable, numbers
from qmon.recording.history.incidents import JOIN_WITHIN_S

# The lowest severity that counts as trouble: warning.
TROUBLE_SEVERITY: Final = 2

# The columns of samples that are needed here.
RUN_COLUMNS: Final = ("target", "queue", "sampled_at", "verdict", "severity", "since_at", "proof", "ready")


def select_trouble(samples: pa.Table) -> pa.Table:
    """Return the samples with a warning or worse."""
    return samples.filter(pc.field("severity") >= TROUBLE_SEVERITY)


def runs_from_samples(samples: pa.Table) -> pa.Table:
    """Return one row per queue, hour, verdict and run of trouble (``schema.RUNS``, without partitions).

    ``samples``: unique samples of any recorders, with ``RUN_COLUMNS``. Samples of a run are at most ``JOIN_WITHIN_S``
    apart.
    """
    bad = select_trouble(samples)
    queue, at = encode_rows(bad, ("target", "queue")), numbers(bad, "sampled_at")
    hour = np.floor(at / HOUR_S) * float(HOUR_S)
    hours = RowGroups((queue, hour), (at,))
    begins = np.zeros(bad.num_rows, np.bool_)
    begins[1:] = np.diff(at[hours.order]) > JOIN_WITHIN_S
    begins[hours.starts] = True
    run = np.empty(bad.num_rows, np.int64)
    run[hours.order] = np.cumsum(begins)

    runs = RowGroups((run, encode_rows(bad, ("verdict",))), (at,))
    order, first = runs.order, pa.array(runs.order[runs.starts])
    since, ready = numbers(bad, "since_at"), numbers(bad, "ready")[order]
    peak = runs.maximum(ready, ~np.isnan(ready))
    highest = np.repeat(peak.fill_null(np.nan).to_numpy(zero_copy_only=False), runs.lengths)
    found: dict[str, Any] = {name: pc.take(bad[name], first) for name in ("target", "queue", "proof")}
    found |= {
        "code": pc.take(bad["verdict"], first),
        "severity": -runs.minimum(-bad["severity"].to_numpy()[order]),
        "start_at": hour[order][runs.starts],
        "first_at": at[order][runs.starts],
        "last_at": at[order][runs.ends],
        "since_at": runs.minimum(np.fmin(since, at)[order]),
        "samples": runs.lengths,
        "proof_at": at[order][runs.starts],
        "peak_ready": peak,
        "peak_at": nullable(runs.minimum(np.where(ready == highest, at[order], np.inf)), np.array(peak.is_null())),
    }
    schema = file_schema(RUNS)
    return pa.table({each.name: found[each.name] for each in schema}, schema=schema)
