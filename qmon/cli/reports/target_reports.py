"""Types for the output about targets, queues, rights, probes and past operations."""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from qmon.model.operation_records import Operation, OperationResult, Plan
from qmon.model.report_shapes import SettingReport


class KnownQueue(TypedDict):
    """A queue, and why qmon considers it a queue. ``confidence``: 0 to 1, for queues found by their shape."""

    name: str
    design: str
    table: str
    layout: dict[str, Any]
    source: str
    confidence: float | None
    why: list[str]
    missing: str | None
    unknown: dict[str, str] | None
    slow: dict[str, str] | None


class KnownLibrary(TypedDict):
    """A library's table, and the queues in this table."""

    name: str
    library: str
    table: str
    queues: list[str]


class QueueProblem(TypedDict):
    """Why a queue or table was left out."""

    queue: str | None
    reason: str
    grant: str | None


class QueuesReport(TypedDict):
    """The output of ``qmon queues``."""

    schema: Literal[1]
    target: str
    engine: str
    server_version: str
    queues: list[KnownQueue]
    libraries: list[KnownLibrary]
    explained: list[str]
    problems: list[QueueProblem]


class ProbeCheck(TypedDict):
    """One probe. ``problem``: ``None`` if the probe works."""

    queue: str | None
    probe: str
    ms: float | None
    problem: str | None
    grant: str | None
    index: str | None


class RightReport(TypedDict):
    """One right of our role."""

    right: str
    held: bool
    gives: str
    grant: str


class DoctorReport(TypedDict):
    """The output of ``qmon doctor``."""

    schema: Literal[1]
    target: str
    engine: str
    server_version: str
    pooled: bool
    connections: int | None
    pollers: int | None
    checks: list[ProbeCheck]
    rights: list[RightReport]
    settings: list[SettingReport]


class BundleReport(TypedDict):
    """The output of ``qmon doctor --bundle``."""

    schema: Literal[1]
    bundle: str
    files: list[str]
    problem: str | None


class OperationsReport(TypedDict):
    """The output of ``qmon operations``. Times are seconds since the epoch."""

    schema: Literal[1]
    target: str
    operations: list[Operation]


class TrashRow(TypedDict):
    """A purge. ``kept_until``: when the purged rows are deleted, in seconds since the epoch."""

    operation: Operation
    kept_until: float


class TrashReport(TypedDict):
    """The output of ``qmon trash list``."""

    schema: Literal[1]
    trash: list[TrashRow]


class ActionReport(TypedDict):
    """The output of ``qmon requeue``, ``purge`` and the other actions. ``result``: ``None`` if nothing was started."""

    schema: Literal[1]
    plan: Plan
    result: OperationResult | None


class NamedTarget(TypedDict):
    """A known target.

    ``place``: the address, or the driver of a DSN. ``dsn``: the target comes from a DSN, not from the configuration.
    ``dsn_of``: for a DSN, ``user`` or ``system``. ``reachable``: ``None`` if qmon did not try to connect.
    ``answered_s``: seconds until the login was complete. ``problem``: why the target was not reached or cannot be used.
    """

    name: str
    engine: str | None
    place: str
    dsn: bool
    dsn_of: str | None
    environment: str
    prod: bool
    read_only: bool
    queues: int
    reachable: bool | None
    answered_s: float | None
    server_version: str | None
    problem: str | None


class TargetsReport(TypedDict):
    """The output of ``qmon targets``. ``drivers``: names of ODBC drivers for ``driver=``."""

    schema: Literal[1]
    targets: list[NamedTarget]
    drivers: list[str]
