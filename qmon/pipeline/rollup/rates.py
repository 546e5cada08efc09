"""From samples to measured time: no sample counted twice, no rate across a gap, a restart or a step of the clock."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from qmon.pipeline.rollup.sums import FigureSums, Flags, Floats, Places
from qmon.recording.history.buckets import LONGEST_SPAN_S

FIGURES: Final = ("pushed", "popped", "completed", "ready", "oldest_s", "in_progress", "dead")


class Measured:
    """Samples with the seconds they stand for, and what moved in them, in the order of ``queues`` and of time.

    The recorder has already seen what only order tells: after a restart, a reset of counters or a gap there is no
    ``span_s``, and such a sample stands for no time. Where several recorders watched a target in the same minute, the
    one counts that watched the longest; of those that watched as long, the first by name.

    Args:
        samples: rows as ``rollups.needed`` gives them, in any order.
        queues: of each row a number that stands for its target, day and queue.
    """

    def __init__(self, samples: pa.Table, queues: Places) -> None:
        at = _floats(samples, "sampled_at")
        span = FigureSums.of(samples.column("span_s").combine_chunks())
        sane = span.known & (span.values > 0) & (span.values <= LONGEST_SPAN_S)
        seconds = np.where(sane, span.values, 0.0)
        order = np.lexsort((at, queues))
        recorders = samples.column("recorder").combine_chunks()
        if len(recorders.dictionary) > 1:
            names = ranks(recorders)
            order = order[_of_one_recorder(queues, np.floor(at / 60.0), names, seconds)[order]]
        self.order = order
        self.queues, self.at, self.span_s = queues[order], at[order], seconds[order]
        figures = {name: FigureSums.of(samples.column(name).combine_chunks()).where(order) for name in FIGURES}
        self.flowing: Flags = (self.span_s > 0) & figures["pushed"].known & figures["popped"].known
        for name in ("pushed", "popped", "completed"):
            figures[name] = figures[name].only(self.flowing)
        for name in ("ready", "oldest_s"):
            figures[name] = figures[name].sorted()
        self.figures = figures


def ranks(names: pa.Array) -> Places:
    """Of each row the place of its name among all names in their order; from a dictionary of Arrow's."""
    known = names.dictionary.to_pylist()
    place = {name: number for number, name in enumerate(sorted(known))}
    found: Places = np.array([place[name] for name in known], np.int64)[names.indices.to_numpy(zero_copy_only=False)]
    return found


def _of_one_recorder(queues: Places, minute: Floats, recorder: Places, seconds: Floats) -> Flags:
    """Which rows count: those of the recorder that watched the queue's minute the longest."""
    order = np.lexsort((recorder, minute, queues))
    q, m, r = queues[order], minute[order], recorder[order]
    new_minute = np.ones(len(order), bool)
    new_minute[1:] = (q[1:] != q[:-1]) | (m[1:] != m[:-1])
    new = new_minute.copy()
    new[1:] |= r[1:] != r[:-1]
    starts = np.flatnonzero(new)
    watched = np.round(np.add.reduceat(seconds[order], starts), 3)
    of_minute = np.cumsum(new_minute)[starts]
    best_first = np.lexsort((r[starts], -watched, of_minute))
    first = np.ones(len(starts), bool)
    first[1:] = np.diff(of_minute[best_first]) != 0
    best = np.zeros(len(starts), bool)
    best[best_first[first]] = True
    kept = np.zeros(len(order), bool)
    kept[order] = best[np.cumsum(new) - 1]
    return kept


def _floats(samples: pa.Table, name: str) -> Floats:
    found: Floats = samples.column(name).combine_chunks().to_numpy(zero_copy_only=False)
    return found
