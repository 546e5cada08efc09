"""Faults that show only against the last minutes of a queue: half an hour, in the long form only."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from qmon.model.layout.layout import Layout
from qmon.model.trend import TrendText
from qmon.model.verdicts.flow_verdicts import FlowText
from tests.facts import wait_until
from tests.laboratory.case import Case
from tests.laboratory.laboratory import Laboratory
from tests.wordings import pattern

# qmon knows that a queue is busy after ten minutes with pushes. One more because minutes can begin at any poll.
BUSY_S: Final = 11 * 60.0
# After this time, qmon knows how long a message usually takes.
USUAL_S: Final = 6 * 60.0
# Times of messages are compared by minutes.
SLOWER_S: Final = 100.0
# A slow rise is reported after 21 minutes at the earliest, once the oldest message has waited for one minute.
LEAK_S: Final = 24 * 60.0


def _go_on(lab: Laboratory, seconds: float) -> None:
    """Wait until polls have watched for ``seconds``."""
    since = lab.watched.views[-1].sampled_at
    wait_until(lambda: lab.watched.views[-1].sampled_at - since >= seconds, 2 * seconds, what="the time before")


@contextlib.contextmanager
def silent(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Producers push for some minutes and then stop."""
    _go_on(lab, BUSY_S)
    lab.load.change_members(layout.queue, "producer", rate=0.0)
    yield (pattern(FlowText.NO_PUSHES),)
    lab.load.change_members(layout.queue, "producer", rate=8.0)


@contextlib.contextmanager
def leaking(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Producers push slightly faster than the consumers pop. The difference is too small to show in the rates."""
    lab.load.change_members(layout.queue, "consumer", rate=3.6)
    yield (pattern(FlowText.READY_ROSE),)
    lab.load.change_members(layout.queue, "consumer", rate=200.0)
    wait_until(lambda: _few(lab, layout), 120, what="the backlog is gone")


def _few(lab: Laboratory, layout: Layout) -> bool:
    queue = lab.watched.views[-1].queue(layout.queue)
    return queue is not None and queue.ready.value is not None and queue.ready.value < 10


@contextlib.contextmanager
def slowed(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """Each message takes fifty times longer than in the minutes before."""
    _go_on(lab, BUSY_S)
    lab.load.change_members(layout.queue, "consumer", work_s=1.0)
    yield (pattern(TrendText.EACH_TAKES),)
    lab.load.change_members(layout.queue, "consumer", work_s=0.02)
    wait_until(lambda: _few(lab, layout), 120, what="the backlog is gone")


@contextlib.contextmanager
def deployed(lab: Laboratory, layout: Layout) -> Iterator[Sequence[str]]:
    """A new version of the consumers needs ten times as long for each message, and still keeps up."""
    case = lab.case(layout)
    _go_on(lab, USUAL_S)
    lab.consumers[layout.queue].stop()
    lab.start_consumers(replace(case, load={**case.load, "work_s": 10 * case.load["work_s"]}))
    yield pattern(TrendText.EACH_TAKES), pattern(FlowText.CONSUMERS_NEW)
    lab.consumers[layout.queue].stop()
    lab.start_consumers(case)


CASES = (
    Case("producers stopped", "no pushes", "status", silent, reads_s=32.0),
    Case("slow leak", "consumers fall behind", "status", leaking, reads_s=LEAK_S, load={"rate": 4.0}),
    Case(
        "each message takes longer",
        "consumers fall behind",
        "status",
        slowed,
        reads_s=100.0,
        clears_s=15.0,
        load={"work_s": 0.02, "rate": 6.0},
        true_too=frozenset({"messages take longer"}),
    ),
    Case(
        "slow consumers deployed",
        "messages take longer",
        "status",
        deployed,
        reads_s=SLOWER_S,
        clears_s=SLOWER_S,
        own_processes=True,
        load={"work_s": 0.03, "rate": 3.0, "consumers": 2},
    ),
)
