"""The scene of the demo: a small shop whose queues show every installable design, and what goes wrong in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from qmon.model.layout.layout import Layout
from qmon.workload.plan import PlannedFault, QueueLoad

SCHEMA: Final = "shop"


@dataclass(frozen=True, slots=True)
class ScenePart:
    """One queue of the scene. ``backlog``: messages that are there before the load begins."""

    queue: str
    design: str
    ring_size: int = 2000
    timeout_s: float = 30.0
    backlog: int = 0


PARTS: Final = (
    ScenePart("orders", "ring", ring_size=5000, backlog=150),
    ScenePart("invoices", "status", timeout_s=20.0),
    ScenePart("mails", "batch_fast", backlog=300),
    ScenePart("events", "fifo"),
    ScenePart("audit", "naive", timeout_s=15.0),
    ScenePart("thumbnails", "status", timeout_s=60.0, backlog=6000),
    ScenePart("alerts", "lifo"),
    ScenePart("cleanup", "heap"),
    ScenePart("exports", "batch_single", timeout_s=60.0),
    ScenePart("imports", "batch_split", timeout_s=60.0),
    ScenePart("ledger", "strict_fifo"),
    ScenePart("prices", "ring_subscribers", ring_size=1000),
    ScenePart("reminders", "pending"),
    ScenePart("sensors", "ring_classic", ring_size=1000),
    ScenePart("uploads", "ring_pointer", ring_size=1000),
    ScenePart("webhooks", "flag"),
)
STEADY: Final = (
    "alerts",
    "cleanup",
    "exports",
    "imports",
    "ledger",
    "prices",
    "reminders",
    "sensors",
    "uploads",
    "webhooks",
)
"""Queues that just run, each of a design that the others do not show; they share their processes."""


def loads(layouts: dict[str, Layout]) -> list[QueueLoad]:
    """The healthy load: all queues keep up, but for the thumbnails, whose backlog drains slowly."""

    def steady(queue: str) -> QueueLoad:
        more = {"rate": 6.0, "pop_rate": 15.0, "idle_s": 0.1, "keeper": True, "requeue_after_s": 60.0}
        return load(queue, **more, own_processes=False)

    def load(queue: str, rate: float, **more: Any) -> QueueLoad:
        more |= {"pusher_application": "shop-api", "popper_application": f"{queue}-worker"}
        return QueueLoad(layouts[queue], rate=rate, keeper_application="shop-janitor", **more)

    return [
        load("orders", 120, pushers=2, poppers=2, pop_rate=190, keeper=True),
        load("invoices", 40, pushers=2, poppers=3, work_s=0.02, fail_share=0.03, keeper=True, requeue_after_s=45),
        load("mails", 60, pushers=2, poppers=2, batch=10, pop_rate=110, work_s=0.05, keeper=True, requeue_after_s=60),
        load("events", 80, pushers=2, poppers=2, pop_rate=160, rollback_share=0.05),
        load("audit", 30, pushers=1, poppers=1, pop_rate=90),
        load("thumbnails", 20, pushers=1, poppers=1, pop_rate=45, keeper=True, requeue_after_s=90),
        *(steady(queue) for queue in STEADY),
    ]


FAULTS: Final = (
    PlannedFault("rollbacks", "events", at_s=6, for_s=12, amount=0.3, every_s=45),
    PlannedFault("crash", "invoices", at_s=10, for_s=2, every_s=60),
    PlannedFault("hold", "audit", at_s=20, for_s=22, amount=6, every_s=90),
    PlannedFault("rate", "orders", at_s=25, for_s=50, amount=280, every_s=150),
    PlannedFault("slow", "mails", at_s=40, for_s=40, amount=0.4, every_s=160),
    PlannedFault("pin", at_s=55, for_s=45, every_s=150),
    PlannedFault("no_poppers", "events", at_s=75, for_s=25, every_s=140),
)
"""What goes wrong, and when: rollbacks, a crashed popper, a session that holds locks, a surge, a slow consumer, a long
transaction, poppers that pause. Each comes again."""
