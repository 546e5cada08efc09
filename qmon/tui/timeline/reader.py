"""Reads events from recordings on a thread of its own, some hundred at a time."""

from __future__ import annotations

from threading import Thread
from typing import Final

from textual.message import Message
from textual.message_pump import MessagePump

from qmon.recording.history.archive import RecordingArchive
from qmon.recording.history.timeline import TimelineEvent
from qmon.recording.history.timeline_query import recorded_events

_AT_ONCE: Final = 200


class EventsRead(Message):
    """More events were read, older than the previous ones. ``whole``: there are no others."""

    def __init__(self, events: tuple[TimelineEvent, ...], *, whole: bool) -> None:
        super().__init__()
        self.events = events
        self.whole = whole


class EventsReader:
    """Reads the events of an archive before a moment. Use it on the screen's thread only."""

    def __init__(self, archive: RecordingArchive, before_at: float, to: MessagePump) -> None:
        # True once all events were read.
        self.whole = False
        self.reading = False
        self._stopped = False
        self._events = recorded_events(archive, before_at, lambda: self._stopped)
        self._to = to

    def more(self) -> None:
        """Read more events, unless a read is running. Posts ``EventsRead``."""
        if self.reading or self.whole or self._stopped:
            return
        self.reading = True

        def run() -> None:
            found: list[TimelineEvent] = []
            whole = True
            for events in self._events:
                found += events
                if len(found) >= _AT_ONCE:
                    whole = False
                    break
            self._to.post_message(EventsRead(tuple(found), whole=whole))

        Thread(target=run, name="qmon-events", daemon=True).start()

    def read(self, message: EventsRead) -> None:
        """Record that a read has finished. Call it when ``EventsRead`` arrives."""
        self.reading, self.whole = False, message.whole

    def stop(self) -> None:
        """Stop reading."""
        self._stopped = True
