"""Covers what must not be seen in payloads before any screen has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qmon.model.snapshot import Snapshot
from qmon.model.view import QueueView, View
from qmon.tui.feed import Fold


def redacted(fold: Fold, redact: Callable[[str], str]) -> Fold:
    """``fold`` with the payloads of its views made fit for a screen; the filter finds only what is seen."""

    def folded(snapshot: Snapshot) -> View:
        view = fold(snapshot)
        if not any(queue.messages for queue in view.queues):
            return view
        return replace(view, queues=tuple(_covered(queue, redact) for queue in view.queues))

    return folded


def _covered(queue: QueueView, redact: Callable[[str], str]) -> QueueView:
    if not queue.messages:
        return queue
    messages = (m if m.payload is None else replace(m, payload=redact(m.payload)) for m in queue.messages)
    return replace(queue, messages=tuple(messages))
