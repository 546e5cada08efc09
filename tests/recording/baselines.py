"""The content of a small baselines file."""

from __future__ import annotations

WHOLE = {
    "version": 1,
    "zone": "UTC",
    "zones": {"shop": "Europe/Berlin"},
    "queues": {"shop": {"mails": {"ready": {"38": [120.5, 3, 9]}}}},
}
