"""Pictures of the screens for the README and the manual: ``make screenshots``.

ARGS is how many seconds to wait, or ``libraries``: the picture of their queues alone, or ``report``: those of the
pipeline's report, which take a browser and some minutes.

All others are taken from a live demo, which is recorded; for that of the blocking screen a table is locked for a
moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pyodbc
from textual.pilot import Pilot

from qmon.cli.signals import exit_on_signals
from qmon.demo import demo_runner
from qmon.engines.base import Session, Target
from qmon.engines.odbc_keywords import format_connection_string
from qmon.engines.postgres.postgres_engine import Postgres
from qmon.model.alerts.alert_rules import AlertRule
from qmon.model.cost_budget import parse_budget
from qmon.model.figure import Severity
from qmon.model.view import View
from qmon.monitor.alerting import Alerting, AlertState
from qmon.monitor.open import open_poller
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.operator_context import create_context
from qmon.recording.history.recording_archive import live_archive
from qmon.recording.times import local_zone
from qmon.recording.write.recorder import Recorder
from qmon.recording.write.recording_source import RecordingSource
from qmon.tui.action_runner import ActionRunner
from qmon.tui.actions.action_dialog import ActionDialog, DialogStep
from qmon.tui.app import QmonApp
from qmon.tui.past_reader import KnownPast
from qmon.tui.themes import DARK, LIGHT
from qmon.tui.watched_target import DashboardTarget
from tests.svg import one_after_the_other, smaller

FOLDER: Final = Path(__file__).parents[1] / "screenshots"
# Seconds of load before the first picture: enough for the plots, and for the second round of all the demo's faults.
HISTORY_S: Final = 290.0
PATIENCE_S: Final = 120.0
BLOCKED: Final = "invoices"
# Budget as a share of one processor, so that a busy machine throttles no probe.
BUDGET: Final = "20%"
ALERTS: Final = (AlertRule("stuck", figure="stuck", crit=0.0), AlertRule("deep", figure="ready", warn=100.0))


SIZES: Final = ((120, 40), (80, 24), (200, 50))
# Seconds for which the animation shows each picture.
TURN_S: Final = 4.0
# Screens of the animation, at 80x24.
IN_TURN: Final = ("overview", "waits", "blocking", "queue", "message", "requeue", "timeline")


async def settle(app: QmonApp, pilot: Pilot[None]) -> None:
    """Wait until figures newer than now are painted, including the rows of the queue screen."""
    before = app.shown.newest_at
    while app.shown.newest_at <= before:
        await pilot.pause(0.1)
    await pilot.pause(0.8)


def worth_showing(view: View | None) -> bool:
    """Return whether a queue has a problem that is worth a picture."""
    if view is None:
        return False
    return any(q.verdict.severity is Severity.CRITICAL and not q.layout.traits.deletes_on_pop for q in view.queues)


async def until(pilot: Pilot[None], ready: Callable[[], bool]) -> None:
    """Wait for a condition with a limit; after it, the picture shows the current state."""
    waited = 0.0
    while not ready() and waited < PATIENCE_S:
        await pilot.pause(0.5)
        waited += 0.5


def save(app: QmonApp, name: str) -> None:
    """Write a picture of the current screen."""
    write(name, smaller(app.export_screenshot(title="qmon")))


def write(name: str, picture: str) -> None:
    """Write a picture."""
    path = FOLDER / f"{name}.svg"
    path.write_text(picture, encoding="utf-8")
    sys.stdout.write(f"{path.relative_to(FOLDER.parent)}\n")


async def at_each_size(app: QmonApp, pilot: Pilot[None], name: str) -> None:
    """Write the pictures of a screen in all sizes; 120x40 is last and has no size in its name."""
    for cells, rows in reversed(SIZES):
        await pilot.resize_terminal(cells, rows)
        await settle(app, pilot)
        save(app, name if (cells, rows) == SIZES[0] else f"{name}-{cells}x{rows}")


@contextlib.contextmanager
def locked(target: Target, table: str) -> Iterator[None]:
    """Lock a table in a session that is idle in transaction, so that producers and consumers wait."""
    keywords = Postgres().odbc_keywords(target, Session(application="monthly report"))
    password = {"PWD": target.password.reveal()} if target.password is not None else {}
    with contextlib.closing(pyodbc.connect(format_connection_string({**keywords, **password}))) as connection:
        connection.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")
        yield
        connection.rollback()


async def take(app: QmonApp, target: Target, history_s: float) -> None:
    """Take all pictures, starting with those of states that do not last."""
    async with app.run_test(size=SIZES[0]) as pilot:
        await pilot.pause(history_s)
        await until(pilot, lambda: worth_showing(app.shown.view))
        await at_each_size(app, pilot, "overview")
        await pilot.press("t", *LIGHT, "enter")
        await settle(app, pilot)
        save(app, "overview-light")
        await pilot.press("t", *DARK, "enter", "3")
        await at_each_size(app, pilot, "waits")
        await blocking(app, pilot, target)
        await alert(app, pilot)
        app.selected = stuck(app) or app.selected
        await pilot.press("2")
        await at_each_size(app, pilot, "queue")
        await requeue(app, pilot)
        await pilot.press("enter")
        await at_each_size(app, pilot, "message")
        for pressed, name in ((("5", "v", "v"), "history"), (("6",), "operations"), (("7",), "timeline")):
            await pilot.press(*pressed)
            await at_each_size(app, pilot, name)
        await pilot.press("1", "colon", *"exp")
        await settle(app, pilot)
        save(app, "palette")
    frames = [(FOLDER / f"{name}-80x24.svg").read_text("utf-8") for name in IN_TURN]
    write("story", one_after_the_other(frames, TURN_S))


async def blocking(app: QmonApp, pilot: Pilot[None], target: Target) -> None:
    """Write the pictures of sessions that wait for a lock on the table of a queue."""
    found = app.shown.view.queue(BLOCKED) if app.shown.view is not None else None
    assert found is not None
    with locked(target, str(found.layout.table)):
        await pilot.press("4")
        await until(pilot, lambda: waiting(app) >= 3)
        await at_each_size(app, pilot, "blocking")


def waiting(app: QmonApp) -> int:
    """Return the number of sessions that wait for a lock."""
    view = app.shown.view
    return view.server.blocking.waiters if view is not None and view.server.blocking is not None else 0


async def requeue(app: QmonApp, pilot: Pilot[None]) -> None:
    """Write the pictures of the plan to requeue stuck messages. The queue's screen stays open."""
    await pilot.press("1")
    await until(pilot, lambda: bool(stuck(app)))
    app.selected = stuck(app)
    await pilot.press("2", "r")
    await until(pilot, lambda: isinstance(app.screen, ActionDialog) and app.screen.step is not DialogStep.PLANNING)
    await at_each_size(app, pilot, "requeue")
    await pilot.press("escape")


