"""Failed messages of a redrive, and the number at which it stops."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from qmon.operate.run import failure_watch
from qmon.operate.run.failure_watch import FailureText, FailureWatch, Outcome


class Queue:
    """The outcome of messages, by id, and the ids that were looked up."""

    def __init__(self, **known: str) -> None:
        self.known, self.asked, self.now = known, list[tuple[str, ...]](), 0.0

    def look(self, ids: Sequence[str]) -> list[Outcome]:
        """Return the outcomes of existing messages."""
        self.asked.append(tuple(ids))
        return [Outcome(id, self.known[id]) for id in ids if id in self.known]

    def watch(self, most: int | None) -> FailureWatch:
        """Return a watch that uses the clock of this queue."""
        return FailureWatch(most, self.look, lambda: self.now)

    def later(self, watch: FailureWatch) -> str | None:
        """Return the reason to stop, a second later."""
        self.now += 1.0
        return watch.why_stop()


def test_each_message_counts_once_and_so_many_failures_end_it() -> None:
    queue = Queue(a="failed", b="waiting", c="done")
    watch = queue.watch(2)
    watch.record_batch(lambda: ["a", "b", "c", "gone"])
    watch.record_commit()
    assert watch.why_stop() is None and not queue.asked  # not at once
    assert queue.later(watch) is None
    assert watch.progress_text() == FailureText.PROGRESS.render(failed=1, stops=FailureText.STOPS_AT.render(count=2))
    queue.known["b"] = "failed"
    assert queue.later(watch) == FailureText.STOPPED.render(messages="2 messages")
    assert queue.asked == [("a", "b", "c", "gone"), ("b",)]
    assert watch.summary_text(6) == FailureText.SUMMARY.render(failed=2, finished=2, rest=2)


def test_what_was_rolled_back_is_not_watched_and_no_number_ends_nothing() -> None:
    queue = Queue(a="failed", b="failed")
    watch = queue.watch(None)
    watch.record_batch(lambda: ["a"])
    watch.record_batch(lambda: ["b"])  # the batch of a was rolled back
    watch.record_commit()
    assert queue.later(watch) is None
    assert queue.asked == [("b",)]


def test_a_look_is_bounded_and_those_that_wait_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failure_watch, "MAX_READ", 2)
    queue = Queue(a="waiting", b="waiting", c="failed")
    watch = queue.watch(1)
    watch.record_batch(lambda: ["a", "b", "c"])
    watch.record_commit()
    assert queue.later(watch) is None
    assert queue.later(watch) == FailureText.STOPPED.render(messages="1 message")
    assert queue.asked == [("a", "b"), ("c", "a")]


def test_nothing_is_asked_where_nobody_can_tell() -> None:
    watch = FailureWatch(1, None)
    watch.record_batch(lambda: pytest.fail("their ids are not needed"))
    watch.record_commit()
    assert watch.why_stop() is None
    assert watch.summary_text(3) == watch.progress_text() == FailureText.UNSEEN
