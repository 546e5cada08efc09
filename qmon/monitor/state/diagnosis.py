"""Collect evidence about one queue over several polls, and pass it to the rules as one frozen record."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import fields, replace
from typing import Final

from qmon.model.evidence import NO_QUEUE_EVIDENCE, Archiving, Motion, QueueEvidence, Repeated
from qmon.model.figure import Figure
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Side
from qmon.model.probe_constants import COUNT_LIMIT
from qmon.model.probe_table import is_probe_of, probes_for
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.samples.client_samples import MOST_CLIENTS
from qmon.model.samples.polled_samples import CounterSample
from qmon.model.sessions.clients import (
    ClientsSeen,
    SessionIndex,
    identification_for,
    seconds_since_last_statement,
    summarize_clients,
)
from qmon.model.sessions.owners import count_owners
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.model.waits.queue_lock import QueueLock, find_queue_lock
from qmon.monitor.state.message_faults import CrashTrack, DoubleDeliveryTrack, PriorityTrack, TriesTrack
from qmon.monitor.state.newest_messages import ClockTrack, NewestTrack
from qmon.monitor.state.ring_tracks import RingTrack
from qmon.monitor.state.stale_figures import is_locked_rows_probe

_STALE_S: Final = 30.0

# Deletions that are at most this many seconds apart belong to the same run of an archiver.
_RUN_S: Final = 10.0

# A run of at least this many seconds shows that the archiver never pauses.
_STEADY_S: Final = 30.0

# Minimum number of breaks between runs before the longest break counts as the usual one.
_BREAKS: Final = 2

# Maximum seconds of a run. A longer run counts as several runs.
_LONG_RUN_S: Final = 300.0

# Number of runs whose peak of done messages is remembered.
_RUNS: Final = 8

# If no deletion is counted, and live and inserted rows differ by at most this factor, no row was ever deleted.
_KEPT_SHARE: Final = 0.9
_SWEEP: Final = "slot_sweep"

# The probes, or families of probes, that read each field of `QueueEvidence`.
EVIDENCE_PROBES: Final = {field.name: probes for field in fields(QueueEvidence) if (probes := probes_for(field.name))}
_ROWS: Final = EVIDENCE_PROBES["owners"]
_DONE: Final = EVIDENCE_PROBES["archiving"]
_LOCKS: Final = probes_for("locked")


class QueueDiagnosis:
    """The evidence that the verdicts on one queue need from several polls. Not thread-safe.

    If the budget leaves a probe out of a poll, its evidence stays the same, so that verdicts do not flicker. If a probe
    fails, its evidence is used for 30 more seconds. When the probe works again, its evidence continues. Connected
    sessions are forgotten after 30 seconds without a reading.
    """

    def __init__(self) -> None:
        self._producers = ClientsTrack(Side.PRODUCERS)
        self._consumers = ClientsTrack(Side.CONSUMERS)
        self._tries = TriesTrack()
        self._crashes = CrashTrack()
        self._deliveries = DoubleDeliveryTrack()
        self._newest = NewestTrack()
        self._ring = RingTrack()
        self._priorities = PriorityTrack()
        self._archive = ArchiveTrack()
        self._motion = MotionTrack()
        self._last = NO_QUEUE_EVIDENCE
        self._seen_at = self._swept_at = float("-inf")
        self._failing: dict[str, float] = {}
        self._locked: tuple[float, QueueLock | None] = (float("-inf"), None)

    def record_gap(self) -> None:
        """Record a time in which the queue was not read."""
        self._motion.record_gap()

    def record_poll(
        self, snapshot: Snapshot, samples: QueueSamples, done: Figure, sessions: SessionIndex | None
    ) -> QueueEvidence:
        """Record one poll and return the current evidence.

        ``done``: messages that are done and not archived. ``sessions``: the sessions in the snapshot, if it has any.
        """
        layout, messages, at = samples.layout, samples.diagnostics, snapshot.sampled_at
        before, failing = self._last, failing_probes(samples, snapshot)
        missed = (*samples.left_out, *failing)
        if any(is_probe_of(probe, EVIDENCE_PROBES["motion"]) for probe in failing):
            self._motion.record_gap()
        rows_read = not any(is_probe_of(probe, _ROWS) for probe in missed)
        seen = snapshot.clients is not None
        missed_done = samples.counters is None or (
            done.value is None and any(is_probe_of(probe, _DONE) for probe in missed)
        )
        loss = before.ring_loss
        if layout.ring is not None and messages.sweep is not None:
            loss, self._swept_at = self._ring.record_poll(messages, layout.ring.size, at), at
        elif at - self._swept_at > _STALE_S and _SWEEP not in samples.left_out:
            loss = None
        workers = None
        if layout.part is not None:  # the statement of a session does not show which queue the session serves
            sessions = None
            workers = (
                None if samples.workers is None else ClientsSeen(samples.workers, None, "library", quiet_s=_STALE_S)
            )
        wrong_clock, duplicates = self._newest.record_poll(samples, at)
        self._last = QueueEvidence(
            producers=before.producers if sessions is None else self._producers.record_poll(snapshot, layout, sessions),
            consumers=workers
            or (before.consumers if sessions is None else self._consumers.record_poll(snapshot, layout, sessions)),
            owners=count_owners(messages, layout.timeout_s) if rows_read else before.owners,
            repeated=self._repeated_message(samples, at) if rows_read else before.repeated,
            crashes=self._crashes.record_poll(layout, messages, at) if rows_read else before.crashes,
            twice=self._deliveries.record_poll(snapshot, layout, messages) if rows_read and seen else before.twice,
            wrong_clock=wrong_clock,
            duplicates=duplicates,
            starved=self._priorities.record_poll(messages, at) if messages.priorities is not None else before.starved,
            archiving=before.archiving if missed_done else self._archive.record_poll(samples.counters, done, at),
            ring_loss=loss,
            motion=self._motion.record_poll(samples, at),
        )
        self._failing = {probe: self._failing.get(probe, at) for probe in failing}
        if seen:
            self._seen_at = at
        known = self._last if at - self._seen_at <= _STALE_S else replace(self._last, producers=None, consumers=None)
        return _without_evidence({probe for probe, since in self._failing.items() if at - since > _STALE_S}, known)

    @property
    def clock(self) -> ClockTrack:
        """The push times of the newest messages."""
        return self._newest.clock

    def locking_session(self, snapshot: Snapshot, samples: QueueSamples) -> QueueLock | None:
        """Return the session that locks all rows of the queue.

        If this poll could not read the locks or sessions, returns a finding of the last 30 seconds instead.
        """
        at = snapshot.sampled_at
        found = find_queue_lock(samples, snapshot, in_transaction=pops_in_transaction(samples.layout))
        missed = (
            *(probe for probe in samples.left_out if not is_locked_rows_probe(probe)),
            *failing_probes(samples, snapshot),
        )
        unseen = snapshot.blocking is None or (bool(samples.locked) and snapshot.writers is None)
        unseen = unseen or any(is_probe_of(probe, _LOCKS) for probe in missed)
        if found is not None or not unseen or at - self._locked[0] > _STALE_S:
            self._locked = at, found
        return self._locked[1]

    def _repeated_message(self, samples: QueueSamples, at: float) -> Repeated | None:
        head = None if samples.held_counted else samples.head
        return self._tries.record_poll(
            samples.diagnostics, at, head=head, none_held=samples.held == () and samples.held_at is None
        )


def failing_probes(samples: QueueSamples, snapshot: Snapshot) -> tuple[str, ...]:
    """Return the failed probes of this poll that concern this queue or the whole target."""
    return tuple(each.probe for each in snapshot.failures if each.queue in ("", samples.layout.queue))


def _without_evidence(old: Collection[str], evidence: QueueEvidence) -> QueueEvidence:
    """Remove the evidence of probes that have failed for too long."""
    lost = {
        name: getattr(NO_QUEUE_EVIDENCE, name)
        for name, probes in EVIDENCE_PROBES.items()
        if any(is_probe_of(probe, probes) for probe in old)
    }
    return replace(evidence, **lost) if lost else evidence


class ClientsTrack:
    """The sessions of one side of one queue. Not thread-safe."""

    def __init__(self, side: Side) -> None:
        self._side = side
        self._members: set[tuple[int, float | None]] = set()
        self._last_at: float | None = None
        self._known_by: tuple[Layout, str] | None = None

    def record_poll(self, snapshot: Snapshot, layout: Layout, sessions: SessionIndex) -> ClientsSeen | None:
        """Record one poll and return the sessions; ``None`` if sessions or their statements are not visible."""
        if self._known_by is None or self._known_by[0] is not layout:
            self._known_by = layout, identification_for(layout, self._side)
        by = self._known_by[1]
        patterns = layout.producers if self._side is Side.PRODUCERS else layout.consumers
        hidden = not snapshot.server.sees_sessions or sessions.hidden
        if hidden and (by != "pattern" or patterns.procedure is not None):
            return None
        self._members &= sessions.places.keys()
        self._members.update(client.key for client in sessions.find_clients(layout, self._side))
        members = [sessions.all[place] for place in sorted(sessions.places[key] for key in self._members)]
        connected, waiting, one = summarize_clients(members, self._members)
        if connected:
            self._last_at = snapshot.sampled_at
        left_s = None if self._last_at is None else snapshot.sampled_at - self._last_at
        return ClientsSeen(
            connected,
            None if hidden else waiting,
            by,
            one,
            others=len(sessions.all) - connected,
            left_s=left_s,
            has_all_sessions=len(sessions.all) < MOST_CLIENTS,
            quiet_s=seconds_since_last_statement(members, self._members),
            sessions=tuple(members),
        )


class ArchiveTrack:
    """The done messages of one queue: how their number grows, and when rows were last deleted from the table."""

    def __init__(self) -> None:
        self._deleted: int | None = None
        self._before = self._least = 0.0
        self._began_at = 0.0
        # The start and the current end of the newest run of deletions. `_peaks`: the peak of done messages in each run.
        self._run: tuple[float, float] | None = None
        self._peaks: deque[float] = deque(maxlen=_RUNS)
        self._breaks = 0
        self._longest_s = 0.0
        self._steady = False

    def record_poll(self, counters: CounterSample | None, done: Figure, at: float) -> Archiving | None:
        """Record one poll at ``at`` (server clock, seconds); ``None`` if the number of done messages is unknown."""
        if counters is None or done.value is None:
            return None
        if self._deleted is None or counters.deleted < self._deleted:
            self._began_at, self._run, self._least = at, None, done.value
            self._breaks, self._longest_s, self._steady = 0, 0.0, False
            self._peaks.clear()
        elif counters.deleted > self._deleted:
            self._record_deletion(at)
            self._least = done.value
        self._deleted, self._before, self._least = counters.deleted, done.value, min(self._least, done.value)
        silent_s = at - (self._began_at if self._run is None else self._run[1])
        kept = _KEPT_SHARE * counters.inserted <= counters.live <= counters.inserted / _KEPT_SHARE
        usual_s = self._longest_s if self._steady or self._breaks >= _BREAKS else None
        return Archiving(
            done.value,
            done.value - self._least,
            silent_s,
            usual_s,
            max(self._peaks, default=None),
            untouched=counters.deleted == 0 and kept,
        )

    def _record_deletion(self, at: float) -> None:
        began_at, last_at = self._run or (at, at)
        rested_s, ran_s = at - last_at, at - began_at
        if rested_s > _RUN_S:
            self._breaks, self._longest_s = self._breaks + 1, max(self._longest_s, rested_s)
        elif ran_s >= _STEADY_S:
            self._steady = True
        if self._run is None or rested_s > _RUN_S or ran_s > _LONG_RUN_S:
            began_at = at
            self._peaks.append(0.0)
        self._run = began_at, at
        self._peaks[-1] = max(self._peaks[-1], self._before)


# The push time of the same oldest message may differ by this many seconds between two polls.
_SAME_S: Final = 1.0


class MotionTrack:
    """The head and the depth of one queue, from poll to poll. Not thread-safe."""

    def __init__(self) -> None:
        self._head: tuple[str | None, float | None] | None = None
        self._rows: dict[str, float] = {}
        self._began_at = self._read_at = 0.0
        self._moved_at: float | None = None

    def record_gap(self) -> None:
        """Record a time in which the queue was not read. Messages may have left it and others arrived."""
        self._head, self._rows = None, {}

    def record_poll(self, samples: QueueSamples, at: float) -> Motion | None:
        """Record one poll at ``at`` (server clock, seconds); ``None`` until the queue has been counted.

        A queue moves if it has another head or fewer rows. It does not stand still while a transaction holds rows,
        because consumers skip a locked head.
        """
        first = not self._rows
        moved = self._has_head_moved(samples, at) | self._have_rows_fallen(samples)
        if moved and not first:
            self._moved_at = at
        if any(holder.running for holder in (*(samples.held or ()), *samples.locked)):
            self._began_at = at
        if not self._rows:
            return None
        moved_s = None if self._moved_at is None else at - self._moved_at
        if self._head is None:
            return Motion(None, None, moved_s)
        # The time ends at the newest poll that read the head, because the head may have moved after that poll.
        since = self._began_at if self._moved_at is None else max(self._began_at, self._moved_at)
        return Motion(self._head[0], max(0.0, self._read_at - since), moved_s)

    def _has_head_moved(self, samples: QueueSamples, at: float) -> bool:
        if samples.head is None:
            return False
        pushed_at = None if samples.head.oldest_s is None else at - samples.head.oldest_s
        known = samples.head.counted > 0 and (samples.head.head_id is not None or pushed_at is not None)
        now = (samples.head.head_id, pushed_at) if known else None
        before, self._head, self._read_at = self._head, now, at
        if now is not None and before is not None and _is_same_head(now, before):
            self._head = before  # keep the old time, so that a slow drift adds up and finally counts as a move
            return False
        self._began_at = at
        return before is not None and now != before

    def _have_rows_fallen(self, samples: QueueSamples) -> bool:
        now: dict[str, float] = {}
        if samples.head is not None and (samples.head.counted < samples.head_limit or samples.head_limit > COUNT_LIMIT):
            now["head"] = float(samples.head.counted)
        if (counted := samples.depth or samples.count) is not None:
            now["depth" if samples.depth is not None else "count"] = float(counted.ready)
        fell = any(rows < self._rows.get(source, 0.0) for source, rows in now.items())
        self._rows |= now
        return fell


def _is_same_head(one: tuple[str | None, float | None], other: tuple[str | None, float | None]) -> bool:
    if one[0] is not None or other[0] is not None:
        return one[0] == other[0]
    return one[1] is not None and other[1] is not None and abs(one[1] - other[1]) <= _SAME_S
