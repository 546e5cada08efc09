"""The failures of a queue as a picture. After an intended change, run with ``--snapshot-update``."""

from __future__ import annotations

from dataclasses import replace

import pytest

from qmon.model.figure import Figure
from qmon.model.layout.list_states import FAILED
from qmon.model.samples.listing_samples import PageRequest, PageSample
from qmon.model.samples.polled_samples import MessageSample
from qmon.model.view import View
from tests.tui.pictures import SIZES, Compare, Shot
from tests.tui.scripted import view

ERRORS = (
    ("dead", "timeout after {n} s while connecting to smtp-{n}.example.org:25"),
    ("dead", 'user "{n}" is [bold]not[/bold] known'),
    ("scheduled", "HTTP 503: Service Unavailable"),
    ("dead", None),
)


def failed_view(why: str = "") -> View:
    """Return a view in which the failures of every queue were read."""
    messages = tuple(
        MessageSample(str(n), state, 3_600.0 - n, None, 3, f'{{"order": {n}}}', error and error.format(n=n))
        for n in range(1, 40)
        for state, error in (ERRORS[n % 7 % len(ERRORS)],)
    )
    page = PageSample(PageRequest(FAILED, descending=True), "id", 39, why=why)
    found = view()
    dead, scheduled = (Figure(sum(m.state == state for m in messages)) for state in ("dead", "scheduled"))
    queues = (
        replace(queue, messages=() if why else messages, page=page, dead=dead, scheduled=scheduled)
        for queue in found.queues
    )
    return replace(found, queues=tuple(queues))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_failures(snap_compare: Compare, size: tuple[int, int]) -> None:
    shot = Shot("D", found=failed_view())
    assert snap_compare(shot.app, terminal_size=size, run_before=shot.ready)


def test_failures_that_cannot_be_read(snap_compare: Compare) -> None:
    shot = Shot("D", found=failed_view("the tables of procrastinate have no column for the error of a message"))
    assert snap_compare(shot.app, terminal_size=SIZES[0], run_before=shot.ready)
