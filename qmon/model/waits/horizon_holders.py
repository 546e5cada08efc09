"""Which session or object holds the horizon, as text, and what ending it would gain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model.formatting import duration
from qmon.model.samples.horizon_samples import HolderKind, HorizonSample

# Minimum seconds that a holder has held the horizon for it to matter.
LONG_S: Final = 15.0

# The same in transaction ids drawn since, if the server does not report the time.
_AGED: Final = 10_000


def is_long(holder: HorizonSample) -> bool:
    """Return whether it has held the horizon long enough to matter."""
    return holder.age >= _AGED if holder.held_s is None else holder.held_s >= LONG_S and holder.age > 0


def long_holder(holders: Sequence[HorizonSample] | None) -> HorizonSample | None:
    """Return the holder that has held the horizon for long, ``None`` without one."""
    return holders[0] if holders and is_long(holders[0]) else None


def next_holder(holders: Sequence[HorizonSample]) -> HorizonSample | None:
    """Return the holder that would remain if the oldest ended, skipping holders that merely saw the oldest running.

    A statement that starts while another transaction runs holds that transaction's id, and moves on when it ends. So
    among sessions the time counts, not the id.
    """
    others = holders[1:]
    return max(others, key=lambda one: (one.held_s is None, one.held_s or 0.0), default=None)


def holder_text(holder: HorizonSample) -> str:
    """Return ``session 61 (idle in transaction, 2 m 05 s, app-7)`` or ``prepared transaction pay-1 (3 d 04 h)``."""
    held = duration(holder.held_s) if holder.held_s is not None else ""
    parts = [holder.state if holder.kind != HolderKind.PREPARED else "", held, holder.application]
    more = ", ".join(part for part in parts if part)
    return f"{holder_name(holder)} ({more})" if more else holder_name(holder)


def holder_name(holder: HorizonSample) -> str:
    """Return ``session 61`` or ``prepared transaction pay-1``, a name that stays the same for as long as it holds."""
    return {
        HolderKind.SESSION: f"session {holder.session}",
        HolderKind.PREPARED: f"prepared transaction {holder.name}",
        HolderKind.SLOT: f"replication slot {holder.name}",
        HolderKind.STANDBY: f"standby {holder.name}",
    }.get(HolderKind(holder.kind), holder.kind)
