"""Probes of the whole target, for polls and for ``qmon doctor``: the record type of their rows and their values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from qmon.engines.base import Value
from qmon.model.cost_budget import Rank
from qmon.model.samples.client_samples import MOST_CLIENTS, ClientSample
from qmon.model.samples.counter_samples import ServerCounters
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.samples.polled_samples import (
    BlockingSample,
    ClockSample,
    CostSample,
    ServerSample,
    WaitSample,
    WriterSample,
)
from qmon.model.samples.server_state_samples import (
    LimitsSample,
    LogSample,
    ReplicationSample,
    ServiceSample,
    SettingSample,
    TempSessionSample,
    TempSpaceSample,
)
from qmon.model.samples.usage_samples import ReadsSample
from qmon.model.samples.wait_samples import LatchSample, PageOwnerSample, WaitTotal
from qmon.model.waits.lock_holders import LockHolderSample

POOL_LIMITS: Final = "pool_limits"
SETTINGS: Final = "settings"
_STATEMENT_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class TargetProbe:
    """One probe of a target.

    ``values``: the values that a poll binds by default. ``ids``: the name of the value for the ids of tables or
    procedures. ``qmon doctor`` uses the id 0, which does not exist. ``rank``: the importance when polls are throttled.
    ``every_s``: seconds between two readings of a probe of server health; 0 for other probes. ``in_pool``: the probe
    only works in an elastic pool.
    """

    record: type
    values: Mapping[str, Value] = field(default_factory=dict)
    ids: str = ""
    rank: Rank = Rank.TARGET
    every_s: float = 0.0
    in_pool: bool = False


def _health(record: type, every_s: float, *, ids: str = "", in_pool: bool = False) -> TargetProbe:
    """Return a probe of server health."""
    return TargetProbe(record, ids=ids, rank=Rank.DETAIL, every_s=every_s, in_pool=in_pool)


TARGET_PROBES: Final[Mapping[str, TargetProbe]] = {
    "clock": TargetProbe(ClockSample, rank=Rank.ALWAYS),
    "server": TargetProbe(ServerSample, rank=Rank.ALWAYS),
    "waits": TargetProbe(WaitSample),
    "blocking": TargetProbe(BlockingSample, {"limit": 200, "chars": _STATEMENT_CHARS, "waiters": 0}),
    "lock_holders": TargetProbe(LockHolderSample, ids="tables"),
    "writers": TargetProbe(WriterSample),
    "cost": TargetProbe(CostSample, rank=Rank.ALWAYS),
    "clients": TargetProbe(ClientSample, {"limit": MOST_CLIENTS, "chars": _STATEMENT_CHARS, "texts": 50}),
    "horizon": TargetProbe(HorizonSample, {"limit": 20, "chars": _STATEMENT_CHARS}),
    "version_store": TargetProbe(VersionStoreSample, rank=Rank.DETAIL),
    "procedures": TargetProbe(ReadsSample, ids="procedures"),
    "server_counters": TargetProbe(ServerCounters),
    "wait_totals": TargetProbe(WaitTotal),
    "latches": TargetProbe(LatchSample, {"chars": _STATEMENT_CHARS}, ids="tables", rank=Rank.DETAIL),
    # The boot page, which every database has at this place.
    "page_owner": TargetProbe(PageOwnerSample, {"file_id": 1, "page_id": 9}, rank=Rank.DETAIL),
    "log": _health(LogSample, 30.0),
    "replication": _health(ReplicationSample, 15.0),
    "temp_space": _health(TempSpaceSample, 60.0),
    "temp_sessions": _health(TempSessionSample, 60.0),
    "service": _health(ServiceSample, 60.0),
    "limits": _health(LimitsSample, 15.0),
    POOL_LIMITS: _health(LimitsSample, 15.0, in_pool=True),
    SETTINGS: _health(SettingSample, 60.0, ids="tables"),
}
