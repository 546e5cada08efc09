"""The story of the demo: its faults occur at fixed times or, on a tour, one after the other."""

from __future__ import annotations

import contextlib
import heapq
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final, Self

from qmon.demo.demo_texts import TourText
from qmon.demo.scene import LATER, STORY, PlannedPause, StoryStep
from qmon.engines.base import Target
from qmon.errors import QmonError
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Side
from qmon.model.snapshot import Snapshot
from qmon.model.view import View
from qmon.operate.context import Permission
from qmon.operate.operator import Operator
from qmon.operate.operator_context import create_context
from qmon.workload.load_driver import Load
from qmon.workload.load_plan import PlannedFault

SEEN_WITHIN_S: Final = 60.0

# The tour waits at most this many seconds until a fault is visible (`SEEN_WITHIN_S`), and then until the user has fixed
# the fault (`ANSWERED_WITHIN_S`). Then the tour continues.
ANSWERED_WITHIN_S: Final = 60.0

# On a tour, faults last longer by this factor, so that the user has time to read.
TOUR_FACTOR: Final = 3.0
BETWEEN_S: Final = 4.0

# Number of consecutive views that must show that a fault exists, or that it is over.
_AGREEING_VIEWS: Final = 2


@dataclass(frozen=True, slots=True)
class TourStep:
    """A step of the tour. ``broken``: describes the fault. ``answer``: the keys that fix the fault."""

    title: str
    broken: str
    answer: str


class Story:
    """Runs the faults of the scene while it is open, on its own thread.

    Without ``tour``, the faults occur repeatedly at fixed times. On a tour, the next fault occurs when the user has
    fixed the previous fault, or has not fixed it for a minute.
    """

    def __init__(self, target: Target, layouts: dict[str, Layout], load: Load, audit: Path, *, tour: bool) -> None:
        """``audit``: file for the local audit log of the story's operations."""
        self._layouts, self._load, self._tour = layouts, load, tour
        self._operator = Operator(replace(create_context(target), who="shift lead", audit=audit))
        self._news = threading.Condition()
        self._is_over = False
        self._last_view: View | None = None
        self._current_step = TourStep(TourText.TITLE, TourText.JUST_STARTED, TourText.FIRST_FOLLOWS)
        self._thread = threading.Thread(target=self._run, name="qmon story", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._news:
            self._is_over = True
            self._news.notify_all()
        self._thread.join()

    def current_step(self) -> TourStep:
        """Return the current text of the tour."""
        return self._current_step

    def wrap_fold(self, fold: Callable[[Snapshot], View]) -> Callable[[Snapshot], View]:
        """Return a function that calls ``fold`` and also passes the views to the tour."""

        def fold_and_notify(snapshot: Snapshot) -> View:
            view = fold(snapshot)
            with self._news:
                self._last_view = view
                self._news.notify_all()
            return view

        return fold_and_notify

    def _run(self) -> None:
        began = monotonic()
        if self._tour:
            self._run_tour()
            self._run_by_clock(monotonic(), LATER)
        else:
            self._run_by_clock(began, (*(step.trouble for step in STORY), *LATER))

    def _run_by_clock(self, began: float, troubles: tuple[PlannedFault | PlannedPause, ...]) -> None:
        due = [(trouble.at_s, number) for number, trouble in enumerate(troubles)]
        heapq.heapify(due)
        while due:
            at_s, number = heapq.heappop(due)
            if self._ended_within(began + at_s - monotonic()):
                return
            self._begin_trouble(troubles[number])
            if (every_s := troubles[number].every_s) is not None:
                heapq.heappush(due, (at_s + every_s, number))

    def _run_tour(self) -> None:
        for number, step in enumerate(STORY, start=1):
            title = TourText.STEP.render(number=number, count=len(STORY))
            self._current_step = TourStep(title, step.broken, TourText.WAIT)
            self._begin_trouble(replace(step.trouble, for_s=TOUR_FACTOR * step.trouble.for_s))
            if self._wait_for_verdict(step, True, SEEN_WITHIN_S):
                self._current_step = TourStep(title, step.broken, step.answer)
                over = self._wait_for_verdict(step, False, ANSWERED_WITHIN_S)
                self._current_step = TourStep(title, step.broken, TourText.FIXED if over else TourText.NEXT_FOLLOWS)
            if self._ended_within(BETWEEN_S):
                return
        self._current_step = TourStep(TourText.TITLE, TourText.FINISHED, TourText.QUIT)

    def _begin_trouble(self, trouble: PlannedFault | PlannedPause) -> None:
        with contextlib.suppress(QmonError):  # the server may be stopping, or the user has changed the queue
            if isinstance(trouble, PlannedFault):
                self._load.inject_fault(trouble)
            else:
                self._pause_queue(trouble)

    def _pause_queue(self, pause: PlannedPause) -> None:
        action = self._operator.pause(self._layouts[pause.queue], Side.PRODUCERS, for_s=pause.for_s)
        action.apply(Permission(pause.reason), lambda _: None, lambda: self._is_over)

    def _ended_within(self, seconds: float) -> bool:
        with self._news:
            return self._news.wait_for(lambda: self._is_over, max(0.0, seconds))

    def _wait_for_verdict(self, step: StoryStep, expected: bool, seconds: float) -> bool:
        """Wait until two consecutive new views both have (or both lack) the verdict. Return false after ``seconds``."""
        end, before, agree = monotonic() + seconds, self._last_view, 0
        with self._news:
            while not self._is_over and agree < _AGREEING_VIEWS and (left := end - monotonic()) > 0:
                self._news.wait(left)
                if self._last_view is not None and self._last_view is not before:
                    before = self._last_view
                    agree = agree + 1 if step.is_seen_in(before) is expected else 0
        return agree == _AGREEING_VIEWS
