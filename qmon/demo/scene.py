"""The scene of the demo: a small shop that has a queue of each installable design, and faults of these queues."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from qmon.demo.demo_texts import TourText
from qmon.model.cost_budget import Budget
from qmon.model.layout.layout import Layout
from qmon.model.view import View
from qmon.workload.load_plan import PlannedFault, QueueLoad

SCHEMA: Final = "shop"

# The cost budget of polling. It is high enough to read everything on a slow machine. No other program uses this server.
BUDGET: Final = Budget(0.03)


@dataclass(frozen=True, slots=True)
class ScenePart:
    """One queue of the scene. ``backlog``: number of messages in the queue before the load begins."""

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
    ScenePart("ledger", "strict_fifo", backlog=600),
    ScenePart("prices", "ring_subscribers", ring_size=1000),
    ScenePart("reminders", "pending"),
    ScenePart("sensors", "ring_classic", ring_size=1000),
    ScenePart("uploads", "ring_pointer", ring_size=1000),
    ScenePart("webhooks", "flag"),
)

# Healthy queues, one for each design that no other queue of the scene has. All of these queues share processes.
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


def healthy_loads(layouts: dict[str, Layout]) -> list[QueueLoad]:
    """Return the load without faults.

    Consumers of all queues keep up, except for thumbnails and ledger, whose backlogs drain slowly.
    """
    of_its_own: dict[str, dict[str, float]] = {
        "ledger": {"consumers": 3, "pop_rate": 7.0},
        "uploads": {"pop_rate": 40.0},
    }

    def steady(queue: str) -> QueueLoad:
        more: dict[str, Any] = {"rate": 6.0, "pop_rate": 15.0, "idle_s": 0.1, "keeper": True, "requeue_after_s": 60.0}
        return load(queue, **more | of_its_own.get(queue, {}), own_processes=False)

    def load(queue: str, rate: float, **more: Any) -> QueueLoad:
        more |= {"producer_application": "shop-api", "consumer_application": f"{queue}-worker"}
        return QueueLoad(layouts[queue], rate=rate, keeper_application="shop-janitor", **more)

    return [
        load("orders", 120, producers=2, consumers=2, pop_rate=190, keeper=True),
        load("invoices", 40, producers=2, consumers=3, work_s=0.02, fail_share=0.03, keeper=True, requeue_after_s=120),
        load(
            "mails", 60, producers=2, consumers=2, batch=10, pop_rate=110, work_s=0.05, keeper=True, requeue_after_s=60
        ),
        load("events", 80, producers=2, consumers=2, pop_rate=160, rollback_share=0.05),
        load("audit", 30, producers=1, consumers=1, pop_rate=90),
        load("thumbnails", 20, producers=1, consumers=1, pop_rate=45, keeper=True, requeue_after_s=90),
        *(steady(queue) for queue in STEADY),
    ]


@dataclass(frozen=True, slots=True)
class PlannedPause:
    """A pause of a queue's producers, like a pause that a user makes with a key of qmon.

    Times are in seconds, as for a fault.
    """

    queue: str
    reason: str
    at_s: float
    for_s: float
    every_s: float | None = None


@dataclass(frozen=True, slots=True)
class StoryStep:
    """One fault of the story: the fault, its description, and the code of the verdict that shows the fault.

    ``queue``: the queue with the verdict; empty if there are several. ``keys``: the keys that fix the fault if the
    queue is selected on the overview. The keys open a dialog, which the user must confirm.
    """

    trouble: PlannedFault | PlannedPause
    queue: str
    code: str
    broken: str
    keys: tuple[str, ...]
    answer: str

    def is_seen_in(self, view: View) -> bool:
        """Return true if a view has the verdict."""
        return any(
            verdict.code == self.code
            for queue in view.queues
            if self.queue in ("", queue.name)
            for verdict in queue.verdicts
        )


_LASTS_S: Final = 60.0
_AGAIN_S: Final = 240.0

# Faults of the first minute: stuck, paused, ring full, blocked, held back. A tour shows these faults in this order, one
# at a time.
STORY: Final = (
    StoryStep(
        PlannedFault("crash", "invoices", at_s=5, for_s=2, every_s=_AGAIN_S),
        "invoices",
        "stuck in progress",
        TourText.CRASH,
        ("r",),
        TourText.CRASH_FIX,
    ),
    StoryStep(
        PlannedPause("prices", TourText.PAUSE_REASON.render(), at_s=20, for_s=_LASTS_S, every_s=_AGAIN_S),
        "prices",
        "paused",
        TourText.PAUSE,
        ("p",),
        TourText.PAUSE_FIX,
    ),
    StoryStep(
        PlannedFault("rate", "uploads", at_s=24, for_s=_LASTS_S, amount=250, every_s=_AGAIN_S),
        "uploads",
        "ring full",
        TourText.RING_FULL,
        ("p",),
        TourText.RING_FULL_FIX,
    ),
    StoryStep(
        PlannedFault("hold", "ledger", at_s=34, for_s=_LASTS_S, amount=5, every_s=_AGAIN_S, by="stock count"),
        "ledger",
        "everything locked",
        TourText.LOCKED,
        ("4", "E"),
        TourText.LOCKED_FIX,
    ),
    StoryStep(
        PlannedFault("pin", at_s=10, for_s=_LASTS_S, every_s=_AGAIN_S, by="monthly report"),
        "",
        "cleanup held back",
        TourText.HELD_BACK,
        ("3", "E"),
        TourText.HELD_BACK_FIX,
    ),
)

# Later faults: rollbacks, a surge, a slow consumer, consumers that pause.
LATER: Final = (
    PlannedFault("rollbacks", "events", at_s=45, for_s=12, amount=0.3, every_s=90),
    PlannedFault("rate", "orders", at_s=75, for_s=50, amount=280, every_s=_AGAIN_S),
    PlannedFault("slow", "mails", at_s=85, for_s=40, amount=0.4, every_s=_AGAIN_S),
    PlannedFault("no_consumers", "events", at_s=110, for_s=25, every_s=_AGAIN_S),
)
