"""``qmon design load``: producers and consumers on one queue, for some time."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Target
from qmon.errors import BadInput
from qmon.texts import Text
from qmon.workload.committed_counts import CommittedFlow, Totals
from qmon.workload.load_driver import SAMPLE_S, Load
from qmon.workload.load_plan import QueueLoad, slots_needed


class RunLoadText(Text):
    """Why a load is not possible."""

    SECONDS = "a load must last more than 0 seconds and at most seven days, not {seconds:g} s"


MAX_SECONDS: Final = 7 * 24 * 3600.0
_REPORT_EVERY_S: Final = 0.5
_WINDOW_S: Final = 2.0
_MAX_CONNECT_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """The progress of a load: ``elapsed_s`` of ``seconds``. ``flow``: the flow of the last two seconds or less."""

    elapsed_s: float
    seconds: float
    totals: Totals
    flow: CommittedFlow
    depth: float
    connected: int


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The result of a load. ``flow``: the flow of the whole run. ``depth``: the number of ready messages at its end."""

    totals: Totals
    flow: CommittedFlow
    depth: float


def run_load(
    target: Target,
    load: QueueLoad,
    seconds: float,
    progress: Callable[[LoadProgress], None] | None = None,
    *,
    stopped: Callable[[], bool] = lambda: False,
) -> LoadResult:
    """Drive one queue for ``seconds``. ``progress`` is called twice a second. ``stopped`` returns whether to end early.

    The time starts when all members are connected, or after five seconds. Raises ``BadInput`` for a queue that qmon did
    not install or for an impossible load, and ``QmonError`` if the connection fails. All workers have ended when this
    function returns or raises (including ``KeyboardInterrupt``).
    """
    if not 0 < seconds <= MAX_SECONDS:
        raise BadInput(RunLoadText.SECONDS.render(seconds=seconds))
    queue, members = load.layout.queue, slots_needed((load,))
    with Load(target, [load], connections=_connections_per_process(load)) as running:
        counts = running.counts
        until = time.monotonic() + _MAX_CONNECT_S
        while running.connected_members(queue) < members and time.monotonic() < until and not stopped():
            time.sleep(SAMPLE_S)
        began = counts.last_at()
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not stopped():
            time.sleep(min(left, _REPORT_EVERY_S))
            now = counts.last_at()
            if progress is not None and now > began:
                flow = counts.flow_between(max(began, now - _WINDOW_S), now)[queue]
                now_at = LoadProgress(
                    min(seconds, now - began),
                    seconds,
                    counts.totals(queue),
                    flow,
                    counts.depth_at(queue, now),
                    running.connected_members(queue),
                )
                progress(now_at)
    over = counts.last_at()
    return LoadResult(counts.totals(queue), counts.flow_between(began, over)[queue], counts.depth_at(queue, over))


def _connections_per_process(load: QueueLoad) -> int:
    """Return the number of connections per process.

    With this number, each role has as many processes as there are processors, and at least two.
    """
    return max(1, math.ceil(max(load.producers, load.consumers) / max(2, os.cpu_count() or 2)))
