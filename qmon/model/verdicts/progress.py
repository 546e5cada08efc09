"""Messages that are in progress for too long, or whose owner is dead: whose they are."""

from __future__ import annotations

from qmon.model.duration import format_duration
from qmon.model.figure import Severity
from qmon.model.owning import Owners
from qmon.model.samples.messages import OwnerSample
from qmon.model.samples.polled import WriterSample
from qmon.model.text import duration
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput


def _stuck(s: RuleInput) -> str | None:
    owners = s.queue.owners
    if not s.stuck.value and not (owners is not None and owners.dead):
        return None
    if owners is not None and (told := _by_owner(owners)):
        if not s.stuck.value:
            return told
        return f"{_count(s)} in progress for more than {format_duration(s.timeout_s)}: {told}"
    whose = _holders(s)
    return f"{_count(s)} in progress for more than {format_duration(s.timeout_s)}" + (f": {whose}" if whose else "")


def _count(s: RuleInput) -> str:
    return f"{'at least ' if s.stuck.at_least else ''}{s.stuck.value or 0:,.0f}"


def _by_owner(owners: Owners) -> str:
    more = "at least " if owners.at_least else ""
    parts = []
    if owners.dead:
        parts.append(f"owners of {more}{owners.dead:,} dead{_one(owners.dead_one)}")
    if owners.alive:
        parts.append(f"of {more}{owners.alive:,} alive{_one(owners.alive_one)}")
    if owners.unknown:
        why = f": {owners.why}" if owners.why else ""
        parts.append(f"of {more}{owners.unknown:,} unknown{_one(owners.unknown_one)}{why}")
    if owners.none and owners.none_one is not None:
        parts.append(f"nothing says who has them, such as message {owners.none_one.id}{_since(owners.none_one)}")
    told = "; ".join(parts)
    return told if owners.dead or not told.startswith("of ") else f"owners {told}"


def _one(owner: OwnerSample | None) -> str:
    if owner is None:
        return ""
    whose = f"{owner.owner} has " if owner.owner else ""
    return f" ({whose}message {owner.id}{_since(owner)})"


def _since(owner: OwnerSample) -> str:
    return f" for {duration(owner.age_s)}" if owner.age_s is not None else ""


def _holders(s: RuleInput) -> str:
    """Where a message is in progress only while its popper's transaction is open: the session of the oldest of them."""
    if s.samples is None or s.snapshot is None or not s.samples.held:
        return ""
    xids = {held.xid for held in s.samples.held if held.running}
    whose = [w for w in s.snapshot.writers or () if w.xid in xids and (w.transaction_s or 0.0) > s.timeout_s]
    if not whose:
        return ""
    oldest = max(whose, key=lambda w: w.transaction_s or 0.0)
    return _session(oldest) + (f" and {len(whose) - 1} more" if len(whose) > 1 else "")


def _session(writer: WriterSample) -> str:
    if writer.session == 0:
        return (
            f"the prepared transaction {writer.application} has held them for {duration(writer.transaction_s or 0.0)}"
        )
    told = ", ".join(part for part in (writer.state, writer.application) if part)
    return f"session {writer.session} ({told}) has held them for {duration(writer.transaction_s or 0.0)}"


STUCK = Rule("stuck in progress", Severity.CRITICAL, 0.0, _stuck, "r")
