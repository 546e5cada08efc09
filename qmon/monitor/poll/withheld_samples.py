"""Remove values from a snapshot that cover only some sessions or only some of the work, and add the reasons.

A role without permission to see other sessions still gets the rows of its own sessions. If ``track_activities`` or
``track_counts`` is off, values are empty or 0. In both cases, the server looks idle. Masked columns return values that
look real.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from qmon.model.formatting import count_text
from qmon.model.groups.conditions import ColumnRef, Condition, TableColumn, columns_read
from qmon.model.groups.group import STATE_KINDS, Group, StateKind
from qmon.model.layout.layout import Layout
from qmon.model.layout.list_states import FAILED
from qmon.model.queue_figures import DIRECT_FIGURES, QUEUE_FIGURES
from qmon.model.rates.flow import pops_in_transaction
from qmon.model.reasons import Reason
from qmon.model.samples.horizon_samples import HolderKind, HorizonSample
from qmon.model.samples.message_samples import NO_DIAGNOSTICS
from qmon.model.samples.polled_samples import ServerSample, StrangeStates
from qmon.model.samples.wait_samples import WaitSource
from qmon.model.snapshot import SESSIONS_PROBE, ProbeFailure, QueueSamples, Snapshot
from qmon.model.waits.horizon_holders import long_holder
from qmon.monitor.catalog.column_names import state_for_value
from qmon.texts import Text


class VisibilityText(Text):
    """Why the server hides other sessions."""

    OWN_SESSIONS_ONLY = (
        "your role sees only its own sessions: the waits, statements and ages of other sessions are unknown"
    )
    UNTRACKED = "track_activities is off in {sessions}: their statements and ages are unknown"


# Figures computed from columns that identify a message or contain its state.
_OF_ROWS: Final = (*(figure.field for figure in QUEUE_FIGURES if figure.of_rows), "gap", "fill")


def withhold_partial(snapshot: Snapshot, grant: str) -> Snapshot:
    """Remove partial samples from the snapshot. Add a failure for each reason.

    ``grant``: the statement that lets our role see all sessions.
    """
    failures = _visibility_failures(snapshot.server, grant)
    if not failures:
        return snapshot
    server, waits, totals, horizon = snapshot.server, snapshot.waits, snapshot.waits_total, snapshot.horizon
    if not server.sees_sessions:
        waits = None
        totals = None if totals is not None and totals.source is WaitSource.SAMPLED else totals
    # A long holder is a finding even if only some sessions are visible.
    if long_holder(horizon) is None and _is_partial(horizon, server):
        horizon = None
    queues = snapshot.queues if server.counts else tuple(map(_without_rates, snapshot.queues))
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


def _visibility_failures(server: ServerSample, grant: str) -> tuple[ProbeFailure, ...]:
    found: list[ProbeFailure] = []
    if not server.sees_sessions:
        found.append(ProbeFailure(SESSIONS_PROBE, VisibilityText.OWN_SESSIONS_ONLY, grant=grant))
    elif server.untracked:
        sessions = count_text(server.untracked, "session")
        found.append(ProbeFailure(SESSIONS_PROBE, VisibilityText.UNTRACKED.render(sessions=sessions)))
    if not server.counts:
        found.append(ProbeFailure("track_counts", Reason.COUNTERS_OFF))
    return tuple(found)


def _without_rates(samples: QueueSamples) -> QueueSamples:
    """Remove the queue's rates if they are derived from the table's counters."""
    if samples.counters is None or samples.ring is not None or samples.totals is not None:
        return samples
    return replace(
        samples,
        counters=replace(samples.counters, counted=False),
        unknown={"rates": Reason.COUNTERS_OFF, **samples.unknown},
    )


@dataclass(frozen=True, slots=True)
class FigureColumns:
    """The columns from which the figures of a queue are computed, each with its table.

    ``rows``: the columns that identify a message and show its queue and state; all figures about rows need these
    columns. ``oldest``, ``stuck`` and ``blocked``: the times from which these figures are measured. ``owners``: the
    owner of a message. ``attempts``: the number of its attempts. ``diagnostics``: further columns for verdicts about
    single messages. ``steps``: the columns from which rates are counted; empty if the rates come from the server's
    counters. ``workers``, ``blockers``: columns of a library's tables.
    """

    rows: frozenset[TableColumn]
    oldest: frozenset[TableColumn] = frozenset()
    stuck: frozenset[TableColumn] = frozenset()
    blocked: frozenset[TableColumn] = frozenset()
    owners: frozenset[TableColumn] = frozenset()
    attempts: frozenset[TableColumn] = frozenset()
    diagnostics: frozenset[TableColumn] = frozenset()
    payloads: frozenset[TableColumn] = frozenset()
    errors: frozenset[TableColumn] = frozenset()
    steps: frozenset[TableColumn] = frozenset()
    workers: frozenset[TableColumn] = frozenset()
    blockers: frozenset[TableColumn] = frozenset()

    @property
    def all_columns(self) -> frozenset[TableColumn]:
        """All these columns."""
        return frozenset().union(*(getattr(self, field.name) for field in fields(self)))


def columns_of_layout(layout: Layout, order_by: str | None) -> FigureColumns:
    """Return the columns from which the figures of a table's queue are computed. ``order_by``: see ``TableFacts``."""

    def own_columns(*names: str | None) -> frozenset[TableColumn]:
        return frozenset((layout.table.name, name) for name in names if name is not None)

    ring = (layout.ring.slot, layout.ring.turn, layout.ring.message_id, layout.ring.unread) if layout.ring else ()
    state = layout.state.column if layout.state is not None else None
    return FigureColumns(
        rows=own_columns(*layout.id_columns, state, layout.due_at, *ring, order_by),
        oldest=own_columns(layout.enqueued_at),
        stuck=own_columns(layout.started_at),
        owners=own_columns(layout.owner.column if layout.owner is not None else None),
        attempts=own_columns(layout.attempts),
        diagnostics=own_columns(layout.priority),
        payloads=own_columns(layout.payload) if layout.data_table is None else frozenset(),
        errors=own_columns(layout.error),
    )


