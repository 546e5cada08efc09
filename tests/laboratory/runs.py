"""Runs to check forecasts against: queues with a backlog, with steady, noisy or bursty producers and consumers.

A run is real: worker processes and the real poller. The rates of the workers change every second.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# Push and pop rates to set, in messages per second, by the seconds since the load began.
Rates = Callable[[float, random.Random], tuple[float, float]]


@dataclass(frozen=True)
class Run:
    """One queue that starts with a backlog. ``load``: fields of ``QueueLoad`` that replace the common ones."""

    name: str
    design: str
    backlog: int
    rates: Rates
    load: Mapping[str, Any] = field(default_factory=dict)


def steady(push: float, pop: float) -> Rates:
    """Constant rates."""
    return lambda t, chance: (push, pop)


def noisy(push: float, pop: float, spread: float) -> Rates:
    """New rates each second on both sides, up to the share ``spread`` above or below."""
    return lambda t, chance: (
        push * chance.uniform(1 - spread, 1 + spread),
        pop * chance.uniform(1 - spread, 1 + spread),
    )


def bursty(push: float, pop: float, every_s: float, for_s: float) -> Rates:
    """All pushes of ``every_s`` seconds happen within ``for_s``."""
    return lambda t, chance: (push * every_s / for_s if t % every_s < for_s else 0.0, pop)


def pausing(push: float, pop: float, every_s: float, for_s: float) -> Rates:
    """Consumers work only ``for_s`` of every ``every_s`` seconds, at a rate that keeps the same average."""
    return lambda t, chance: (push, pop * every_s / for_s if t % every_s < for_s else 0.0)


def nightly(push: float, pop: float, every_s: float) -> Rates:
    """Pushes rise and fall to almost nothing, once in ``every_s`` seconds."""
    return lambda t, chance: (push * max(0.01, math.cos(math.pi * t / every_s) ** 2), pop)


def step(before: tuple[float, float], at_s: float, after: tuple[float, float]) -> Rates:
    """The rates change once, after ``at_s`` seconds."""
    return lambda t, chance: before if t < at_s else after


def drifting(push: float, a_minute: float, pop: float) -> Rates:
    """The push rate rises or falls by ``a_minute`` messages per second each minute."""
    return lambda t, chance: (max(0.0, push + a_minute * t / 60), pop)


BATCH: Mapping[str, Any] = {"batch": 20}
# There are five draining runs for each growing run, because the time to drain is harder to forecast than growth.
RUNS = (
    Run("steady", "fifo", 2000, steady(10, 30)),
    Run("steady, small net rate", "naive", 700, steady(26, 33)),
    Run("steady, ring", "ring", 900, steady(12, 21)),
    Run("steady, no pushes", "status", 1500, steady(0, 12)),
    Run("noisy", "status", 1100, noisy(20, 31, 0.6)),
    Run("noisy on both sides", "fifo", 900, noisy(30, 38, 0.9)),
    Run("noisy, heap", "heap", 1400, noisy(10, 23, 0.5)),
    Run("bursts every 10 s", "fifo", 1300, bursty(15, 27, 10, 2)),
    Run("bursts every 20 s", "status", 1500, bursty(10, 24, 20, 5)),
    Run("consumers pause", "naive", 1200, pausing(10, 21, 8, 5)),
    Run("consumers pause for long", "lifo", 1000, pausing(8, 17, 15, 10)),
    Run("rate changes before", "fifo", 1100, step((5, 35), 22, (15, 22))),
    Run("rate changes before, faster", "status", 1700, step((20, 25), 15, (12, 27))),
    Run("drifting", "naive", 1300, drifting(14, -1.5, 24)),
    Run("batch consumers", "batch_fast", 1800, steady(15, 32), BATCH),
    Run("batch consumers, noisy", "batch_split", 1200, noisy(10, 22, 0.6), BATCH),
    Run("batch consumers, bursts", "flag", 1500, bursty(12, 26, 12, 3), BATCH),
    Run("slow consumers", "status", 1000, steady(7, 100), {"work_s": 0.2, "consumers": 4}),
    Run("slow consumers fail", "status", 800, noisy(6, 100, 0.5), {"work_s": 0.4, "consumers": 6, "fail_share": 0.1}),
    Run("pushes rolled back", "fifo", 1200, noisy(20, 27, 0.4), {"rollback_share": 0.3}),
    Run("growing", "fifo", 500, steady(30, 20)),
    Run("growing, noisy", "status", 400, noisy(28, 18, 0.7)),
    Run("growing in bursts", "naive", 300, bursty(25, 17, 10, 3)),
    Run("growing, slow consumers", "status", 200, steady(25, 100), {"work_s": 0.2, "consumers": 3}),
)
# Two for `make test`, which are empty after 45 seconds.
LIVE = (
    Run("drains_steadily", "fifo", 600, steady(10, 24)),
    Run("drains_slowly", "status", 500, steady(5, 100), {"work_s": 0.15, "consumers": 3}),
)
