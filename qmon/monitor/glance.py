"""A short look at a target within a deadline, for monitoring systems: so many polls, and never longer than allowed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Final

from qmon.engines.base import Target
from qmon.errors import Unreachable
from qmon.model.layout import Layout
from qmon.model.view import View
from qmon.monitor.history import History
from qmon.monitor.source import Event, Phase, SourceState
from qmon.monitor.watch import open_poller

MORE_POLLS: Final = 2


def glance(
    target: Target,
    layouts: Sequence[Layout] = (),
    *,
    polls: int = 2,
    interval_s: float = 2.0,
    timeout_s: float = 10.0,
    undecided: Callable[[View], bool] = lambda _: False,
) -> View:
    """The figures after ``polls`` polls, ``interval_s`` seconds apart; two at least give rates.

    While ``undecided`` says so of the newest figures, and there is time, up to two polls more. Where the time is over
    with fewer polls, the newest figures there are, as long as the target answered at all and not lost since.
    Raises ``Unreachable`` where it cannot be reached, is lost meanwhile, or does not answer in time.
    """
    history, done = History(), threading.Event()
    views: list[View] = []
    problems: list[str] = []

    def sink(event: Event) -> None:
        if isinstance(event, SourceState):
            if event.phase is Phase.LOST:
                problems.append(event.reason)
                done.set()
            return
        views.append(history.add(event))
        if len(views) >= polls and not (len(views) < polls + MORE_POLLS and undecided(views[-1])):
            done.set()

    deadline = time.monotonic() + timeout_s
    poller = open_poller(target, layouts, interval_s=interval_s)
    poller.start(sink)
    try:
        in_time = done.wait(max(0.0, deadline - time.monotonic()))
    finally:
        # A server that hangs would hold up the end of the look; whatever is under way ends with the process.
        threading.Thread(target=poller.close, name="qmon-close", daemon=True).start()
    if problems:
        raise Unreachable(problems[0])
    if len(views) < polls and not in_time:
        raise Unreachable(f"no answer within {timeout_s:g} s: {len(views)} of {polls} polls came back")
    return views[-1]
