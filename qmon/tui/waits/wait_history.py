"""Returns the history of each wait from memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from qmon.recording.history.buckets import Bucket
from qmon.recording.history.in_memory import InMemoryHistory
from qmon.recording.history.thinned import TIERS

_NONE: Final = Bucket(0.0, 0.0, 0.0, 0.0)


def wait_steps(memory: InMemoryHistory, step_s: float, count: int) -> dict[str, list[Bucket | None]]:
    """Return the numbers of sessions in each wait, keyed by ``WaitRate.key``.

    The numbers are for the newest ``count`` steps, each of ``step_s`` seconds. If a wait is missing in a step with
    other waits, it had no sessions. If no wait was read in a step, the step is ``None``.
    """
    start_at = memory.begins_at - memory.begins_at % TIERS[0].step_s  # the start of a step of memory
    newest = (memory.ends_at - start_at) // step_s
    found = memory.wait_history(start_at + (newest - count + 1) * step_s, step_s, count)
    known = {name: bins.steps(0) for name, bins in found.items()}
    read = [any(step is not None for step in at) for at in zip(*known.values(), strict=True)]
    return {
        name: [_NONE if step is None and there else step for step, there in zip(each, read, strict=True)]
        for name, each in known.items()
    }


def sum_of_waits(steps: Mapping[str, Sequence[Bucket | None]]) -> list[Bucket | None]:
    """Return the sum of all waits in each step. ``steps``: the result of ``wait_steps``.

    The greatest value of a sum is not known, because the waits may have been longest at different times in the step.
    The mean is used instead.
    """
    out: list[Bucket | None] = []
    for at in zip(*steps.values(), strict=True):
        known = [step for step in at if step is not None]
        mean, last = sum(step.mean for step in known), sum(step.last for step in known)
        out.append(Bucket(mean, mean, mean, last) if known else None)
    return out