def stuck(app: QmonApp) -> str | None:
    """Return the queue with the most stuck messages that can be requeued."""
    queues = app.shown.view.queues if app.shown.view is not None else ()
    found = [q for q in queues if q.stuck.value and not q.layout.deletes_on_pop and q.layout.ring is None]
    return max(found, key=lambda q: q.stuck.value or 0.0).name if found else None


async def alert(app: QmonApp, pilot: Pilot[None]) -> None:
    """Take a picture of an alert's banner above the overview."""
    app.alerting = Alerting({app.source.target: ALERTS}, bell=False)
    await pilot.press("1")
    await until(pilot, lambda: bool(app.shown.alerts.open))
    await settle(app, pilot)
    save(app, "alert")
    app.alerting = None
    app.shown = replace(app.shown, alerts=AlertState())


def main(arguments: list[str]) -> int:
    """Run the demo and take the pictures."""
    FOLDER.mkdir(exist_ok=True)
    if arguments == ["libraries"]:
        from tests.libraries.picture import picture

        sys.stdout.write(f"{picture(FOLDER).relative_to(FOLDER.parent)}\n")
        return 0
    if arguments == ["report"]:
        from tests.pipeline.picture import pictures

        sys.stdout.writelines(f"{path.relative_to(FOLDER.parent)}\n" for path in pictures(FOLDER))
        return 0
    history_s = float(arguments[0]) if arguments else HISTORY_S
    with (
        exit_on_signals(),
        demo_runner.run_scene() as (target, _, _),
        tempfile.TemporaryDirectory(prefix="qmon-pictures-") as folder,
    ):
        poller = open_poller(target, interval_s=demo_runner.INTERVAL_S, budget=parse_budget(BUDGET))
        recorder = Recorder(Path(folder), target.name, interval_s=demo_runner.INTERVAL_S)
        source = RecordingSource(poller, TargetHistory().record_snapshot, recorder)
        known = KnownPast(live_archive(Path(folder), target.name, local_zone()))
        acting = ActionRunner(create_context(target))
        app = QmonApp(
            DashboardTarget(
                source, source.fold, environment=target.environment, runner=acting, recorder=recorder, past=known
            ),
            plain=False,
        )
        try:
            asyncio.run(take(app, target, history_s))
        finally:
            acting.close(5.0)
            source.close()
            recorder.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
