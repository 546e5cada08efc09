"""Covers what must not be seen in payloads and statements before any screen has them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from qmon.model.snapshot import Snapshot
from qmon.model.view import QueueView, TargetView, View
from qmon.model.waits.blocking import Forest
from qmon.tui.feed import Fold


def redacted(fold: Fold, redact: Callable[[str], str]) -> Fold:
    """``fold`` with payloads and statements made fit for a screen; the filter finds only what is seen."""

    def folded(snapshot: Snapshot) -> View:
        view = fold(snapshot)
        if view.server.blocking is not None and view.server.blocking.places:
            view = replace(view, server=_statements(view.server, redact))
        if not any(queue.messages for queue in view.queues):
            return view
        return replace(view, queues=tuple(_covered(queue, redact) for queue in view.queues))

    return folded


def _statements(server: TargetView, redact: Callable[[str], str]) -> TargetView:
    places = tuple(
        replace(place, session=replace(place.session, statement=redact(place.session.statement)))
        for place in (server.blocking.places if server.blocking is not None else ())
    )
    pairs = tuple(
        replace(pair, waiter_query=redact(pair.waiter_query), blocker_query=redact(pair.blocker_query))
        for pair in server.blocked or ()
    )
    waiters = server.blocking.waiters if server.blocking is not None else 0
    return replace(server, blocking=Forest(places, waiters), blocked=pairs)


def _covered(queue: QueueView, redact: Callable[[str], str]) -> QueueView:
    if not queue.messages:
        return queue
    messages = (m if m.payload is None else replace(m, payload=redact(m.payload)) for m in queue.messages)
    return replace(queue, messages=tuple(messages))
