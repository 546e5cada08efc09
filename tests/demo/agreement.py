"""How much the figures of qmon may differ from the counts of the load."""

from __future__ import annotations

from typing import Any

TOLERANCE = 0.03
FLOW_S = 1.5
MESSAGES = 2.0
# The load's counts arrive every 100 ms, from processes that may be late: up to 83 ms in six runs.
COUNTS_S = 0.25


def agree(seen: float, counted: float, window_s: float) -> bool:
    """Return whether it is within the largest of 3 %, 1.5 s of flow and 2 messages, all as rates over the window."""
    allowed = max(TOLERANCE * counted, FLOW_S * counted / window_s, MESSAGES / window_s)
    return abs(seen - counted) <= allowed


def depth_agrees(queue: dict[str, Any], counted: float, poll_s: float) -> bool:
    """Return whether the depth is within the moves during the poll and between two counts, with ``~`` within 1 %."""
    moved = (queue["push_rate"] + queue["pop_rate"]) * (poll_s + COUNTS_S) + MESSAGES
    if queue["approximate"].get("ready") == "~":
        return bool(abs(queue["ready"] - counted) <= max(0.01 * counted, moved))
    return bool("ready" not in queue["approximate"] and abs(queue["ready"] - counted) <= moved)
