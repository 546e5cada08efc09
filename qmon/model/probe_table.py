"""The table of all probes: the rows, purpose, interval and importance of each probe.

Polls, throttling, figures, verdicts, screens and ``qmon doctor`` read the properties of a probe from ``PROBES``.

Variants of one probe read the same figures of different layouts, and form a family with the name of the first one. The
statements of one probe for several states or steps have the names ``probe:state`` and ``probe:number:step``.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping
from typing import Final

from qmon.model.cost_budget import Rank
from qmon.model.counts import PartSample, ScanSample
from qmon.model.probe import Probe, Scope
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.samples import broker_samples, group_samples, message_samples, polled_samples, server_state_samples
from qmon.model.samples import usage_samples as usage
from qmon.model.samples.client_samples import MOST_CLIENTS, ProgramSessionSample
from qmon.model.samples.counter_samples import ServerCounters
from qmon.model.samples.deadlock_samples import BlockedSample, CircleSample, GraphSample, ReportFile, ReportSample
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.samples.job_samples import JobStepSample
from qmon.model.samples.listing_samples import ListedSample
from qmon.model.samples.plan_samples import PlanHistorySample, PlanSample
from qmon.model.samples.wait_samples import LatchSample, PageOwnerSample, WaitTotal
from qmon.model.waits.lock_holders import LockHolderSample

_STATEMENT_CHARS: Final = 200

_DEPTH: Final = ("ready", "oldest", "gap", "fill", "in_progress", "stuck")
_HELD: Final = ("in_progress", "stuck", "locked")
_TRIES: Final = ("owners", "repeated", "crashes", "twice")
_SIZE: Final = ("bytes", "growth")
_COUNTERS: Final = ("rates", "archiving", "locked")
_STATES: Final = group_samples.GroupStateSample

_QUEUE_PROBES: Final = (
    Probe(
        "head",
        polled_samples.HeadSample,
        Scope.QUEUE,
        ("head_due", "head_state", "head_state_due"),
        feeds=(*_DEPTH, "archiving", "motion", "locked"),
        subject="depth and oldest",
    ),
    Probe("head_walk", polled_samples.WalkSample, Scope.QUEUE, ("head_any",), "head"),
    Probe(
        "ring",
        polled_samples.RingSample,
        Scope.QUEUE,
        ("ring_classic", "ring_subscribers"),
        feeds=(*_DEPTH, "rates"),
        subject="positions",
    ),
    Probe("depth", polled_samples.DepthSample, Scope.QUEUE, feeds=_DEPTH),
    Probe(
        "progress",
        polled_samples.ProgressSample,
        Scope.QUEUE,
        ("progress_oldest",),
        feeds=("in_progress", "stuck", "rates", "archiving"),
        subject="in progress and stuck",
    ),
    Probe("progress_ids", polled_samples.ProgressIdSample, Scope.QUEUE, family="progress"),
    Probe(
        "held",
        polled_samples.HeldSample,
        Scope.QUEUE,
        ("held_any", "held_due", "held_newest", "held_state"),
        feeds=_HELD,
        subject="rows held",
    ),
    Probe(
        "unseen", polled_samples.UnseenSample, Scope.QUEUE, ("unseen_any", "unseen_due", "unseen_state"), feeds=_HELD
    ),
    Probe(
        "scheduled",
        polled_samples.CountSample,
        Scope.QUEUE,
        ("scheduled_state",),
        index="due",
        feeds=("scheduled",),
        rank=Rank.DETAIL,
        every_s=10.0,
        in_turns_s=30.0,
        subject="scheduled",
    ),
    Probe(
        "in_state",
        polled_samples.CountSample,
        Scope.QUEUE,
        index="dead",
        state="dead",
        feeds=("dead",),
        rank=Rank.DETAIL,
        every_s=10.0,
        in_turns_s=30.0,
        subject="dead",
    ),
    Probe(
        "blocked",
        polled_samples.CountSample,
        Scope.QUEUE,
        query="in_state",
        index="blocked",
        state="blocked",
        feeds=("blocked", "blocked_oldest"),
        subject="blocked",
    ),
    # Also read in each poll while the known values come from rows.
    Probe(
        "states",
        polled_samples.StateValueSample,
        Scope.QUEUE,
        feeds=("in_unknown_states",),
        every_s=10.0,
        in_turns_s=30.0,
    ),
    Probe("empty", polled_samples.EmptySample, Scope.QUEUE, ("empty_state",), rank=Rank.DETAIL),
    Probe("newest_id", polled_samples.NewestIdSample, Scope.QUEUE),
    Probe("owners", message_samples.OwnerSample, Scope.QUEUE, feeds=_TRIES),
    Probe("tried", message_samples.TriedSample, Scope.QUEUE, ("tried_attempts", "tried_state"), feeds=_TRIES),
    Probe(
        "priorities",
        message_samples.PrioritySample,
        Scope.QUEUE,
        ("priorities_state",),
        feeds=("starved",),
        rank=Rank.DETAIL,
    ),
    Probe(
        "newest",
        message_samples.NewestSample,
        Scope.QUEUE,
        feeds=("wrong_clock", "duplicates"),
        rank=Rank.DETAIL,
        every_s=10.0,
        in_turns_s=30.0,
    ),
    Probe(
        "slot_sweep",
        message_samples.SweepSample,
        Scope.QUEUE,
        feeds=("ring_loss",),
        rank=Rank.DETAIL,
        subject="lost numbers",
    ),
    Probe(
        "messages",
        polled_samples.MessageSample,
        Scope.QUEUE,
        (
            "messages_due",
            "messages_newest",
            "messages_ready",
            "messages_ring",
            "messages_ring_split",
            "messages_split",
            "messages_state",
        ),
        rank=Rank.DETAIL,
        subject="rows",
    ),
    Probe(
        "messages_page",
        ListedSample,
        Scope.QUEUE,
        ("messages_page_ring", "messages_page_ring_split", "messages_page_split"),
        rank=Rank.DETAIL,
        subject="rows",
    ),
    Probe("routines", usage.RoutineSample, Scope.QUEUE),
)

_GROUP_PROBES: Final = (
    Probe("group_states", _STATES, Scope.GROUP, ("group_states_by",), subject="finished"),
    Probe("group_states:ready", _STATES, Scope.GROUP, feeds=("ready", "oldest"), subject="depth and oldest"),
    Probe(
        "group_states:in_progress",
        _STATES,
        Scope.GROUP,
        feeds=("in_progress", "stuck", "rates"),
        subject="in progress and stuck",
    ),
    Probe("group_states:scheduled", _STATES, Scope.GROUP, feeds=("scheduled",), subject="scheduled"),
    Probe("group_states:dead", _STATES, Scope.GROUP, feeds=("dead",), subject="dead"),
    Probe("group_states:blocked", _STATES, Scope.GROUP, feeds=("blocked", "blocked_oldest"), subject="blocked"),
    Probe("group_strange", group_samples.GroupStrangeSample, Scope.GROUP, feeds=("in_unknown_states",)),
    Probe("group_blockers", group_samples.GroupBlockerSample, Scope.GROUP, subject="blockers of messages"),
    Probe("group_owners", group_samples.GroupOwnerSample, Scope.GROUP, subject="workers of messages"),
    Probe("group_workers", group_samples.GroupWorkersSample, Scope.GROUP, subject="workers"),
    Probe("group_worker_list", group_samples.WorkerSample, Scope.GROUP, rank=Rank.DETAIL),
    Probe("group_listed", group_samples.GroupListedSample, Scope.GROUP, subject="rates"),
    Probe("group_last", group_samples.GroupLastSample, Scope.GROUP),
    Probe("group_steps", group_samples.GroupStepsSample, Scope.GROUP, feeds=("rates",), subject="rates"),
    Probe("group_steps_at", group_samples.GroupStepsAtSample, Scope.GROUP, family="group_steps"),
    Probe("group_messages", polled_samples.MessageSample, Scope.GROUP),
    Probe("group_page", ListedSample, Scope.GROUP, rank=Rank.DETAIL),
)

_TABLE_PROBES: Final = (
    Probe("counters", polled_samples.CounterSample, Scope.TABLES, feeds=_COUNTERS, rank=Rank.ALWAYS),
    # The counters and the usage of tables in one statement (SQL Server).
    Probe("table_counters", usage.TableCounterSample, Scope.TABLES, feeds=(*_COUNTERS, *_SIZE), rank=Rank.ALWAYS),
    Probe("sequences", polled_samples.SequenceSample, Scope.TABLES, ("sequences_free",), rank=Rank.ALWAYS),
    Probe("uses", usage.UseSample, Scope.TABLES, feeds=_SIZE, rank=Rank.DETAIL),
    Probe("sizes", usage.SizeSample, Scope.TABLES, feeds=_SIZE, rank=Rank.DETAIL, every_s=10.0, in_turns_s=60.0),
    Probe("statistics", usage.StatisticsSample, Scope.TABLES, rank=Rank.DETAIL, every_s=10.0, in_turns_s=10.0),
    Probe("drawers", message_samples.DrawerSample, Scope.TABLES, rank=Rank.DETAIL),
    Probe("partial", polled_samples.PartialSample, Scope.TABLES, rank=Rank.DETAIL),
    # Figures that need the locks have the interval of their last reading: see `LOCKS_S`.
    Probe("locks", polled_samples.LockSample, Scope.TABLES, feeds=_HELD),
    Probe("lost", polled_samples.LostSample, Scope.TABLES),
    Probe("readable", polled_samples.ReadableSample, Scope.TABLES),
    Probe("routines_of_tables", usage.NamingSample, Scope.TABLES),
)

_TARGET_PROBES: Final = (
    Probe("clock", polled_samples.ClockSample, Scope.TARGET, rank=Rank.ALWAYS),
    Probe("server", polled_samples.ServerSample, Scope.TARGET, rank=Rank.ALWAYS),
    Probe("waits", polled_samples.WaitSample, Scope.TARGET, feeds=("locked",)),
    Probe(
        "blocking",
        polled_samples.BlockingSample,
        Scope.TARGET,
        feeds=("locked",),
        values={"limit": 200, "chars": _STATEMENT_CHARS, "waiters": 0},
    ),
    Probe("lock_holders", LockHolderSample, Scope.TARGET, ids="tables"),
    Probe("writers", polled_samples.WriterSample, Scope.TARGET, feeds=_HELD),
    Probe("cost", polled_samples.CostSample, Scope.TARGET, rank=Rank.ALWAYS),
    Probe(
        "clients",
        ProgramSessionSample,
        Scope.TARGET,
        feeds=("twice",),
        values={"limit": MOST_CLIENTS, "chars": _STATEMENT_CHARS, "texts": 50},
    ),
    Probe(
        "horizon", HorizonSample, Scope.TARGET, every_s=0.9, kept_s=6.0, values={"limit": 20, "chars": _STATEMENT_CHARS}
    ),
    Probe("version_store", VersionStoreSample, Scope.TARGET, rank=Rank.DETAIL, every_s=0.9, kept_s=6.0),
    Probe("procedures", usage.ReadsSample, Scope.TARGET, ids="procedures"),
    Probe("server_counters", ServerCounters, Scope.TARGET),
    Probe("wait_totals", WaitTotal, Scope.TARGET),
    Probe("latches", LatchSample, Scope.TARGET, rank=Rank.DETAIL, values={"chars": _STATEMENT_CHARS}, ids="tables"),
    # The boot page, which every database has at this place.
    Probe("page_owner", PageOwnerSample, Scope.TARGET, rank=Rank.DETAIL, values={"file_id": 1, "page_id": 9}),
    Probe("log", server_state_samples.LogSample, Scope.TARGET, rank=Rank.DETAIL, every_s=30.0, subject="log"),
    Probe(
        "replication",
        server_state_samples.ReplicationSample,
        Scope.TARGET,
        rank=Rank.DETAIL,
        every_s=15.0,
        subject="copies",
    ),
    Probe(
        "temp_space",
        server_state_samples.TempSpaceSample,
        Scope.TARGET,
        rank=Rank.DETAIL,
        every_s=60.0,
        subject="tempdb",
    ),
    Probe(
        "temp_sessions",
        server_state_samples.TempSessionSample,
        Scope.TARGET,
        rank=Rank.DETAIL,
        every_s=60.0,
        subject="tempdb",
    ),
    Probe(
        "service", server_state_samples.ServiceSample, Scope.TARGET, rank=Rank.DETAIL, every_s=60.0, subject="service"
    ),
    Probe("limits", server_state_samples.LimitsSample, Scope.TARGET, rank=Rank.DETAIL, every_s=15.0, subject="service"),
    Probe(
        "pool_limits",
        server_state_samples.LimitsSample,
        Scope.TARGET,
        rank=Rank.DETAIL,
        every_s=15.0,
        subject="pool",
        only_if="service.pooled",
    ),
    Probe(
        "settings",
        server_state_samples.SettingSample,
        Scope.TARGET,
        rank=Rank.DETAIL,
        every_s=60.0,
        subject="database",
        ids="tables",
    ),
    Probe("broker_queues", broker_samples.BrokerQueueSample, Scope.TARGET, every_s=10.0),
    Probe("broker_monitors", broker_samples.BrokerMonitorSample, Scope.TARGET, every_s=10.0, only_if="broker_queues"),
    Probe(
        "broker_transmission", broker_samples.TransmissionSample, Scope.TARGET, every_s=10.0, only_if="broker_queues"
    ),
    Probe(
        "broker_conversations", broker_samples.ConversationsSample, Scope.TARGET, every_s=60.0, only_if="broker_queues"
    ),
)

# Probes that only some targets have, or that run only in some polls.
_OCCASIONAL_PROBES: Final = (
    Probe("pauses", polled_samples.PauseSample, Scope.OCCASIONAL, rank=Rank.ALWAYS),
    Probe("pauses_known", polled_samples.PausesKnown, Scope.OCCASIONAL, family="pauses"),
    Probe("operated", polled_samples.OperatedSample, Scope.OCCASIONAL, rank=Rank.ALWAYS),
    Probe("replica", polled_samples.ReplicaSample, Scope.OCCASIONAL),
    Probe("circles", CircleSample, Scope.OCCASIONAL),
    Probe("deadlock_graphs", GraphSample, Scope.OCCASIONAL),
    Probe("deadlock_reports", ReportSample, Scope.OCCASIONAL, family="deadlock_graphs"),
    Probe("deadlock_file", ReportFile, Scope.OCCASIONAL, family="deadlock_graphs"),
    Probe("blocked_file", ReportFile, Scope.OCCASIONAL),
    Probe("blocked_reports", BlockedSample, Scope.OCCASIONAL),
    Probe("jobs", JobStepSample, Scope.OCCASIONAL),
    Probe("plans", PlanSample, Scope.OCCASIONAL, subject="plans"),
    Probe("plan_history", PlanHistorySample, Scope.OCCASIONAL, subject="plans"),
    Probe("trees", usage.TreeSample, Scope.OCCASIONAL),
    Probe("fragmentation", usage.FragmentSample, Scope.OCCASIONAL),
    Probe("own_uses", usage.OwnUse, Scope.OCCASIONAL),
    Probe("scan_parts", PartSample, Scope.OCCASIONAL),
    Probe("scan", ScanSample, Scope.OCCASIONAL),
    Probe("scan_state", ScanSample, Scope.OCCASIONAL),
    Probe("scan_whole", ScanSample, Scope.OCCASIONAL, ("scan_whole_state",)),
)

# The probes of figures that are read directly.
_FIGURE_PROBES: Final = tuple(figure.probe for figure in QUEUE_FIGURES if figure.probe is not None)

_ALL: Final = (*_QUEUE_PROBES, *_FIGURE_PROBES, *_GROUP_PROBES, *_TABLE_PROBES, *_TARGET_PROBES, *_OCCASIONAL_PROBES)

# The row of each probe, keyed by the names of the probe and its variants.
PROBES: Final[Mapping[str, Probe]] = {name: probe for probe in _ALL for name in (probe.name, *probe.variants)}

# The probes that polls read from each queue that has their index.
INDEXED_PROBES: Final = tuple(probe for probe in _ALL if probe.index)

# The probes of the whole target, for polls and for ``qmon doctor``.
TARGET_PROBES: Final[Mapping[str, Probe]] = {probe.name: probe for probe in _TARGET_PROBES}


@functools.cache
def probe_family(probe: str) -> str:
    """Return the family of a probe, or the probe's own name without its state if it has no variants."""
    name = probe.partition(":")[0]
    found = PROBES.get(name)
    return name if found is None else found.family or found.name


def family_of(probe: str) -> Probe | None:
    """Return the row that has the properties of this probe: the row of its state or of its family.

    ``None`` for what is not a probe, such as a figure that could not be computed.
    """
    return PROBES.get(probe if probe in PROBES and ":" in probe else probe_family(probe))


def is_probe_of(probe: str, names: Collection[str]) -> bool:
    """Return whether ``names`` contain the probe, its family, or all its states (``group_states:ready``)."""
    every_state = probe.rpartition(":")[0]
    return probe in names or probe_family(probe) in names or (every_state != "" and every_state in names)


def probes_for(field: str) -> tuple[str, ...]:
    """Return the families of probes that feed this field of a view or of the evidence."""
    return tuple(probe.name for probe in _ALL if field in probe.feeds)
