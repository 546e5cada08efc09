"""The story of the demo on its real server: each problem is visible, and the key that the tour names solves it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.cli.commands.connect import ConnectText
from qmon.demo.demo_runner import INTERVAL_S, SETTINGS, run_scene_on
from qmon.demo.demo_texts import TourText
from qmon.demo.embedded_server import EmbeddedServer
from qmon.demo.scene import STORY, StoryStep, healthy_loads
from qmon.demo.story import Story, TourStep
from qmon.model.layout.layout import Layout
from qmon.monitor.open import open_poller
from qmon.monitor.source import Event, SourceState
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.operator_context import create_context
from qmon.tui import ActionRunner
from qmon.tui.actions.action_dialog import DialogStep
from qmon.tui.app import QmonApp
from qmon.tui.shared.banner import tour_lines
from qmon.tui.watched_target import DashboardTarget
from qmon.tui.widgets.grid import Grid
from qmon.workload.load_plan import QueueLoad
from tests.cli.calling import call
from tests.contract.watching import ROOMY
from tests.facts import query
from tests.tui.live import Real
from tests.tui.pilot_waits import pilot_until

_PATIENCE_S: Final = 150.0
# The answers to the steps, as stored in the database.
_DONE: Final = ("requeue", "resume", "pause", "end-session", "end-session")
# More messages per second than any queue of the story needs.
_MUCH: Final = 15.0
_CALMER: Final = 0.1
_IDLE_S: Final = 0.5
# Finds the actions of the story itself.
SHIFT_LEAD: Final = "SELECT kind, reason FROM qmon.operations AS o WHERE o.by = 'shift lead' ORDER BY id"


def calm(layouts: dict[str, Layout]) -> list[QueueLoad]:
    """Return the load of the scene, with high rates cut to a tenth.

    Consumers poll rarely; consumers of healthy queues share processes.
    """
    broken = {step.queue for step in STORY}
    return [
        replace(
            each,
            rate=calmer(each.rate),
            pop_rate=calmer(each.pop_rate),
            own_processes=each.own_processes and each.layout.queue in broken,
            idle_s=_IDLE_S,
        )
        for each in healthy_loads(layouts)
    ]


def calmer(rate: float | None) -> float | None:
    """Return a tenth of a high rate. Low rates belong to the story."""
    return rate if rate is None or rate <= _MUCH else _CALMER * rate


@pytest.mark.soak  # the tour below meets each problem; test_headless.py runs healthy queues under the whole load
@pytest.mark.parametrize("load", [calm, healthy_loads])
def test_the_first_minute_shows_every_trouble_of_the_story(
    load: Callable[[dict[str, Layout]], list[QueueLoad]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qmon.demo.demo_runner.healthy_loads", load)
    left, over = set(STORY), threading.Event()
    history = TargetHistory()

    def sink(event: Event) -> None:
        if not isinstance(event, SourceState):
            view = history.record_snapshot(event)
            left.difference_update([step for step in left if step.is_seen_in(view)])
            if not left:
                over.set()

    with EmbeddedServer(settings=SETTINGS) as server, run_scene_on(server, quiet=True) as (target, _, story):
        poller = open_poller(target, interval_s=INTERVAL_S, budget=ROOMY)
        poller.start(sink)
        try:
            over.wait(_PATIENCE_S)
        finally:
            poller.close()
        assert not left, [step.code for step in left]
        assert query(server.url(), SHIFT_LEAD) == [("pause", TourText.PAUSE_REASON)]
        assert story.current_step().title == TourText.TITLE


@pytest.mark.long
async def test_what_the_tour_says_to_press_answers_each_trouble(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("qmon.demo.story.BETWEEN_S", 0.1)
    monkeypatch.setattr("qmon.demo.demo_runner.healthy_loads", calm)
    with EmbeddedServer(settings=SETTINGS) as server, run_scene_on(server, quiet=True, tour=True) as (target, _, story):
        runner = ActionRunner(replace(create_context(target), audit=tmp_path / "audit.jsonl"))
        poller = open_poller(target, interval_s=0.5, budget=ROOMY)
        app = QmonApp(
            DashboardTarget(poller, story.wrap_fold(TargetHistory().record_snapshot), runner=runner),
            plain=False,
            tour_step=story.current_step,
        )
        try:
            async with app.run_test(size=(120, 40)) as pilot:
                for number, step in enumerate(STORY, start=1):
                    await _answered(
                        Real(app, pilot), story, TourText.STEP.render(number=number, count=len(STORY)), step
                    )
                await Real(app, pilot).until(
                    lambda: story.current_step().broken == TourText.FINISHED, "the end of the tour"
                )
        finally:
            runner.close(5.0)
            poller.close()
        done = query(
            server.url(), "SELECT kind, state FROM qmon.operations AS o WHERE o.by <> 'shift lead' ORDER BY id"
        )
        assert done == [(kind, "done") for kind in _DONE]
        assert query(server.url(), SHIFT_LEAD)[0] == ("pause", TourText.PAUSE_REASON)


async def _answered(real: Real, story: Story, title: str, step: StoryStep) -> None:
    """Wait for the step of the tour, press its keys with its queue chosen, and wait until it is over."""
    await pilot_until(
        real.pilot,
        lambda: (story.current_step().title, story.current_step().answer) == (title, step.answer),
        lambda: f"{title}: {story.current_step()}\n{real.text()}",
        seconds=_PATIENCE_S,
    )
    await real.pilot.press("1")
    await real.until(lambda: step.answer[:40] in real.text(), "the line of the tour")
    await real.pilot.press("g")
    for _ in real.app.shown.view.queues if real.app.shown.view is not None and step.queue else ():
        if real.app.screen.query_one(Grid).cursor != step.queue:
            await real.pilot.press("j")
    await real.pilot.press(*step.keys)
    await real.step(DialogStep.CONFIRM)
    await real.pilot.press("left", "enter")
    await real.step(DialogStep.ENDED)
    assert "done after" in real.text(), real.text()
    await real.pilot.press("escape")
    await real.until(
        lambda: story.current_step().answer.startswith("✓") or story.current_step().title != title, f"{title} is over"
    )


@pytest.mark.parametrize("cells", [80, 120, 200])
def test_the_tour_says_all_of_each_step_in_any_terminal(cells: int) -> None:
    for step in STORY:
        lines = tour_lines(TourStep("TOUR 1 of 5", step.broken, step.answer), cells)
        texts = ["".join(text for text, _ in line) for line in lines]
        assert max(map(len, texts)) <= cells
        assert " ".join(" ".join(texts).split()) == f"TOUR 1 of 5 {step.broken} {step.answer}"


def test_a_tour_without_a_screen_is_refused() -> None:
    done = call("demo", "--tour", "--for", "1s", "--output", "table")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"qmon: {ConnectText.TOUR_NEEDS_SCREEN}\n"
