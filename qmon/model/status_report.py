"""The status report: a JSON-ready object built from a view. Unknown values are null, never 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from qmon.model.combined_figures import GROUP_FIGURES, GroupView, group_views
from qmon.model.figure import Figure, Verdict
from qmon.model.queue_figures import QUEUE_FIGURES
from qmon.model.rates.queue_use import QueueUse
from qmon.model.reasons import Reason
from qmon.model.report_shapes import (
    BlockerReport,
    BrokerQueueReport,
    BrokerReport,
    CopyReport,
    HorizonReport,
    LastingVerdict,
    LogReport,
    ProbeReport,
    ServerStateReport,
    ServiceReport,
    SettingReport,
    TempReport,
    VerdictReport,
    fill,
)
from qmon.model.samples.group_samples import GroupBlockerSample
from qmon.model.samples.server_state_samples import ServerState
from qmon.model.service_broker import BrokerView
from qmon.model.service_broker import queue_state as broker_state
from qmon.model.settings import Setting, database_card
from qmon.model.snapshot import SESSIONS_PROBE, ProbeFailure
from qmon.model.view import QueueView, ServerView, View
from qmon.model.waits.horizon_holders import long_holder

_WAITS: Final = 10
_NOT_READ: Final = Figure.unknown(Reason.USE_UNREAD)


def target_object(engine: str, server: ServerView, failures: Sequence[ProbeFailure]) -> dict[str, Any]:
    """Return ``sessions``, ``blocked``, ``waits``, ``horizon`` and ``unknown`` of a target.

    ``waits`` are sorted by the average number of waiting sessions, largest first. Each wait has its share of all waits
    (0 to 1). An unknown value is null, and ``unknown`` contains the reason. ``horizon`` is also null if nothing has
    held the horizon for a long time. The result contains ``standby``, ``version_store_bytes``, ``counters`` (per
    second), ``service_broker`` and ``server_state`` if the server has them.
    """
    waiting, holder = server.waiting, long_holder(server.horizon)
    waits = None
    if waiting is not None:
        kept = waiting.rates[:_WAITS]
        waits = {
            "source": waiting.source.value,
            "seconds": round(waiting.seconds, 3),
            "samples": waiting.samples,
            "rates": [{"wait": r.name, "sessions": round(r.sessions, 4), "share": round(r.share, 4)} for r in kept],
        }
    horizon = None
    if holder is not None:
        horizon = fill(
            HorizonReport,
            holder,
            session=holder.session or None,
            held_seconds=None if holder.held_s is None else round(holder.held_s, 3),
            transactions=holder.age,
        )
    blocked = None if server.blocking is None else server.blocking.waiters
    known = {"sessions": server.sessions, "blocked": blocked, "waits": waits, "horizon": server.horizon}
    reasons = {name: _unknown_reason(name, failures) for name, value in known.items() if value is None}
    out: dict[str, Any] = {
        "sessions": server.sessions,
        "blocked": blocked,
        "waits": waits,
        "horizon": horizon,
        "unknown": reasons,
    }
    if server.standby is not None:
        behind_s = server.standby.behind_s
        out["standby"] = {
            "behind_seconds": None if behind_s is None else round(behind_s, 3),
            "replay_paused": server.standby.paused,
        }
    if server.version_store is not None:
        out["version_store_bytes"] = server.version_store.total
    if server.counters is not None:
        out["counters"] = {k: None if v is None else round(v, 3) for k, v in asdict(server.counters).items()}
    if server.state is not None:
        out["server_state"] = _server_health(engine, server.state)
    return out if server.broker is None else {**out, "service_broker": _broker_object(server.broker)}


_READ_BY: Final = {
    "sessions": (SESSIONS_PROBE,),
    "blocked": ("blocking", "waits", SESSIONS_PROBE),
    "waits": ("waits", "waits over time", "wait_totals", SESSIONS_PROBE),
    "horizon": ("horizon", SESSIONS_PROBE),
}


def _unknown_reason(name: str, failures: Sequence[ProbeFailure]) -> str:
    """Return why a value of the target is unknown."""
    found = (each.text for each in failures if not each.queue and each.probe in _READ_BY[name])
    return next(found, Reason.NOT_READ_IN_THIS_POLL)


def _server_health(engine: str, state: ServerState) -> ServerStateReport:
    """Return server health as last read: ``log`` (null if it was not read) and each server that has the database."""
    log, temp, service = state.log, state.temp_space, state.service
    return fill(
        ServerStateReport,
        state,
        log=None
        if log is None
        else fill(
            LogReport,
            log,
            total_bytes=log.total,
            used_bytes=log.used,
            most_bytes=log.most,
            backed_up_seconds_ago=log.saved_s,
        ),
        replication=[
            fill(
                CopyReport,
                each,
                not_sent_bytes=each.unsent,
                not_redone_bytes=each.unredone,
                behind_seconds=each.behind_s,
            )
            for each in state.replication
        ],
        tempdb=None
        if temp is None
        else TempReport(
            total_bytes=temp.total, used_bytes=temp.used, most_bytes=temp.most, row_versions_bytes=temp.versions
        ),
        service=None if service is None else fill(ServiceReport, service),
        settings=settings_object(database_card(engine, state.settings)) if state.settings else None,
    )


def settings_object(settings: Sequence[Setting]) -> list[SettingReport]:
    """Return the database card as a list of objects."""
    return [fill(SettingReport, each, tables=each.object or None) for each in settings]


def _broker_object(view: BrokerView) -> BrokerReport:
    """Return the queues of Service Broker, worst first, and the undelivered messages (``not_delivered``)."""
    return BrokerReport(
        read_seconds_ago=round(view.age_s, 3),
        not_delivered={"messages": view.sending.value, "verdict": _verdict_code_and_proof(view.verdict)},
        conversations={
            "counted": None if view.conversations is None else view.conversations.counted,
            "verdict": _verdict_code_and_proof(view.leak),
        },
        queues=[
            fill(
                BrokerQueueReport,
                queue,
                depth=queue.depth.value,
                state=broker_state(queue, monitored=view.monitored),
                tasks=None if queue.monitor is None else queue.monitor.tasks,
                verdict=_verdict_code_and_proof(queue.verdict),
            )
            for queue in view.queues
        ],
    )


def _verdict_code_and_proof(verdict: Verdict | None) -> VerdictReport | None:
    return None if verdict is None else fill(VerdictReport, verdict)


def use_figures(use: QueueUse | None) -> dict[str, Figure]:
    """Return the figures of a queue's tables.

    The figures are rows and pages touched per pop, dead rows, and the share of HOT updates (0 to 1). For SQL Server
    there is also ``reads_per_pop``: pages read by each call of a procedure that pops.
    """
    if use is None:
        return dict.fromkeys(("rows_per_pop", "pages_per_pop", "dead_rows", "hot_share"), _NOT_READ)
    dead = Figure(float(use.dead)) if use.dead is not None else Figure.unknown(Reason.SERVER_DOES_NOT_SAY)
    figures = {
        "rows_per_pop": use.rows_per_pop,
        "pages_per_pop": use.pages_per_pop,
        "dead_rows": dead,
        "hot_share": use.hot_share,
    }
    return figures if use.reads_per_pop is None else {**figures, "reads_per_pop": use.reads_per_pop}


SCHEMA: Final = 1

_WHOLE: Final = frozenset(figure.name for figure in QUEUE_FIGURES if figure.is_whole)


def status_object(view: View) -> dict[str, Any]:
    """Return the object that ``qmon status`` prints as JSON.

    Counts are whole messages, rates are messages per second over ``window_seconds``, ``oldest_seconds`` is in seconds,
    and ``fill`` is 0 to 1. ``approximate`` maps a figure to ``~`` (estimated) or ``≥`` (at least). ``unknown`` maps a
    figure to the reason. ``age_seconds`` maps a figure that was read before this poll to its age. ``old`` maps an
    outdated figure, which counts as unknown, to its last value. ``tables`` lists tables with several queues.
    """
    probe = view.server
    return {
        "schema": SCHEMA,
        "target": view.target,
        "engine": view.engine,
        "server_version": view.server_version,
        "sampled_at": iso(view.sampled_at),
        "probe": fill(
            ProbeReport,
            probe,
            client_ms=round(probe.client_ms, 3),
            server_ms=None if probe.server_ms is None else round(probe.server_ms, 3),
        ),
        **target_object(view.engine, probe, view.failures),
        "queues": [queue_object(queue, view.since_read_s(queue)) for queue in view.queues],
        "tables": [_table_object(group) for group in group_views(view.queues)],
        "failures": [failure_object(f) for f in (*view.failures, *(f for q in view.queues for f in q.failures))],
    }


def queue_object(queue: QueueView, since_read_s: float = 0.0) -> dict[str, Any]:
    """Return one queue of the status report. ``since_read_s``: as in ``View``."""
    figures = {figure.name: figure.figure_for(queue) for figure in QUEUE_FIGURES} | use_figures(queue.use)
    return {
        "name": queue.name,
        "design": queue.layout.design,
        **{name: _rounded_value(name, figure.evidence) for name, figure in figures.items()},
        **({"blocked_by": [_blocker_object(each) for each in queue.blockers]} if queue.blockers else {}),
        "window_seconds": None if queue.window_s is None else round(queue.window_s, 3),
        "verdict": fill(VerdictReport, queue.verdict),
        "verdicts": [_verdict_object(each) for each in queue.verdicts or (queue.verdict,)],
        "approximate": _approximation_symbols(figures),
        "unknown": _unknown_reasons(figures),
        "age_seconds": {
            n: round(age, 3) for n, f in figures.items() if f.value is not None and (age := f.age_s + since_read_s) > 0
        },
        "old": {n: _rounded_value(n, f) for n, f in figures.items() if f.old},
    }


def _blocker_object(blocker: GroupBlockerSample) -> BlockerReport:
    """Return one blocker. ``messages``: how many of the messages that were read wait for this blocker."""
    held_s = None if blocker.held_s is None else round(blocker.held_s, 3)
    return {"name": blocker.blocker, "holder": blocker.holder, "held_seconds": held_s, "messages": blocker.seen}


def _table_object(group: GroupView) -> dict[str, Any]:
    """Return the sums over several queues of one table, but the maximum of ages. Unknown values are null."""
    figures = {each.name: group.figures[each.field] for each in GROUP_FIGURES}
    return {
        "name": group.name,
        "table": str(group.table),
        "queues": list(group.queues),
        **{name: _rounded_value(name, figure.evidence) for name, figure in figures.items()},
        "approximate": _approximation_symbols(figures),
        "unknown": _unknown_reasons(figures),
    }


def _approximation_symbols(figures: Mapping[str, Figure]) -> dict[str, str]:
    return {name: "≥" if f.at_least else "~" for name, f in figures.items() if f.at_least or f.estimated}


def _unknown_reasons(figures: Mapping[str, Figure]) -> dict[str, str]:
    return {name: f.evidence.reason or "not known" for name, f in figures.items() if f.evidence.value is None}


def _verdict_object(verdict: Verdict) -> LastingVerdict:
    """Return a verdict. ``since`` is null if its start is unknown."""
    since = None if verdict.since_at is None else iso(verdict.since_at)
    return fill(LastingVerdict, verdict, severity=verdict.severity.name.lower(), since=since)


def failure_object(failure: ProbeFailure) -> dict[str, str]:
    """Return one failure of the status report. ``queue`` and ``grant`` are included only if they are set."""
    found = {"probe": failure.probe, "reason": failure.reason}
    if failure.queue:
        found["queue"] = failure.queue
    if failure.grant:
        found["grant"] = failure.grant
    return found


_FIRST_S: Final = datetime.min.replace(tzinfo=UTC).timestamp()
_LAST_S: Final = datetime(9999, 12, 31, tzinfo=UTC).timestamp()


def iso(seconds: float) -> str:
    """Return seconds since the epoch as ISO 8601 in UTC with milliseconds, clamped to the years 1 to 9999."""
    moment = datetime.fromtimestamp(min(max(seconds, _FIRST_S), _LAST_S), UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _rounded_value(name: str, figure: Figure) -> float | int | None:
    if figure.value is None:
        return None
    return round(figure.value) if name in _WHOLE else round(figure.value, 4)
