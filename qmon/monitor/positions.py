"""Which probe reads where a ring stands."""

from __future__ import annotations

from qmon.model.layout import Layout


def ring_probe(layout: Layout) -> str:
    """The probe that reads the positions of a ring; a sweep of its slots is another one."""
    ring = layout.ring
    if ring is not None and ring.subscribers and ring.unread is not None:
        return "ring_subscribers"
    return "ring" if ring is not None and ring.turn is not None else "ring_classic"
