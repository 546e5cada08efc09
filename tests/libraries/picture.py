"""The screenshot of five libraries at once, with their real workers: ``make screenshots ARGS=libraries``."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from qmon.demo.embedded_server import EmbeddedServer
from qmon.model.cost_budget import parse_budget
from qmon.monitor.open import open_poller
from qmon.monitor.state.target_history import TargetHistory
from qmon.tui.app import QmonApp
from qmon.tui.watched_target import DashboardTarget
from tests.libraries.every import LIBRARIES
from tests.libraries.library import ATTEMPTS, QUEUES, Library
from tests.queues import target_of

SHOWN: Final = frozenset({"procrastinate", "pgqueuer", "oban", "pg-boss", "graphile-worker"})
WATCHED_S: Final = 60.0
SIZE: Final = (120, 30)
# Share of one processor, high enough that even a busy machine throttles no probe on the picture.
BUDGET: Final = "20%"
# For each library: seconds for a job, and jobs pushed every two seconds.
SCENES: Final = ((0.5, 12), (0.3, 5), (0.2, 3), (0.4, 2), (0.1, 4))


@contextlib.contextmanager
def load(url: str, folder: Path) -> Iterator[None]:
    """Run workers of each library and a producer until the end of the block."""
    over = threading.Event()
    made = [library for library in (make() for make in LIBRARIES) if library.name.lower() in SHOWN]
    with contextlib.ExitStack() as stack:
        for library, (seconds, jobs) in zip(made, SCENES, strict=True):
            library.install(url)
            library.push(url, QUEUES[1], ["not to be delivered"], fails=ATTEMPTS)
            library.push(url, QUEUES[0], ["tomorrow"] * jobs, due_in_s=86_400)
            stack.enter_context(library.start(url, folder, f"{library.name}-1", QUEUES, seconds_per_job=seconds))
            thread = threading.Thread(target=push, args=(library, url, jobs, over))
            thread.start()
            stack.callback(thread.join)
        stack.callback(over.set)
        yield


def push(library: Library, url: str, jobs: int, over: threading.Event) -> None:
    """Push jobs into both queues in a loop."""
    while not over.wait(2.0):
        library.push(url, QUEUES[0], ["a mail"] * jobs)
        library.push(url, QUEUES[1], ["an invoice"] * max(1, jobs // 2))


async def taken(app: QmonApp) -> str:
    """Return the picture after some time of watching."""
    async with app.run_test(size=SIZE) as pilot:
        await pilot.pause(WATCHED_S)
        return app.export_screenshot(title="qmon")


def picture(folder: Path) -> Path:
    """Write ``libraries.svg`` into the folder."""
    file = folder / "libraries.svg"
    with (
        EmbeddedServer() as server,
        tempfile.TemporaryDirectory(prefix="qmon-pictures-") as logs,
        load(server.url(), Path(logs)),
    ):
        poller = open_poller(target_of(server.url()), interval_s=1.0, budget=parse_budget(BUDGET))
        try:
            file.write_text(
                asyncio.run(taken(QmonApp(DashboardTarget(poller, TargetHistory().record_snapshot)))), encoding="utf-8"
            )
        finally:
            poller.close()
    return file
