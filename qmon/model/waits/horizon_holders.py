"""Find the session or object that holds the horizon and the next holder, and describe holders as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from qmon.model.formatting import duration
from qmon.model.samples.horizon_samples import HolderKind, HorizonSample
from qmon.texts import Text


class HolderText(Text):
    """Names of what keeps old rows."""

    SESSION = "session {session}"
    PREPARED = "prepared transaction {name}"
    SLOT = "replication slot {name}"
    STANDBY = "standby {name}"


# A holder matters if it has held the horizon for at least this many seconds.
LONG_S: Final = 15.0

# If the server does not report the time, a holder matters after this many newer transactions.
_AGED: Final = 10_000


def is_long(holder: HorizonSample) -> bool:
    """Return whether a holder has held the horizon for long enough to matter."""
    return holder.age >= _AGED if holder.held_s is None else holder.held_s >= LONG_S and holder.age > 0


def long_holder(holders: Sequence[HorizonSample] | None) -> HorizonSample | None:
    """Return the oldest holder if it has held the horizon for long enough to matter, else ``None``."""
    return holders[0] if holders and is_long(holders[0]) else None


def next_holder(holders: Sequence[HorizonSample]) -> HorizonSample | None:
    """Return the holder that would remain if the oldest one ended.

    A statement that starts while an older transaction runs also holds the id of the older transaction. When the older
    transaction ends, the statement no longer holds this id. Therefore the holding time decides, not the id.
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
    """Return ``session 61`` or ``prepared transaction pay-1``.

    The name stays the same while the holder holds the horizon.
    """
    return {
        HolderKind.SESSION: HolderText.SESSION.render(session=holder.session),
        HolderKind.PREPARED: HolderText.PREPARED.render(name=holder.name),
        HolderKind.SLOT: HolderText.SLOT.render(name=holder.name),
        HolderKind.STANDBY: HolderText.STANDBY.render(name=holder.name),
    }.get(HolderKind(holder.kind), holder.kind)
