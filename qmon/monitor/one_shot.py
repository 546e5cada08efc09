"""Read the figures of a target from a few polls within a deadline, for commands and monitoring systems."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Final

from qmon.engines.base import Connection, Target
from qmon.errors import ConnectionFailed
from qmon.model.cost_budget import UNLIMITED
from qmon.model.formatting import duration
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.view import View
from qmon.monitor.open import open_poller
from qmon.monitor.poll.poller import FIRST_READ_S
from qmon.monitor.source import Event, Phase, SourceState
from qmon.monitor.state.rates.rate_window import RATE_WINDOW_S
from qmon.monitor.state.target_history import TargetHistory
from qmon.texts import Text


class OneShotText(Text):
    """Why a target has no figures."""

    NO_ANSWER = "{target} does not answer"
    TOO_FEW_POLLS = "no answer within {time}: {finished:,} of {polls:,} polls finished"
    TRYING_AGAIN = "{reason}; trying again"


MORE_POLLS: Final = 2
_ANSWER_S: Final = 15.0

# Maximum number of attempts to read the catalog, which may fail if the server is cold or the catalog is locked.
_TRIES: Final = 2

# Share of the available time that counting figures without an index may take.
_COUNTING: Final = 0.8


def view_over(
    target: Target,
    layouts: Sequence[ConfiguredQueue] = (),
    *,
    over_s: float = 2.0,
    report: Callable[[str], None] = lambda _: None,
    first: Connection | None = None,
) -> View:
    """Return the figures of a target, with rates over at least ``over_s`` seconds, for ``qmon status``.

    The first catalog read may take as long as the poller allows, and is retried once. ``report``: called with a message
    when qmon has to wait. ``first``: see ``open_poller``. Raises ``ConnectionFailed`` if the target cannot be reached
    or does not answer in time.
    """

    def is_enough(views: Sequence[View]) -> bool:
        return views[-1].sampled_at - views[0].sampled_at >= over_s - 0.05

    interval_s = min(max(over_s / 2, 0.5), 2.0)
    views, _ = _collect_views(
        target,
        layouts,
        interval_s=interval_s,
        timeout_s=over_s + _ANSWER_S,
        is_enough=is_enough,
        over_s=over_s,
        cold_s=_TRIES * (FIRST_READ_S + _ANSWER_S),
        report=report,
        first=first,
    )
    if not views:
        raise ConnectionFailed(OneShotText.NO_ANSWER.render(target=target.name))
    return views[-1]


def view_after(
    target: Target,
    layouts: Sequence[ConfiguredQueue] = (),
    *,
    polls: int = 2,
    interval_s: float = 2.0,
    timeout_s: float = 10.0,
    undecided: Callable[[View], bool] = lambda _: False,
    first: Connection | None = None,
) -> View:
    """Return the figures after ``polls`` polls, ``interval_s`` seconds apart. Rates need at least two polls.

    If ``undecided`` returns true for the newest figures, up to two more polls follow. If there is no time for these
    polls, the newest figures are returned. ``first``: see ``open_poller``. Raises ``ConnectionFailed`` if the target
    cannot be reached or is lost, or if fewer than ``polls`` polls finish in time.
    """

    def is_enough(views: Sequence[View]) -> bool:
        return len(views) >= polls and not (len(views) < polls + MORE_POLLS and undecided(views[-1]))

    views, in_time = _collect_views(
        target, layouts, interval_s=interval_s, timeout_s=timeout_s, is_enough=is_enough, first=first
    )
    if len(views) < polls and not in_time:
        raise ConnectionFailed(
            OneShotText.TOO_FEW_POLLS.render(time=duration(timeout_s), finished=len(views), polls=polls)
        )
    return views[-1]


def _collect_views(
    target: Target,
    layouts: Sequence[ConfiguredQueue],
    *,
    interval_s: float,
    timeout_s: float,
    is_enough: Callable[[Sequence[View]], bool],
    over_s: float = RATE_WINDOW_S,
    cold_s: float = 0.0,
    report: Callable[[str], None] = lambda _: None,
    first: Connection | None = None,
) -> tuple[list[View], bool]:
    """Poll until there are enough views or the time is over. Return the views, and whether there are enough views.

    ``over_s``: seconds over which rates are measured. ``cold_s``: additional seconds if the first catalog read takes
    long. If the target is lost during this read, qmon tries it again once. Raises ``ConnectionFailed`` if the target
    cannot be reached or is lost.
    """
    history, done = TargetHistory(window_s=max(over_s, RATE_WINDOW_S)), threading.Event()
    views: list[View] = []
    problems: list[str] = []
    cold = threading.Event()

    def record_state(state: SourceState) -> None:
        if state.catalog:
            cold.set()
        if state.phase is Phase.CONNECTING and state.catalog:
            report(state.reason)
        if state.phase is not Phase.LOST:
            return
        problems.append(state.reason)
        if not state.catalog or len(problems) == _TRIES:
            done.set()
        else:
            report(OneShotText.TRYING_AGAIN.render(reason=state.reason))

    def sink(event: Event) -> None:
        if isinstance(event, SourceState):
            record_state(event)
            return
        problems.clear()
        views.append(history.record_snapshot(event))
        if is_enough(views) and not any(queue.counting is not None for queue in views[-1].queues):
            done.set()

    poller = open_poller(
        target, layouts, interval_s=interval_s, budget=UNLIMITED, within_s=_COUNTING * timeout_s, first=first
    )
    poller.start(sink)
    try:
        in_time = done.wait(timeout_s) or (cold.is_set() and done.wait(cold_s))
    finally:
        # Close in a thread, so that a hung server does not block the end of the command. Threads that are still running
        # end with the command.
        threading.Thread(target=poller.close, name="qmon-close", daemon=True).start()
    if problems:
        raise ConnectionFailed(problems[0])
    return views, in_time