def columns_of_group(group: Group) -> FigureColumns:
    """Return the columns from which the figures of a group's queues are computed."""

    def columns_used(*found: Condition | ColumnRef | None, table: str = group.table.name) -> frozenset[TableColumn]:
        return frozenset(column for each in found for column in columns_read(each, table).columns)

    def time_columns(kind: StateKind) -> frozenset[TableColumn]:
        return columns_used(*(state.since for state in group.states if state.kind == kind))

    blockers = [state.blocker for state in group.states if state.blocker is not None]
    steps = [
        columns_used(each.queue, *(when for _, when in each.steps), table=each.table)
        | {(each.table, name) for name in (each.id, each.at) if name is not None}
        for each in group.steps
    ]
    workers = group.workers
    return FigureColumns(
        rows=columns_used(ColumnRef(group.id), group.queue, group.where, *(state.when for state in group.states)),
        oldest=time_columns("ready"),
        stuck=time_columns("in_progress") | columns_used(group.overdue),
        blocked=time_columns("blocked"),
        owners=columns_used(group.owner, group.gone),
        attempts=columns_used(group.attempts),
        payloads=columns_used(group.payload),
        errors=columns_used(group.error),
        steps=frozenset().union(*steps),
        workers=frozenset() if workers is None else columns_used(workers.alive, workers.queue, table=workers.table),
        blockers=columns_used(*(column for each in blockers for column in (each.name, each.holder, each.since))),
    )


