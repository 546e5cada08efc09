"""The list of metrics: name, type, unit and labels of each metric, and the field with its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

TARGET: Final = ("target",)
QUEUE: Final = ("target", "queue")
FIGURE: Final = ("target", "queue", "figure")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. ``name``: the name without ``_total``. ``unit``: the last part of the name, or an empty text.

    ``source``: the field of ``QueueView`` (for gauges of a queue) or of ``Flow`` (for counters), otherwise empty.
    """

    name: str
    type: Literal["gauge", "counter"]
    unit: str
    help: str
    labels: tuple[str, ...] = QUEUE
    source: str = ""


UP: Final = Metric("qmon_target_up", "gauge", "", "1 if the target is being polled, 0 if not.", TARGET)
POLL_AGE: Final = Metric(
    "qmon_target_poll_age_seconds", "gauge", "seconds", "Time since the last poll of the target.", TARGET
)
LAKE_AGE: Final = Metric(
    "qmon_lake_batch_age_seconds",
    "gauge",
    "seconds",
    "Time since the last batch of a lake that reads the recordings.",
    ("lake",),
)
VERDICT: Final = Metric(
    "qmon_verdict", "gauge", "", "1 for each current verdict of a queue.", (*QUEUE, "code", "severity")
)
AGE: Final = Metric("qmon_queue_reading_age_seconds", "gauge", "seconds", "Age of each figure of a queue.", FIGURE)
AT_LEAST: Final = Metric(
    "qmon_queue_at_least", "gauge", "", "1 if a figure is a lower bound because not all messages were counted.", FIGURE
)
DEAD: Final = Metric(
    "qmon_queue_dead_messages", "gauge", "messages", "Dead messages: given up after too many attempts.", source="dead"
)
OLDEST: Final = Metric(
    "qmon_queue_oldest_age_seconds", "gauge", "seconds", "Age of the oldest ready message.", source="oldest"
)
FILL: Final = Metric(
    "qmon_queue_fill_ratio", "gauge", "ratio", "Share of a ring's slots in use, 0 to 1.", source="fill"
)
GAUGES: Final = (
    Metric("qmon_queue_ready_messages", "gauge", "messages", "Messages ready to be popped.", source="ready"),
    Metric(
        "qmon_queue_in_progress_messages",
        "gauge",
        "messages",
        "Messages popped but not done (in flight).",
        source="in_progress",
    ),
    Metric(
        "qmon_queue_stuck_messages",
        "gauge",
        "messages",
        "Messages in progress for longer than the timeout.",
        source="stuck",
    ),
    Metric("qmon_queue_scheduled_messages", "gauge", "messages", "Messages scheduled for later.", source="scheduled"),
    Metric("qmon_queue_blocked_messages", "gauge", "messages", "Messages that cannot be popped yet.", source="blocked"),
    Metric(
        "qmon_queue_oldest_blocked_age_seconds",
        "gauge",
        "seconds",
        "Age of the oldest blocked message.",
        source="blocked_oldest",
    ),
    DEAD,
    Metric(
        "qmon_queue_done_messages", "gauge", "messages", "Finished messages that are still in the table.", source="done"
    ),
    OLDEST,
    FILL,
    Metric("qmon_queue_size_bytes", "gauge", "bytes", "Size of the queue's tables and indexes.", source="bytes"),
    Metric("qmon_queue_producer_sessions", "gauge", "sessions", "Connected producers.", source="producers"),
    Metric("qmon_queue_consumer_sessions", "gauge", "sessions", "Connected consumers.", source="consumers"),
)
COUNTERS: Final = (
    Metric(
        "qmon_queue_pushed_messages", "counter", "messages", "Messages pushed while qmon was watching.", source="pushed"
    ),
    Metric(
        "qmon_queue_popped_messages", "counter", "messages", "Messages popped while qmon was watching.", source="popped"
    ),
    Metric(
        "qmon_queue_completed_messages",
        "counter",
        "messages",
        "Messages completed while qmon was watching.",
        source="completed",
    ),
)

# All metrics, in the order in which they are served.
METRICS: Final = (UP, POLL_AGE, LAKE_AGE, VERDICT, *GAUGES, AGE, AT_LEAST, *COUNTERS)
