"""The part of the status report that is about the target as a whole: waits, and who holds the horizon."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from qmon.model.broker import BrokerView, state
from qmon.model.figure import Figure, Verdict
from qmon.model.rates.usage import QueueUse
from qmon.model.view import TargetView
from qmon.model.waits.horizon_holders import culprit

_WAITS: Final = 10
_NOT_READ: Final = Figure.unknown("the use of its tables was not read")


def target_object(server: TargetView) -> dict[str, Any]:
    """``waits`` (the longest first: sessions in it on average, share 0 to 1) and ``horizon``; null: not known.

    Where the server has them: ``standby``, ``version_store_bytes``, ``counters`` (per second), ``service_broker``.
    """
    waiting, holder = server.waiting, culprit(server.horizon)
    waits = None
    if waiting is not None:
        kept = waiting.rates[:_WAITS]
        waits = {
            "source": waiting.source.value,
            "seconds": round(waiting.seconds, 3),
            "looks": waiting.looks,
            "rates": [{"wait": r.name, "sessions": round(r.sessions, 4), "share": round(r.share, 4)} for r in kept],
        }
    horizon = None
    if holder is not None:
        horizon = {
            "kind": holder.kind,
            "session": holder.session or None,
            "name": holder.name or None,
            "held_seconds": None if holder.held_s is None else round(holder.held_s, 3),
            "transactions": holder.age,
            "application": holder.application,
        }
    told: dict[str, Any] = {"waits": waits, "horizon": horizon}
    if server.standby is not None:
        behind_s = server.standby.behind_s
        told["standby"] = {
            "behind_seconds": None if behind_s is None else round(behind_s, 3),
            "replay_paused": server.standby.paused,
        }
    if server.version_store is not None:
        told["version_store_bytes"] = server.version_store.total
    if server.counters is not None:
        told["counters"] = {k: None if v is None else round(v, 3) for k, v in asdict(server.counters).items()}
    return told if server.broker is None else {**told, "service_broker": _broker(server.broker)}


def _broker(found: BrokerView) -> dict[str, Any]:
    """The queues of Service Broker, the worst first, and messages ``not_delivered``; only where there are queues."""
    return {
        "read_seconds_ago": round(found.age_s, 3),
        "not_delivered": {"messages": found.sending.value, **_verdict(found.verdict)},
        "queues": [
            {
                "name": queue.name,
                "depth": queue.depth.value,
                "state": state(queue, monitored=found.monitored),
                "tasks": None if queue.monitor is None else queue.monitor.tasks,
                **_verdict(queue.verdict),
            }
            for queue in found.queues
        ],
    }


def _verdict(verdict: Verdict | None) -> dict[str, Any]:
    return {"verdict": None if verdict is None else {"code": verdict.code, "proof": verdict.proof}}


def use_figures(use: QueueUse | None) -> dict[str, Figure]:
    """Figures of a queue's tables: rows and pages touched per pop, dead rows, share of HOT updates 0 to 1.

    SQL Server: ``reads_per_pop``, pages read by each call of a procedure that pops.
    """
    if use is None:
        return dict.fromkeys(("rows_per_pop", "pages_per_pop", "dead_rows", "hot_share"), _NOT_READ)
    dead = Figure(float(use.dead)) if use.dead is not None else Figure.unknown("this server does not say")
    figures = {
        "rows_per_pop": use.rows_per_pop,
        "pages_per_pop": use.pages_per_pop,
        "dead_rows": dead,
        "hot_share": use.hot_share,
    }
    return figures if use.reads_per_pop is None else {**figures, "reads_per_pop": use.reads_per_pop}
