"""The shapes of the objects that ``status``, ``demo``, ``replay`` and ``check`` print as JSON, and how to fill them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, Literal, NotRequired, TypedDict, TypeVar, cast, get_args, get_origin, get_type_hints

from qmon.model.combined_figures import GROUP_FIGURES
from qmon.model.queue_figures import QUEUE_FIGURES, QueueFigure
from qmon.model.rates.counter_rates import CounterRates
from qmon.model.samples.server_state_samples import ServerState

T = TypeVar("T")


def with_fields(more: Mapping[str, Any], *, after: str) -> Callable[[type], Any]:
    """Return a decorator that adds fields to a ``TypedDict``, behind its field ``after``; empty: before all fields."""

    def add_fields(kind: type) -> Any:
        names, hints = list(kind.__annotations__), {**kind.__annotations__, **more}
        place = names.index(after) + 1 if after else 0
        made = TypedDict(kind.__name__, {name: hints[name] for name in (*names[:place], *more, *names[place:])})  # type: ignore[misc]
        made.__doc__, made.__module__ = kind.__doc__, kind.__module__
        return made

    return add_fields


def _figure_fields(figures: Sequence[QueueFigure]) -> dict[str, Any]:
    return {each.name: int | None if each.is_whole else float | None for each in figures}


@functools.cache
def _field_hints(kind: Hashable) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def fill(kind: type[T], source: object, **given: object) -> T:
    """Return an object of the ``TypedDict`` ``kind``.

    A field that is not in ``given`` has the value of the attribute, or of the key, of ``source`` with the same name. An
    empty text is ``None`` if the field may be ``None``. A field that is not required is left out if it is not given.
    """
    found = {}
    for name, hint in _field_hints(cast("Hashable", kind)).items():
        if name in given:
            found[name] = given[name]
        elif get_origin(hint) is not NotRequired:
            value = source[name] if isinstance(source, Mapping) else getattr(source, name)
            found[name] = None if value == "" and NoneType in get_args(hint) else value
    return cast("T", found)


class VerdictReport(TypedDict):
    """A verdict and the reading that proves it."""

    code: str
    proof: str


class LastingVerdict(VerdictReport):
    """A verdict that holds. ``since``: ISO 8601."""

    severity: str
    since: str | None
    key: str


class BlockerReport(TypedDict):
    """A blocker. ``messages``: the number of messages that wait for it. Only a limited number of messages is read."""

    name: str | None
    holder: str | None
    held_seconds: float | None
    messages: int


@with_fields(_figure_fields(QUEUE_FIGURES), after="design")
class QueueReport(TypedDict):
    """One queue; see ``qmon.model.status_report.queue_object``."""

    name: str
    design: str
    rows_per_pop: float | None
    pages_per_pop: float | None
    dead_rows: float | None
    hot_share: float | None
    reads_per_pop: NotRequired[float | None]
    blocked_by: NotRequired[list[BlockerReport]]
    window_seconds: float | None
    verdict: VerdictReport
    verdicts: list[LastingVerdict]
    approximate: dict[str, Literal["~", "≥"]]
    unknown: dict[str, str]
    age_seconds: dict[str, float]
    old: dict[str, float | None]


@with_fields(_figure_fields(GROUP_FIGURES), after="queues")
class TableReport(TypedDict):
    """A table with several queues: the sums of the queues' figures, and the maximum of ``oldest_seconds``."""

    name: str
    table: str
    queues: list[str]
    approximate: dict[str, Literal["~", "≥"]]
    unknown: dict[str, str]


class FailureReport(TypedDict):
    """A probe that failed."""

    probe: str
    reason: str
    queue: NotRequired[str]
    grant: NotRequired[str]


class ProbeReport(TypedDict):
    """The cost of the poll."""

    client_ms: float
    server_ms: float | None
    buffers: int | None
    cpu_ms: int | None


class WaitReport(TypedDict):
    """One wait: the average number of sessions in this wait, and the wait's share from 0 to 1."""

    wait: str
    sessions: float
    share: float


class WaitsReport(TypedDict):
    """The longest waits of the server."""

    source: str
    seconds: float
    samples: int | None
    rates: list[WaitReport]


class HorizonReport(TypedDict):
    """The session or object that keeps dead rows from being cleaned up."""

    kind: str
    session: int | None
    name: str | None
    held_seconds: float | None
    transactions: int | None
    application: str


