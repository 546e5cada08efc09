"""Detect that rows move while the counters of their table do not change. A rate of 0 is then wrong.

PostgreSQL counts in each session. A session with ``track_counts`` off counts nothing. A session that runs a long
procedure reports nothing until the procedure ends. Idle sessions report up to ten seconds late.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from qmon.model.rates.flow import Flow
from qmon.model.samples.polled_samples import CounterSample
from qmon.model.snapshot import QueueSamples

# If rows moved and the counter did not change, a rate of 0 counts as wrong for this many seconds. The second constant
# is for the rate over the last few seconds. Both are about as long as the time that the rate covers.
RECENT_S: Final = 15.0
LATELY_S: Final = 5.0


@dataclass(slots=True)
class _Movement:
    """One kind of movement. ``seen_at``: when rows last moved but the counter did not change; server clock, seconds."""

    total: float | None = None
    seen_at: float | None = None

    def record_total(self, total: float, at: float, *, moved: bool) -> None:
        """Record the counter's total, and whether rows have moved since the previous poll."""
        if total != self.total:
            self.total, self.seen_at = total, None
        elif moved:
            self.seen_at = at

    def contradicts(self, at: float, within_s: float = RECENT_S) -> bool:
        """Return whether rows, but not the counter, have moved in the last ``within_s`` seconds."""
        return self.seen_at is not None and at - self.seen_at <= within_s


@dataclass(slots=True)
class StandingCounters:
    """Tells which counters of one queue may miss work. Not thread-safe.

    ``pushes``, ``pops``: as of the last poll, the counters for this rate do not change while rows move.
    ``pops_lately``: like ``pops``, but for the last few seconds. A session that waits for a lock may not have reported
    its last pops yet.
    """

    pushes: bool = False
    pops: bool = False
    pops_lately: bool = False
    unchecked_s: float = 0.0
    _inserted: _Movement = field(default_factory=_Movement)
    _added: _Movement = field(default_factory=_Movement)
    _left: _Movement = field(default_factory=lambda: _Movement(0.0))
    # Pops that the counters show, since the start.
    _popped: float = 0.0
    _before: QueueSamples | None = None
    # The last issued id when the number of inserted rows last changed.
    _issued: int | None = None
    _looked_at: float | None = None
    _has_shown_rows: bool = False

    def is_proof_missing(self, samples: QueueSamples) -> bool:
        """Return whether the rows of this poll cannot confirm counters that stand still.

        Counters prove nothing until the first poll since the start or a gap that shows which rows are ready, and while
        the first count of the table is under way. If no poll shows the rows, the counters are all that is known.
        """
        if samples.counters is None or not _counts_by_session(samples.counters):
            return False
        return not self._has_shown_rows and (_shows_rows(samples) or samples.counting is not None)

    def record_poll(self, samples: QueueSamples, at: float, flow: Flow | None) -> None:
        """Record the samples of one poll, read at ``at`` (server clock, seconds).

        ``flow``: messages moved since the previous poll according to the counters; ``None`` after a gap. Only counted
        pops explain why rows left ``ready``. A session may report completions now and its pops seconds later.
        """
        counters = samples.counters
        if counters is None or not _counts_by_session(counters):
            return
        if flow is None:
            self._inserted, self._added, self._before = _Movement(), _Movement(), None
            self._left, self._has_shown_rows = _Movement(self._popped), False
        if samples.head is None:  # the probe was left out or failed
            self.unchecked_s = 0.0 if self._looked_at is None else at - self._looked_at
            return
        self._looked_at, self.unchecked_s = at, 0.0
        self._has_shown_rows = self._has_shown_rows or _shows_rows(samples)
        before, self._before = self._before, samples
        updated = counters.updated if samples.layout.state is not None else 0
        through = _has_passed_through(before, samples)
        left = _has_head_left(before, samples)
        if counters.inserted != self._inserted.total:
            self._issued = samples.last_id
        head = _head_number(samples)
        new = left and head is not None and self._issued is not None and head > self._issued
        self._inserted.record_total(counters.inserted, at, moved=through or new)
        self._added.record_total(counters.inserted + updated, at, moved=_has_grown(before, samples, replaced=left))
        # Rows were added without being counted, so other rows may also have left without being counted.
        hidden = self._added.seen_at is not None and _issued_more_than_grew(before, samples)
        gone = through or left or hidden or _has_shrunk(before, samples) or _are_more_in_progress(before, samples)
        if flow is not None and flow.popped is not None:
            self._popped += flow.popped
            self._left.record_total(self._popped, at, moved=gone)
        self.pushes = self._inserted.contradicts(at) or self._added.contradicts(at)
        self.pops = self._left.contradicts(at)
        self.pops_lately = self._left.contradicts(at, LATELY_S)


def _counts_by_session(counters: CounterSample) -> bool:
    """Return whether each session counts its own work, as in PostgreSQL. In SQL Server, the server counts."""
    return counters.counted and counters.modified_since_analyze is not None


def ready_rows(samples: QueueSamples) -> int | None:
    """Return the number of ready rows; ``None`` if not all were counted."""
    return samples.head.counted if samples.head is not None and samples.head.counted < samples.head_limit else None


def _head_number(samples: QueueSamples) -> int | None:
    """Return the id of the head as a number, if the queue is popped in id order."""
    if samples.head is None or samples.layout.traits.order != "fifo" or samples.layout.due_at is not None:
        return None
    text = samples.head.head_id or ""
    return int(text) if text.removeprefix("-").isdecimal() else None


def _shows_rows(samples: QueueSamples) -> bool:
    return ready_rows(samples) is not None or _head_number(samples) is not None


def _has_grown(before: QueueSamples | None, samples: QueueSamples, *, replaced: bool) -> bool:
    """Return whether rows have become ready: there are more than before, or as many although the head left.

    False for queues with due times.
    """
    then, now = (None if before is None else ready_rows(before)), ready_rows(samples)
    if then is None or now is None or samples.layout.due_at is not None:
        return False
    return now > then or (replaced and now == then)


def _has_shrunk(before: QueueSamples | None, samples: QueueSamples) -> bool:
    then, now = (None if before is None else ready_rows(before)), ready_rows(samples)
    return then is not None and now is not None and now < then


def _issued_more_than_grew(before: QueueSamples | None, samples: QueueSamples) -> bool:
    """Return whether more ids were issued than rows were added. Messages may have been pushed and popped in between."""
    then, now = (None if before is None else ready_rows(before)), ready_rows(samples)
    if before is None or then is None or now is None or before.last_id is None or samples.last_id is None:
        return False
    return samples.last_id - before.last_id > max(0, now - then)


def _has_head_left(before: QueueSamples | None, samples: QueueSamples) -> bool:
    """Return whether the head row is no longer ready: the head has a greater id now."""
    then, now = (None if before is None else _head_number(before)), _head_number(samples)
    return then is not None and now is not None and now > then


def _are_more_in_progress(before: QueueSamples | None, samples: QueueSamples) -> bool:
    """Return whether more rows are in progress than before, so that some were popped."""
    if before is None or before.progress is None or samples.progress is None:
        return False
    return samples.progress.in_progress > before.progress.in_progress


def _has_passed_through(before: QueueSamples | None, samples: QueueSamples) -> bool:
    """Return whether ids were issued although no row was ready at either poll.

    Ids are also issued for rows that are never inserted, so this proves nothing while rows are ready. A sequence that
    has issued nothing yet has no last id.
    """
    if before is None or samples.last_id is None or ready_rows(before) != 0 or ready_rows(samples) != 0:
        return False
    return before.last_id is None or samples.last_id > before.last_id
