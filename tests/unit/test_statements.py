"""The statements of a poll: rendered once, and rendered again if the catalog changes."""

from __future__ import annotations

from dataclasses import replace

from qmon.monitor.catalog.resolve import Resolved
from tests.polled import Polls, queue


def test_an_index_that_was_made_anew_under_another_name_is_asked_for_by_that_name() -> None:
    polls = Polls(1, ["fifo"])
    polls.poll(3)
    layout, facts = queue(0, "fifo")
    renamed = replace(facts, indexes={seek: name.replace("IX_", "New_") for seek, name in facts.indexes.items()})
    polls.collector.watch_queues(Resolved((layout,), {layout.queue: renamed}))
    sent = [each.text for poll in polls.poll(2) for each in poll]
    assert any("New_head" in text for text in sent)
    assert not [text for text in sent if "IX_" in text]