class StandbyReport(TypedDict):
    """How far a standby is behind."""

    behind_seconds: float | None
    replay_paused: bool | None


class NotDelivered(TypedDict):
    """Messages that Service Broker has not delivered yet."""

    messages: float | None
    verdict: VerdictReport | None


class ConversationsReport(TypedDict):
    """Conversations of Service Broker. At most 5,000 are counted."""

    counted: int | None
    verdict: VerdictReport | None


class BrokerQueueReport(TypedDict):
    """One queue of Service Broker."""

    name: str
    depth: float | None
    state: str
    tasks: int | None
    verdict: VerdictReport | None


class BrokerReport(TypedDict):
    """The state of Service Broker."""

    read_seconds_ago: float
    not_delivered: NotDelivered
    conversations: ConversationsReport
    queues: list[BrokerQueueReport]


class LogReport(TypedDict):
    """The transaction log, or the write-ahead log."""

    total_bytes: int | None
    used_bytes: int | None
    most_bytes: int | None
    held_by: str | None
    pieces: int | None
    backed_up_seconds_ago: float | None


class CopyReport(TypedDict):
    """A server with a copy of the database."""

    name: str
    local: bool
    role: str | None
    state: str | None
    synchronous: bool | None
    suspended: str | None
    not_sent_bytes: int | None
    not_redone_bytes: int | None
    behind_seconds: float | None


class TempReport(TypedDict):
    """The space that sessions share for temporary tables, sorts and row versions."""

    total_bytes: int | None
    used_bytes: int | None
    most_bytes: int | None
    row_versions_bytes: int | None


class ServiceReport(TypedDict):
    """The service tier of a managed service."""

    objective: str | None
    pool: str | None
    serverless: bool


class SettingReport(TypedDict):
    """A setting of the server, the database or some tables.

    ``harm``: why the setting harms a queue, or ``None`` if it does not. ``value``: ``None`` if unknown.
    """

    name: str
    tables: str | None
    value: str | None
    harm: str | None


# The fields of `ServerState` that have another form in the report, or that the report leaves out.
_OWN_FORM: Final = {"log", "replication", "temp_space", "temp_sessions", "service", "settings", "read_at"}


@with_fields(
    {name: hint for name, hint in get_type_hints(ServerState).items() if name not in _OWN_FORM}, after="service"
)
class ServerStateReport(TypedDict):
    """Server health at the last reading."""

    log: LogReport | None
    replication: list[CopyReport]
    tempdb: TempReport | None
    service: ServiceReport | None
    settings: list[SettingReport] | None


class StatusReport(TypedDict):
    """The output of ``qmon status``, and the result of ``status`` in ``qmon.api``."""

    schema: Literal[1]
    target: str
    engine: str
    server_version: str
    sampled_at: str
    probe: ProbeReport
    sessions: int | None
    blocked: int | None
    waits: WaitsReport | None
    horizon: HorizonReport | None
    unknown: dict[str, str]
    standby: NotRequired[StandbyReport]
    version_store_bytes: NotRequired[int | None]
    counters: NotRequired[CounterRates]
    server_state: NotRequired[ServerStateReport]
    service_broker: NotRequired[BrokerReport]
    queues: list[QueueReport]
    tables: list[TableReport]
    failures: list[FailureReport]


class WorkloadReport(TypedDict):
    """The figures that the demo's load counted itself: rates in messages per second, depth in messages."""

    push_rate: float | None
    pop_rate: float | None
    depth: int


class DemoReport(StatusReport):
    """The output of ``qmon demo --output``. ``workload``: keyed by queue."""

    workload: dict[str, WorkloadReport]


class ReplayReport(TypedDict):
    """The output of ``qmon replay``: a moment in seconds since the epoch, and the snapshot as recorded."""

    schema: Literal[1]
    at: float
    snapshot: dict[str, Any]
    status: StatusReport


class ProblemReport(TypedDict):
    """A problem that a check found. ``queue``: ``None`` if the whole target has the problem. ``value``: in the unit of
    the rule's figure.
    """

    queue: str | None
    state: str
    rule: str | None
    value: float | None
    words: str


class CheckReport(TypedDict):
    """The output of ``qmon check``."""

    schema: Literal[1]
    target: str
    state: Literal["ok", "warning", "critical", "unknown"]
    exit_code: int
    summary: str
    problems: list[ProblemReport]
    sampled_at: str | None
    queues: list[QueueReport]
