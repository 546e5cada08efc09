"""Remove values that cover only part of the sessions or of the work from a snapshot, and add the reason.

A role without permission to see other sessions still gets rows: its own. With ``track_activities`` or ``track_counts``
off, rows are empty. Such rows look like a quiet server. Masked columns return values that look like real ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from qmon.model.layout.layout import Layout
from qmon.model.reasons import Reason
from qmon.model.samples.horizon import HolderKind, HorizonSample
from qmon.model.samples.messages import NO_DIAGNOSTICS
from qmon.model.samples.polled import ServerSample
from qmon.model.samples.waits import WaitSource
from qmon.model.snapshot import SESSIONS_PROBE, ProbeFailure, QueueSamples, Snapshot
from qmon.model.waits.horizon_holders import culprit

_NO_RIGHT: Final = "our role sees only its own sessions: the waits, statements and ages of others are unknown"

# Figures computed from columns that identify a message or contain its state.
_OF_ROWS: Final = (
    "ready",
    "in_progress",
    "stuck",
    "scheduled",
    "dead",
    "blocked",
    "blocked_oldest",
    "oldest",
    "gap",
    "fill",
)


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
    # A long holder is a finding even if only some sessions are visible.
    if culprit(horizon) is None and _is_partial(horizon, server):
        horizon = None
    queues = snapshot.queues if server.counts else tuple(map(_uncounted, snapshot.queues))
    return replace(
        snapshot,
        waits=waits,
        waits_total=totals,
        horizon=horizon,
        queues=queues,
        failures=(*snapshot.failures, *failures),
    )


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
        found.append(ProbeFailure("track_counts", Reason.COUNTERS_OFF))
    return tuple(found)


def _uncounted(q: QueueSamples) -> QueueSamples:
    """Remove the queue's rates if they are derived from the table's counters."""
    if q.counters is None or q.ring is not None or q.totals is not None:
        return q
    return replace(q, counters=replace(q.counters, counted=False), unknown={"rates": Reason.COUNTERS_OFF, **q.unknown})


def withhold_masked(q: QueueSamples, masked: Mapping[str, str], order_by: str | None) -> QueueSamples:
    """Return the samples without values that come from masked columns, with the reasons in ``unknown``.

    The server compares the real value in a condition but returns the mask for each expression on such a column. qmon
    does not check which statement does what: a figure that may be derived from a mask is unknown.

    Args:
        samples: the samples of a queue.
        masked: the remedy, by masked column.
        order_by: the column along which the head is sought.
    """
    layout = q.layout
    every = _masked(masked, *_telling(layout), order_by)
    if every is not None:
        return replace(
            q,
            head=None,
            last_id=None,
            progress=None,
            in_progress_ids=None,
            held=None,
            locked=(),
            scheduled=None,
            dead=None,
            blocked=None,
            ring=None,
            depth=None,
            count=None,
            diagnostics=NO_DIAGNOSTICS,
            strange=None,
            messages=None,
            page=None,
            unknown={**q.unknown, **dict.fromkeys(_OF_ROWS, every)},
        )
    owner = layout.owner.column if layout.owner is not None else None
    if masked.keys() & {owner, layout.enqueued_at, layout.started_at, layout.attempts, layout.priority}:
        q = replace(q, diagnostics=NO_DIAGNOSTICS)
    payload = layout.payload if layout.data_table is None else None
    shown = {"owner": owner, "payload": payload, "error": layout.error}
    hidden: dict[str, Any] = {field: None for field, column in shown.items() if column in masked}
    if hidden and q.messages is not None:
        q = replace(q, messages=tuple(replace(each, **hidden) for each in q.messages))
    pushed = _masked(masked, layout.enqueued_at)
    if pushed is not None:
        head, ring = q.head and replace(q.head, oldest_s=None), q.ring and replace(q.ring, oldest_s=None)
        q = replace(q, head=head, ring=ring, count=None, unknown={**q.unknown, "oldest": pushed})
    taken = _masked(masked, layout.started_at)
    if taken is not None:
        progress = q.progress and replace(q.progress, stuck=None, longest_s=None)
        q = replace(q, progress=progress, in_progress_ids=None, count=None, unknown={**q.unknown, "stuck": taken})
    return q


def _masked(masked: Mapping[str, str], *columns: str | None) -> str | None:
    """Return the first of these columns that is masked, and the remedy, in one line."""
    for column in columns:
        if column is not None and column in masked:
            return Reason.MASKED.format(column=column, grant=masked[column])
    return None


def _telling(layout: Layout) -> tuple[str | None, ...]:
    """Return the columns that identify a message and contain its state."""
    ring = (layout.ring.slot, layout.ring.turn, layout.ring.message_id, layout.ring.unread) if layout.ring else ()
    return (*layout.ids, layout.state.column if layout.state is not None else None, layout.due_at, *ring)
