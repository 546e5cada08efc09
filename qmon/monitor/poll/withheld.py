"""Takes out of a snapshot what shows only a part of the sessions or of the work, and puts in why it is unknown.

A role without the right to see other sessions still gets rows: its own. ``track_activities`` and ``track_counts`` leave
rows with nothing in them. Such rows look like a quiet server.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from qmon.model.samples.horizon import HolderKind, HorizonSample
from qmon.model.samples.polled import ServerSample
from qmon.model.samples.waits import WaitSource
from qmon.model.snapshot import SESSIONS_PROBE, ProbeFailure, QueueSamples, Snapshot
from qmon.model.waits.horizon_holders import culprit

_NO_RIGHT: Final = "our role sees only its own sessions: the waits, statements and ages of others are unknown"
_NO_COUNTS: Final = "track_counts is off on this server: nothing counts the rows that are pushed and popped"


def withhold_partial(snapshot: Snapshot, grant: str) -> Snapshot:
    """Return the snapshot with every partial sample made unknown, and a failure with the reason for each kind.

    ``grant``: the statement that lets our role see all sessions.
    """
    failures = _failures(snapshot.server, grant)
    if not failures:
        return snapshot
    server, waits, totals, horizon = snapshot.server, snapshot.waits, snapshot.waits_total, snapshot.horizon
    if not server.sees_sessions:
        waits = None
        totals = None if totals is not None and totals.source is WaitSource.SAMPLED else totals
    if culprit(horizon) is None and _is_partial(horizon, server):  # a long holder is a finding, even among a part
        horizon = None
    queues = snapshot.queues if server.counts else tuple(map(_uncounted, snapshot.queues))
    return replace(
        snapshot, waits=waits, waits_total=totals, horizon=horizon, queues=queues,
        failures=(*snapshot.failures, *failures),
    )  # fmt: skip


def _is_partial(horizon: tuple[HorizonSample, ...] | None, server: ServerSample) -> bool:
    untimed = any(each.kind == HolderKind.SESSION and each.held_s is None for each in horizon or ())
    return not server.sees_sessions or untimed


def _failures(server: ServerSample, grant: str) -> tuple[ProbeFailure, ...]:
    found: list[ProbeFailure] = []
    if not server.sees_sessions:
        found.append(ProbeFailure(SESSIONS_PROBE, _NO_RIGHT, grant=grant))
    elif server.untracked:
        many = "1 session" if server.untracked == 1 else f"{server.untracked:,} sessions"
        found.append(
            ProbeFailure(SESSIONS_PROBE, f"track_activities is off in {many}: their statements and ages are unknown")
        )
    if not server.counts:
        found.append(ProbeFailure("track_counts", _NO_COUNTS))
    return tuple(found)


def _uncounted(q: QueueSamples) -> QueueSamples:
    """The queue without rates, if they are made of the table's counters."""
    if q.counters is None or q.ring is not None or q.totals is not None:
        return q
    return replace(q, counters=replace(q.counters, counted=False), unknown={"rates": _NO_COUNTS, **q.unknown})
