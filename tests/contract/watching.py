"""Helpers for contract tests that watch: a target from a URL, installed queues, and a sink that keeps everything."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from qmon.config.chosen_target import find_target
from qmon.config.config_file import Config
from qmon.engines.base import Connection, Session, Target
from qmon.engines.registry import engine_for
from qmon.model.baseline_bands import NO_BASELINES, Baseline, Baselines
from qmon.model.cost_budget import Budget
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.layout.layout import Layout
from qmon.model.view import QueueView, View
from qmon.monitor.open import open_poller
from qmon.monitor.poll.poller import Poller
from qmon.monitor.source import Event, Phase, SourceState
from qmon.monitor.state.queue_track import QueueTrack
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.install.install_queue import install_queue
from tests.contract.engines import as_application
from tests.facts import PATIENCE_S, wait_until

# High enough that no probe is throttled, however busy the machine is.
ROOMY: Final = Budget(share=1.0)

# Baselines of one target, by queue, figure and hour of the week.
UsualFigures = Mapping[str, Mapping[str, Mapping[int, Baseline]]]


def target_of(url: str) -> Target:
    """Return the target of a URL, as the command line would."""
    return find_target(url, Config(Path("qmon.toml")), {}).target


def connect(url: str) -> Connection:
    """Return a connection of qmon's own, free to write."""
    target = target_of(url)
    return as_application(engine_for(target).connect(target, Session("test")))


def installed(url: str, *designs: str, schema: str = "public", ring_size: int = 1000) -> list[Layout]:
    """Install queues named like their designs."""
    connection = connect(url)
    engine = engine_for(target_of(url))
    try:
        return [
            install_queue(connection, engine, design, schema=schema, queue=design, ring_size=ring_size).layout
            for design in designs
        ]
    finally:
        connection.close()


class Watched:
    """Everything a poller has reported, folded as the dashboard does it."""

    def __init__(self, poller: Poller, baselines: Baselines = NO_BASELINES) -> None:
        self.poller = poller
        self.history = TargetHistory(baselines=lambda: baselines)
        self.views: list[View] = []
        self.states: list[SourceState] = []
        # For each view, by queue: the codes with evidence, raised or still within their hold time.
        self.evidence: list[dict[str, frozenset[str]]] = []
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            if isinstance(event, SourceState):
                self.states.append(event)
            else:
                view = self.history.record_snapshot(event)
                self.evidence.append({name: _with_evidence(t) for name, t in self.history._tracks.items()})
                self.views.append(view)

    @property
    def phases(self) -> list[Phase]:
        """The phases so far, in order."""
        return [state.phase for state in self.states]

    def view(self, ready: Callable[[View], object] = bool, *, polls: int = 1, timeout: float = PATIENCE_S) -> View:
        """Return the first view that satisfies ``ready``, at least ``polls`` polls from now."""
        after = len(self.views) + polls

        def found() -> View | None:
            return next((v for v in self.views[after - 1 :] if ready(v)), None)

        try:
            got = wait_until(found, timeout, what="a view")
        except AssertionError as failure:
            failure.add_note(f"{len(self.views)} views in phases {self.phases[-4:]}\n{stacks()}")
            raise
        assert got is not None
        return got

    def queue(
        self, name: str, ready: Callable[[QueueView], object] = bool, timeout: float = PATIENCE_S, polls: int = 1
    ) -> QueueView:
        """Return a queue from the first view in which it satisfies ``ready``, at least ``polls`` polls from now."""

        def fits(view: View) -> bool:
            queue = view.queue(name)
            return queue is not None and bool(ready(queue))

        found = self.view(fits, polls=polls, timeout=timeout).queue(name)
        assert found is not None
        return found


@contextmanager
def watching(
    url: str,
    layouts: Sequence[ConfiguredQueue] = (),
    interval_s: float = 0.5,
    budget: Budget = ROOMY,
    usual: UsualFigures | None = None,
) -> Iterator[Watched]:
    """Poll the database until the end of the block. ``usual``: baselines of its queues."""
    target = target_of(url)
    poller = open_poller(target, layouts, interval_s=interval_s, budget=budget)
    watched = Watched(poller, Baselines({target.name: usual or {}}))
    watched.poller.start(watched)
    try:
        yield watched
    finally:
        watched.poller.close()


def _with_evidence(track: QueueTrack) -> frozenset[str]:
    newest = max((span.last_at for span in track._spans.values()), default=0.0)
    return frozenset(code for code, span in track._spans.items() if span.last_at == newest)


def stacks() -> str:
    """Return the stack of each thread of this process, newest calls last. It shows where a silent poller waits."""
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f"{names.get(number, number)}:\n{''.join(traceback.format_stack(frame, limit=8))}"
        for number, frame in sys._current_frames().items()
    )


def said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise verdicts after a second at most. Other tests cover their hold times."""
    judge = import_module("qmon.model.verdicts.judge")  # the package also has a function of that name
    for name in ("QUEUE_RULES", "TARGET_RULES"):
        rules = tuple(replace(rule, hold_s=min(rule.hold_s, 1.0)) for rule in getattr(judge, name))
        monkeypatch.setattr(judge, name, rules)
