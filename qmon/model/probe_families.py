"""Families of probes: the variants of one probe, which read the same figures of different layouts.

Declarations such as "the probes that read this figure" name a family by its first member, or a single probe. The
statements of one probe for several states or steps have the names ``probe:state`` and ``probe:number:step``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

FAMILIES: Final[Mapping[str, frozenset[str]]] = {
    members[0]: frozenset(members)
    for members in (
        ("head", "head_any", "head_due", "head_state", "head_state_due", "head_walk"),
        ("ring", "ring_classic", "ring_subscribers"),
        ("progress", "progress_ids", "progress_oldest"),
        ("scheduled", "scheduled_state"),
        ("held", "held_any", "held_due", "held_newest", "held_state"),
        ("unseen", "unseen_any", "unseen_due", "unseen_state"),
        ("priorities", "priorities_state"),
        ("tried", "tried_attempts", "tried_state"),
        ("pauses", "pauses_known"),
        ("deadlock_graphs", "deadlock_reports", "deadlock_file"),
        ("group_states", "group_states_by"),
        ("group_steps", "group_steps_at"),
        (
            "messages",
            "messages_due",
            "messages_newest",
            "messages_ready",
            "messages_ring",
            "messages_ring_split",
            "messages_split",
            "messages_state",
        ),
        ("messages_page", "messages_page_ring", "messages_page_ring_split", "messages_page_split"),
    )
}
_FAMILY_BY_PROBE: Final = {probe: family for family, probes in FAMILIES.items() for probe in probes}


def probe_family(probe: str) -> str:
    """Return the family of a probe, or the probe's own name without its state if it has no variants."""
    name = probe.partition(":")[0]
    return _FAMILY_BY_PROBE.get(name, name)


def is_probe_of(probe: str, names: Collection[str]) -> bool:
    """Return whether ``names`` contain the probe, its family, or all its states (``group_states:ready``)."""
    every_state = probe.rpartition(":")[0]
    return probe in names or probe_family(probe) in names or (every_state != "" and every_state in names)
