"""What a poll has found, sorted: by queue, and for all queues by table and sequence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from qmon.model.samples.polled import CounterSample, SequenceSample
from qmon.monitor.poll.runner import Results


@dataclass(frozen=True, slots=True)
class Found:
    """Sorted once a poll, so that many queues cost no more than their number.

    ``queues``: queue → probe → its records; ``partial``: table → why our role sees only a part of it.
    """

    queues: Mapping[str, Mapping[str, tuple[Any, ...]]]
    counters: Mapping[int, CounterSample]
    partial: Mapping[int, str]
    sequences: Mapping[int, SequenceSample]

    def of(self, queue: str) -> Mapping[str, tuple[Any, ...]]:
        """The records of each probe of this queue that worked."""
        return self.queues.get(queue, {})


def found_in(results: Results) -> Found:
    """Sort the results of a poll."""
    queues: defaultdict[str, dict[str, tuple[Any, ...]]] = defaultdict(dict)
    for (queue, probe), records in results.items():
        queues[queue][probe] = records
    every = queues[""]
    return Found(
        queues,
        {each.table_id: each for each in every.get("counters", ())},
        {each.table_id: each.why for each in every.get("partial", ())},
        {each.sequence_id: each for each in every.get("sequences", ())},
    )
