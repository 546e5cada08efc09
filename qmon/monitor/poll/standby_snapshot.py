"""Adapt polls to a standby, which has the rows of queues, but not the primary's counters, sequences and sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from qmon.model.rates.flow import pops_in_transaction
from qmon.model.reasons import Reason
from qmon.model.samples.message_samples import MessageDiagnostics
from qmon.model.samples.polled_samples import NewestIdSample, ReplicaSample, ServerSample
from qmon.model.snapshot import QueueSamples, Snapshot
from qmon.monitor.probes.probe_statements import ProbeStatement, Results, StatementCache

_RING: Final = ("ready", "in_progress", "oldest", "gap", "fill")


def statements_for_replica(statements: StatementCache) -> list[ProbeStatement]:
    """Return the statement for the state of the replica, if the probe ``server`` does not return this state."""
    return [statements.statement_for("replica")] if statements.has_probe("replica") else []


def with_replica(server: ServerSample, replicas: Sequence[ReplicaSample]) -> ServerSample:
    """Add the state of the replica.

    If the database is in several groups with different states, the state is unknown.
    """
    if len(replicas) != 1:
        return server
    return replace(server, replay_paused=replicas[0].replay_paused, behind_s=replicas[0].behind_s)


def without_primary_data(snapshot: Snapshot, results: Results) -> Snapshot:
    """Remove figures that only the primary has, and add the reasons. ``results``: the results of the poll."""
    uses = snapshot.uses
    if uses is not None:
        uses = tuple(
            replace(
                u, scans=None, rows_read=None, pages=None, own_rows=None, own_pages=None, own_scans=None, ghosts=None
            )
            for u in uses
        )
    newest_id = {queue: rows[0] for (queue, probe), rows in results.items() if probe == "newest_id"}
    queues = tuple(_without_primary_samples(q, newest_id.get(q.layout.queue)) for q in snapshot.queues)
    server = with_replica(snapshot.server, results.get(("", "replica"), ()))
    return replace(snapshot, server=server, queues=queues, uses=uses, statistics=None, clients=None, writers=None)


def _without_primary_samples(samples: QueueSamples, newest_id: NewestIdSample | None) -> QueueSamples:
    unknown = {"rates": Reason.STANDBY_COUNTERS}
    if samples.layout.ring is not None:
        unknown |= dict.fromkeys(_RING, Reason.STANDBY_SEQUENCES)
    elif newest_id is None:
        unknown["gap"] = Reason.STANDBY_SEQUENCES
    if pops_in_transaction(samples.layout):
        unknown |= dict.fromkeys(("in_progress", "stuck"), Reason.STANDBY_SESSIONS)
    return replace(
        samples,
        ring=None,
        last_id=newest_id.last_id if newest_id is not None else None,
        held=None,
        locked=(),
        elsewhere=Reason.STANDBY_COUNTERS,
        diagnostics=MessageDiagnostics(priorities=samples.diagnostics.priorities),
        unknown={**unknown, **samples.unknown},
    )
