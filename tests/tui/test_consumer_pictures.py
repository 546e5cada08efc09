"""The consumers of a queue as a picture. After an intended change, run with ``--snapshot-update``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.layout.layout import OwnerColumn
from qmon.model.samples.client_samples import ProgramSessionSample
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.sessions.clients import ClientsSeen
from qmon.model.view import View
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import SAMPLED_AT, view

SESSIONS = (
    ProgramSessionSample(4711, SAMPLED_AT - 86_400.0, "mailer-1", "app", "active", 2.0, 2.0, "Lock", "", "10.0.0.7"),
    ProgramSessionSample(
        4712, SAMPLED_AT - 7_200.0, "mailer-2 [bold]", "app", "idle in transaction", 9.0, 9.0, "Client", ""
    ),
    ProgramSessionSample(
        4713, SAMPLED_AT - 30.0, "mailer-3", "app", "idle", 1.0, 1.0, "Client", "", "app-7.example.org"
    ),
)


def worked_view() -> View:
    """Return a view in which three sessions work on every queue."""
    messages = tuple(
        MessageSample(str(n), "in_progress", 10.0 * n, "4711" if n < 4 else "4712", 1, f'{{"order": {n}}}', None)
        for n in range(1, 6)
    )
    found = view()
    queues = (
        replace(
            queue,
            layout=replace(queue.layout, owner=OwnerColumn("pid", "session")),
            messages=messages,
            page=None,
            consumers_seen=ClientsSeen(3, 2, "table", sessions=SESSIONS),
        )
        for queue in found.queues
    )
    return replace(found, queues=tuple(queues))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_consumers(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot("c", found=worked_view())
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_what_one_consumer_does(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot("c", "enter", found=worked_view())
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)