def withhold_masked(samples: QueueSamples, masked: Mapping[TableColumn, str], columns: FigureColumns) -> QueueSamples:
    """Return the samples without values that come from masked columns, with the reasons in ``unknown``.

    In a condition, the server uses the real value. In a result, the server returns the mask. qmon does not check how
    each statement uses a column. A figure that may come from a mask becomes unknown.

    Args:
        samples: the samples of a queue.
        masked: the remedy for each masked column, keyed by column.
        columns: the columns from which the figures of this queue are computed.
    """
    if not masked:
        return samples
    layout = samples.layout
    if DIRECT_FIGURES and (why := _first_masked(layout, masked, columns.all_columns)) is not None:
        direct = dict.fromkeys((figure.field for figure in DIRECT_FIGURES), why)
        samples = replace(samples, values={}, unknown={**samples.unknown, **direct})
    if (steps := _first_masked(layout, masked, columns.steps)) is not None:
        samples = replace(samples, totals=None, unknown={**samples.unknown, "rates": steps})
    if _first_masked(layout, masked, columns.workers) is not None:
        samples = replace(samples, workers=None)
    if (every := _first_masked(layout, masked, columns.rows)) is not None:
        # If no table records pops, pops are computed from the messages that wait or are in progress.
        derived = samples.totals is not None and samples.totals.popped is None
        return replace(
            samples,
            head=None,
            last_id=None,
            progress=None,
            in_progress_ids=None,
            held=None,
            locked=(),
            scheduled=None,
            dead=None,
            blocked=None,
            done=None,
            totals=None if derived else samples.totals,
            ring=None,
            depth=None,
            count=None,
            diagnostics=NO_DIAGNOSTICS,
            strange=None,
            messages=None,
            page=None,
            unknown={**samples.unknown, **dict.fromkeys((*_OF_ROWS, *(("rates",) if derived else ())), every)},
        )
    samples = _messages_without_masks(samples, masked, columns)
    if (pushed := _first_masked(layout, masked, columns.oldest)) is not None:
        head, ring = (
            samples.head and replace(samples.head, oldest_s=None),
            samples.ring and replace(samples.ring, oldest_s=None),
        )
        samples = replace(samples, head=head, ring=ring, count=None)
        samples = _with_masked(samples, "oldest", pushed)
    if (taken := _first_masked(layout, masked, columns.stuck)) is not None:
        progress = samples.progress and replace(samples.progress, stuck=None, longest_s=None)
        samples = replace(samples, progress=progress, in_progress_ids=None, count=None)
        samples = _with_masked(samples, "stuck", taken)
    if (blocked := _first_masked(layout, masked, columns.blocked)) is not None:
        unaged = samples.blocked and replace(samples.blocked, oldest_s=None)
        samples = _with_masked(replace(samples, blocked=unaged), "blocked_oldest", blocked)
    if samples.blocked is not None and _first_masked(layout, masked, columns.blockers) is not None:
        samples = replace(samples, blocked=replace(samples.blocked, blockers=()))
    return samples


def _with_masked(samples: QueueSamples, figure: str, why: str) -> QueueSamples:
    """Call a figure unknown because of a mask, whatever other reason it has."""
    strange = samples.strange
    if strange is not None and strange.hides is not None:
        strange = replace(strange, hides=tuple(each for each in strange.hides if each != figure))
    return replace(samples, strange=strange, unknown={**samples.unknown, figure: why})


def withhold_strange(samples: QueueSamples, *, all_listed: bool) -> QueueSamples:
    """Return the samples without figures and rates that depend on messages in unknown states.

    If qmon found the meaning of the states itself, a state whose value is a known word belongs to the figure for this
    word. Any other state may have any meaning. If the user named the states, messages in an unknown state may belong to
    any figure for which the user named no state. The states of libraries are complete, so an unknown state belongs to
    no figure.

    ``all_listed``: the samples list the values of all messages in unknown states.
    """
    layout, strange = samples.layout, samples.strange
    state = layout.state
    if strange is None or pops_in_transaction(layout):
        return samples
    if layout.is_guess or (state is not None and state.learnt):
        kinds = {state_for_value(value) for value in strange.values} if all_listed else {None}
        return _without_kinds(samples, _ALL_KINDS if not kinds or None in kinds else kinds, strange)
    if state is None:
        return samples
    lacking = () if state.in_progress is not None else ("in_progress", "stuck", "pop_rate", "complete_rate")
    lacking = (*lacking, *(() if state.dead is not None else ("dead",)))
    return _with_hidden(samples, lacking, strange)


