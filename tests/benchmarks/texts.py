"""Texts: statements that 100 polls send to SQL Server at 12 and 200 queues, with a sufficient budget and without."""

from __future__ import annotations

import time

from qmon.model.cost_budget import Budget
from tests.benchmarks.results import Bound, Part
from tests.polled import DESIGNS, Polls

TEXTS = 12
TRIPS = 4
TRIPS_SLOW = 6
QUEUES = ((12, DESIGNS), (200, DESIGNS), (200, ("status",)))
COSTS_S = (0.0, 0.0005)


def run(*, quick: bool = False) -> Part:
    """Simulate the driver: this needs no server, and does not measure a server's time."""
    polls = 20 if quick else 100
    part = Part("texts", {"polls": polls, "interval_s": 2, "budget": Budget().text})
    texts, plans, trips, lists = [], [], [], []
    for count, designs in QUEUES:
        for cost_s in COSTS_S:
            watch = Polls(count, designs, cost_s=cost_s, budget=Budget())
            watch.poll(20)
            began = time.process_time()
            found = watch.poll(polls)
            took_s = time.process_time() - began
            sent = [each for poll in found for each in poll]
            texts.append(len({each.text for each in sent}))
            plans.append(len({(each.text, each.declared) for each in sent}))
            trips.append(max(len(poll) for poll in found))
            lists.append(max(sum(each.listed for each in poll) for poll in found))
            part.rows.append(
                {
                    "queues": count,
                    "of": ", ".join(designs),
                    "statement ms": cost_s * 1000,
                    "probes throttled": watch.throttled,
                    "texts": texts[-1],
                    "plans": plans[-1],
                    "round trips, most": trips[-1],
                    "kB of text, once": sum(len(text) for text in {each.text for each in sent}) / 1000,
                    "kB of text a poll": sum(len(each.text) for each in sent if not each.prepared) / 1000 / polls,
                    "values a poll": sum(len(each.values) for each in sent) / polls,
                    "processor ms a poll": took_s * 1000 / polls,
                }
            )
    part.bounds = [
        Bound("texts in 100 polls", max(texts), TEXTS),
        Bound("texts with types of values in 100 polls", max(plans), TEXTS),
        Bound("round trips of what is due", max(lists), TRIPS),
        Bound("round trips of any poll", max(trips), TRIPS_SLOW),
    ]
    return part
