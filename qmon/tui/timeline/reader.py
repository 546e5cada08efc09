"""Reads events from recordings on a thread of its own, some hundred at a time."""

from __future__ import annotations

from threading import Thread
from typing import Final

from textual.message import Message
from textual.message_pump import MessagePump

from qmon.recording.history.recording_archive import RecordingArchive
from qmon.recording.history.timeline import TimelineEvent
from qmon.recording.history.timeline_query import recorded_events

_EVENTS_PER_READ: Final = 200


class EventsRead(Message):
    """More events were read, older than the previous ones. ``whole``: there are no others."""

    def __init__(self, events: tuple[TimelineEvent, ...], *, whole: bool) -> None:
        super().__init__()
        self.events = events
        self.whole = whole


class EventsReader:
    """Reads the events of an archive before a moment. Use it on the screen's thread only."""

    def __init__(self, archive: RecordingArchive, before_at: float, receiver: MessagePump) -> None:
        # True once all events were read.
        self.is_complete = False
        self.is_reading = False
        self._stopped = False
        self._events = recorded_events(archive, before_at, lambda: self._stopped)
        self._receiver = receiver

    def read_more(self) -> None:
        """Read more events, unless a read is running. Posts ``EventsRead``."""
        if self.is_reading or self.is_complete or self._stopped:
            return
        self.is_reading = True

        def run() -> None:
            found: list[TimelineEvent] = []
            whole = True
            for events in self._events:
                found += events
                if len(found) >= _EVENTS_PER_READ:
                    whole = False
                    break
            self._receiver.post_message(EventsRead(tuple(found), whole=whole))

        Thread(target=run, name="qmon-events", daemon=True).start()

    def finish_read(self, message: EventsRead) -> None:
        """Record that a read has finished. Call it when ``EventsRead`` arrives."""
        self.is_reading, self.is_complete = False, message.whole

    def stop(self) -> None:
        """Stop reading."""
        self._stopped = True
