"""Route each notice to the receivers that it concerns. Each receiver has its own thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from qmon.config.credentials import endpoint_for
from qmon.config.receivers import ALERTMANAGER, Receiver
from qmon.model.alerts.notices import Notice
from qmon.monitor.notify.command import CommandDelivery
from qmon.monitor.notify.sender import Deliver, Sender
from qmon.monitor.notify.web import AGAIN_S, WebDelivery


def delivery_for(receiver: Receiver) -> Deliver | None:
    """Return the delivery for a receiver; ``None`` if its secret is not configured. Raises ``BadInput``."""
    if receiver.command:
        return CommandDelivery(receiver)
    found = endpoint_for(receiver)
    return None if found is None else WebDelivery(receiver, found)


class Notifier:
    """Pass notices to the senders of all receivers. Thread-safe; all methods except ``close`` return immediately.

    Args:
        ways: each receiver and its delivery.
    """

    def __init__(self, ways: Sequence[tuple[Receiver, Deliver]]) -> None:
        # Called on any thread with one line when a receiver fails, fails differently, or works again.
        self.on_failure: Callable[[str], object] = lambda _: None
        self._senders = [
            (
                receiver,
                Sender(
                    receiver.name,
                    deliver,
                    report=lambda words: self.on_failure(words),
                    again_s=AGAIN_S if receiver.shape == ALERTMANAGER else None,
                ),
            )
            for receiver, deliver in ways
        ]

    def send(self, notice: Notice) -> None:
        """Send a notice to each receiver that it concerns."""
        for receiver, sender in self._senders:
            if (
                receiver.is_for_target(notice.target)
                and (told := notice.for_min_severity(receiver.severity)) is not None
            ):
                sender.send(told)

    def close(self, patience_s: float) -> list[str]:
        """Retry queued notices for ``patience_s`` seconds; return a line for each receiver that missed a notice."""
        until = time.monotonic() + patience_s
        for _, sender in self._senders:
            sender.close()
        lines = [sender.join(max(0.0, until - time.monotonic())) for _, sender in self._senders]
        return [line for line in lines if line]