# The figures that count the messages of each kind of state. Pushes are counted without the states.
_FIGURES_OF_KIND: Final[Mapping[str | None, tuple[str, ...]]] = {
    kind: tuple(figure.field for figure in QUEUE_FIGURES if kind in figure.kinds) for kind in STATE_KINDS
}
_ALL_KINDS: Final = frozenset(_FIGURES_OF_KIND)
_ENDED_KINDS: Final = frozenset({"dead", "done"})


def _with_hidden(samples: QueueSamples, figures: Sequence[str], strange: StrangeStates) -> QueueSamples:
    """Call these figures unknown because of messages in unknown states."""
    unknown = {**samples.unknown, **dict.fromkeys(figures, strange.text)}
    return replace(samples, unknown=unknown, strange=replace(strange, hides=tuple(sorted(set(figures)))))


def _without_kinds(samples: QueueSamples, kinds: Collection[str | None], strange: StrangeStates) -> QueueSamples:
    """Remove the figures that count messages in states of these kinds."""
    hidden = [figure for kind in kinds for figure in _FIGURES_OF_KIND[kind]]
    # A message that waits or is in progress under another name makes the number of pops wrong.
    hidden += [] if _ENDED_KINDS.issuperset(kinds) or _has_recorded_pops(samples) else ["pop_rate", "complete_rate"]
    count = samples.count
    if "ready" in kinds:
        count = None
        samples = replace(samples, head=None, depth=None)
    if "in_progress" in kinds:
        count = count and replace(count, in_progress=None, timed=None, stuck=None, longest_at=None)
        samples = replace(samples, progress=None, in_progress_ids=None, diagnostics=NO_DIAGNOSTICS)
    if "scheduled" in kinds:
        count = count and replace(count, scheduled=None)
        samples = replace(samples, scheduled=None)
    if "dead" in kinds:
        count = count and replace(count, dead=None)
        samples = replace(samples, dead=None)
    if "blocked" in kinds:
        samples = replace(samples, blocked=None)
    if "done" in kinds:
        samples = replace(samples, done=None)
    return _with_hidden(replace(samples, count=count), hidden, strange)


def _has_recorded_pops(samples: QueueSamples) -> bool:
    """Return whether a table records pops. Otherwise, pops are computed from messages that wait or are in progress."""
    return samples.totals is not None and samples.totals.popped is not None


def _messages_without_masks(
    samples: QueueSamples, masked: Mapping[TableColumn, str], columns: FigureColumns
) -> QueueSamples:
    """Remove list columns and evidence about single messages that masks would make wrong."""
    times = columns.oldest | columns.stuck
    if masked.keys() & (times | columns.owners | columns.attempts | columns.diagnostics):
        samples = replace(samples, diagnostics=NO_DIAGNOSTICS)
    ordered = samples.page is not None and _first_masked(
        samples.layout, masked, {(samples.layout.table.name, samples.page.order)}
    )
    if samples.page is not None and ordered:  # the next page would start at a masked value
        samples = replace(samples, messages=(), page=replace(samples.page, next=None, why=ordered))
    if samples.page is not None and samples.page.listing.state == FAILED:
        why = _first_masked(samples.layout, masked, columns.errors)
        if why is not None:  # without errors, all messages would be one group
            samples = replace(samples, messages=(), page=replace(samples.page, next=None, why=why))
    hidden: dict[str, Any] = {}
    shown = (
        ("age_s", times),
        ("owner", columns.owners),
        ("attempts", columns.attempts),
        ("payload", columns.payloads),
        ("error", columns.errors),
    )
    for name, read in shown:
        hidden |= {name: None} if masked.keys() & read else {}
    if samples.messages and hidden:
        samples = replace(samples, messages=tuple(replace(each, **hidden) for each in samples.messages))
    return samples


def _first_masked(layout: Layout, masked: Mapping[TableColumn, str], columns: Iterable[TableColumn]) -> str | None:
    """Return one line with the first of these columns that is masked, and the remedy. ``None`` if none is masked."""
    for table, name in sorted(columns):
        if (helps := masked.get((table, name))) is not None:
            column = name if table == layout.table.name else f"{table}.{name}"
            return Reason.MASKED.render(column=column, grant=helps)
    return None
