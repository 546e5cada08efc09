"""The list of screens. A screen's module is imported when the screen is first shown."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from textual.screen import Screen


@dataclass(frozen=True, slots=True)
class ScreenEntry:
    """One screen. ``place``: its ``module:class``. ``about``: the text in the palette and the help.

    ``covers_all_targets``: if several targets are watched, this screen exists once and shows all targets. Other screens
    exist once per target.
    """

    name: str
    digit: str
    title: str
    about: str
    place: str
    covers_all_targets: bool = False

    def make_screen(self) -> Screen[Any]:
        """Import the screen's module and return a new screen."""
        return _make_screen(self.place)


def _make_screen(place: str, *arguments: object) -> Screen[Any]:
    module, _, name = place.partition(":")
    made: Screen[Any] = getattr(import_module(module), name)(*arguments)
    return made


ENTRIES: Final = (
    ScreenEntry(
        "overview", "1", "overview", "All queues, worst first", "qmon.tui.overview.overview_screen:OverviewScreen"
    ),
    ScreenEntry("queue", "2", "queue", "The queue under the cursor", "qmon.tui.queue.queue_screen:QueueScreen"),
    ScreenEntry(
        "waits",
        "3",
        "waits",
        "Waits, latches, the holder of the horizon, rows and buffers per pop",
        "qmon.tui.waits.waits_screen:WaitsScreen",
    ),
    ScreenEntry(
        "blocking",
        "4",
        "blocking",
        "Lock chains, head blockers on top",
        "qmon.tui.blocking.blocking_screen:BlockingScreen",
    ),
    ScreenEntry(
        "history",
        "5",
        "history",
        "Plot the history of a queue with its usual range",
        "qmon.tui.history.history_screen:HistoryScreen",
    ),
    ScreenEntry(
        "operations",
        "6",
        "operations",
        "Operations with user and result, and whether you can undo each operation",
        "qmon.tui.operations.operations_screen:OperationsScreen",
    ),
    ScreenEntry(
        "timeline",
        "7",
        "event log",
        "Events of all queues: verdicts, operations, connections, alerts",
        "qmon.tui.timeline.timeline_screen:TimelineScreen",
        covers_all_targets=True,
    ),
)

# These two screens are added if several targets are watched: the first is put before `ENTRIES`, and the second after
# them.
FLEET_ENTRIES: Final = (
    ScreenEntry(
        "targets",
        "0",
        "targets",
        "All targets, worst first",
        "qmon.tui.fleet.targets_screen:TargetsScreen",
        covers_all_targets=True,
    ),
    ScreenEntry(
        "all-queues",
        "8",
        "all queues",
        "Queues of all targets, worst first",
        "qmon.tui.fleet.all_queues_screen:AllQueuesScreen",
        covers_all_targets=True,
    ),
)

# Screens about one queue, which a key opens over another screen, keyed by name.
_DETAILS: Final = {
    "failures": "qmon.tui.failures.failures_screen:FailuresScreen",
    "consumers": "qmon.tui.consumers.consumers_screen:ConsumersScreen",
}

_SERVER_HEALTH: Final = "qmon.tui.waits.server_health_dialog:ServerHealthDialog"


def make_server_health_dialog() -> Screen[Any]:
    """Import the dialog about the server of the shown target and return a new dialog."""
    return _make_screen(_SERVER_HEALTH)


def make_detail_screen(name: str, queue: str) -> Screen[Any]:
    """Import a screen about one queue and return a new screen."""
    return _make_screen(_DETAILS[name], queue)
