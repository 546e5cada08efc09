"""The list of metrics: name, type, unit and labels of each metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from qmon.model.queue_figures import MOVING_FIGURES, QUEUE_FIGURES

TARGET: Final = ("target",)
QUEUE: Final = ("target", "queue")
FIGURE: Final = ("target", "queue", "figure")


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. ``name``: the name without ``_total``. ``unit``: the last part of the name, or an empty text."""

    name: str
    type: Literal["gauge", "counter"]
    unit: str
    help: str
    labels: tuple[str, ...] = QUEUE


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
# The metrics of the figures of queues, keyed by the field of `QueueView`.
GAUGES: Final[Mapping[str, Metric]] = {
    figure.field: Metric(
        f"qmon_queue_{figure.metric_name}",
        "gauge",
        figure.metric_name.rpartition("_")[2],
        f"{figure.about[0].upper()}{figure.about[1:]}.",
    )
    for figure in QUEUE_FIGURES
    if figure.metric_name
}
COUNTERS: Final[Mapping[str, Metric]] = {
    figure.field: Metric(
        f"qmon_queue_{figure.moved}_messages",
        "counter",
        "messages",
        f"Messages {figure.moved} while qmon was watching.",
    )
    for figure in MOVING_FIGURES
}

# All metrics, in the order in which they are served.
METRICS: Final = (UP, POLL_AGE, LAKE_AGE, VERDICT, *GAUGES.values(), AGE, AT_LEAST, *COUNTERS.values())
