"""Reads events from the recordings of all targets on a separate thread, a few hundred at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import merge
from itertools import islice
from math import inf
from typing import Final

from textual.message import Message
from textual.message_pump import MessagePump

from qmon.recording.history.timeline import TimelineEvent
from qmon.recording.history.timeline_query import recorded_events
from qmon.tui.daemon_thread import start_daemon
from qmon.tui.watched_target import DashboardTarget

_EVENTS_PER_READ: Final = 200

# The name of a target, and an event of this target.
RecordedEvent = tuple[str, TimelineEvent]


class EventsRead(Message):
    """More events were read, older than the previous events. ``is_complete``: there are no older events."""

    def __init__(self, events: Sequence[RecordedEvent], *, is_complete: bool) -> None:
        super().__init__()
        self.events = events
        self.is_complete = is_complete


class EventsReader:
    """Reads recorded events of the targets, newest first. Events that are still in memory are left out.

    Only the thread of the screen may use this object.
    """

    def __init__(self, targets: Sequence[DashboardTarget], receiver: MessagePump) -> None:
        # True after all events were read.
        self.is_complete = False
        self.is_reading = False
        self._events = merge(*map(_events_before_memory, targets), key=lambda found: -found[1].at)
        self._receiver = receiver

    def read_more(self) -> None:
        """Read more events, unless a read is running. Posts ``EventsRead``."""
        if self.is_reading or self.is_complete:
            return
        self.is_reading = True

        def run() -> None:
            found = list(islice(self._events, _EVENTS_PER_READ))
            self._receiver.post_message(EventsRead(found, is_complete=len(found) < _EVENTS_PER_READ))

        start_daemon(run, "qmon-events")

    def finish_read(self, message: EventsRead) -> None:
        """Record that a read has finished. To be called when ``EventsRead`` arrives."""
        self.is_reading, self.is_complete = False, message.is_complete


def _events_before_memory(target: DashboardTarget) -> Iterator[RecordedEvent]:
    if (archive := target.past.archive) is not None:
        before_at = target.memory.oldest_event_at if target.memory is not None else inf
        for events in recorded_events(archive, before_at):
            for event in events:
                yield target.name, event
