"""Pictures of the screens for the README and the manual: ``make screenshots``. ARGS is how many seconds to wait.

Those of the overview and of a queue are taken from a live demo. Screens that need a blocker, a recording or an alert
are copied from the pictures that the tests of the screens compare with.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from textual.pilot import Pilot

from qmon.demo import runner
from qmon.model.figure import Severity
from qmon.model.view import View
from qmon.monitor.open import open_poller
from qmon.monitor.state.target import TargetHistory
from qmon.tui.app import QmonApp

FOLDER: Final = Path(__file__).parents[1] / "screenshots"
HISTORY_S: Final = 130.0
"""Seconds of load before the first picture: enough for the plots, and for every fault of the demo to have come once."""
PATIENCE_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture: the keys that lead to it from the picture before, and the size of the terminal."""

    name: str
    keys: tuple[str, ...] = ()
    size: tuple[int, int] = (120, 40)


PICTURES: Final = (
    Picture("overview"),
    Picture("overview-light", ("t",)),
    Picture("palette", ("t", "question_mark")),
    Picture("overview-80x24", ("escape",), (80, 24)),
    Picture("queue", ("g", "enter")),
    Picture("queue-light", ("t",)),
    Picture("queue-80x24", ("t",), (80, 24)),
    Picture("queue-200x50", (), (200, 50)),
)
SNAPSHOTS: Final = Path(__file__).parent / "tui" / "__snapshots__"
COPIED: Final = {
    "alert": "test_alerts/test_picture_of_the_banner.svg",
    "blocking": "test_blocking_screen/test_blocking[120x40].svg",
    "history": "test_history_pictures/test_history[120x40].svg",
    "requeue": "test_acting_pictures/test_dialog[requeue-120x40].svg",
    "waits": "test_waits_screen/test_waits[120x40].svg",
}


async def settle(app: QmonApp, pilot: Pilot[None]) -> None:
    """Until figures newer than now are painted, and the rows of the queue screen with them."""
    before = app.shown.newest_at
    while app.shown.newest_at <= before:
        await pilot.pause(0.1)
    await pilot.pause(1.5)


def worth_showing(view: View | None) -> bool:
    """Whether something is wrong with a queue, so that the picture shows what qmon is for."""
    if view is None:
        return False
    return any(q.verdict.severity is Severity.CRITICAL and not q.layout.traits.deletes_on_pop for q in view.queues)


async def take(app: QmonApp, history_s: float) -> None:
    """All pictures, one after the other."""
    async with app.run_test(size=PICTURES[0].size) as pilot:
        await pilot.pause(history_s)
        waited = 0.0
        while not worth_showing(app.shown.view) and waited < PATIENCE_S:
            await pilot.pause(0.5)
            waited += 0.5
        for picture in PICTURES:
            await pilot.resize_terminal(*picture.size)
            await pilot.press(*picture.keys)
            await settle(app, pilot)
            path = FOLDER / f"{picture.name}.svg"
            path.write_text(app.export_screenshot(title="qmon"), encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(FOLDER.parent)}\n")


def main(arguments: list[str]) -> int:
    """Run the demo, watch it, take the pictures."""
    FOLDER.mkdir(exist_ok=True)
    for name, snapshot in COPIED.items():
        shutil.copyfile(SNAPSHOTS / snapshot, FOLDER / f"{name}.svg")
    history_s = float(arguments[0]) if arguments else HISTORY_S
    with runner.ended_by_signals(), runner.scene() as (target, _):
        poller = open_poller(target, interval_s=runner.INTERVAL_S)
        app = QmonApp(poller, TargetHistory().add, environment=target.environment, plain=False)
        try:
            asyncio.run(take(app, history_s))
        finally:
            poller.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
