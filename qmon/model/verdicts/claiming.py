"""Messages are ready and nobody takes them: no popper is connected, or those that are do not pop."""

from __future__ import annotations

from typing import Final

from qmon.model.clients import ClientsSeen
from qmon.model.figure import Severity
from qmon.model.layout.layout import Layout
from qmon.model.operations import Side
from qmon.model.samples.clients import ClientSample
from qmon.model.text import duration
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.signs import RuleInput

_QUIET_S: Final = 4.0
"""A server may count a session's last pops ten seconds late, once it has fallen idle: sessions that have been idle for
so long have not popped since."""
_FOLLOWS: Final = ("no pops", "ring full", "pushers outrun poppers")


def _unclaimed(s: RuleInput) -> ClientsSeen | None:
    """The poppers, where messages are ready, none was popped lately, and none is being worked on."""
    if s.paused(Side.POPPERS) or not s.ready.value or s.moved is None or s.at_work:
        return None
    poppers = s.queue.poppers
    return None if s.moved > 0 and (poppers is None or (poppers.quiet_s or 0.0) < _QUIET_S) else poppers


def _no_poppers(s: RuleInput) -> str | None:
    poppers = _unclaimed(s)
    if poppers is None or poppers.connected or not poppers.whole or s.layout is None:
        return None
    gone = f"; the last one left {duration(poppers.left_s)} ago" if poppers.left_s is not None else ""
    return f"{s.ready.value:,.0f} ready and {_nobody(s.layout, poppers)}{gone}"


def _nobody(layout: Layout, poppers: ClientsSeen) -> str:
    if poppers.by == "pattern":
        fields = (
            ("application", layout.poppers.application),
            ("login", layout.poppers.login),
            ("procedure", layout.poppers.procedure),
        )
        wanted = ", ".join(f"{name} {pattern}" for name, pattern in fields if pattern is not None)
        is_one = f"is a popper ({wanted})"
    else:
        pop = layout.routine("pop") or layout.routine("pop_batch")
        is_one = "was seen to " + (f"call {pop}" if poppers.by == "routine" else f"take rows of {layout.table}")
    if not poppers.others:
        return f"no session is connected that {is_one}"
    return f"of {poppers.others:,} session{'s' if poppers.others > 1 else ''} connected none {is_one}"


def _not_claiming(s: RuleInput) -> str | None:
    poppers = _unclaimed(s)
    if poppers is None or not poppers.connected or s.ready.value is None:
        return None
    count = "1 popper is" if poppers.connected == 1 else f"{poppers.connected:,} poppers are"
    one = f": {_doing(poppers.one)}" if poppers.one is not None else ""
    return f"{count} connected, not one pops while {s.ready.value:,.0f} are ready{one}"


def _doing(client: ClientSample) -> str:
    name = f"session {client.session}" + (f" ({client.application})" if client.application else "")
    state = client.state or "connected"
    waits = f", waiting for {client.wait_kind}" if client.wait_kind == "Lock" else ""
    return f"{name} {state}{waits}" + (f" for {duration(client.quiet_s)}" if client.quiet_s is not None else "")


NO_POPPERS = Rule("no poppers", Severity.CRITICAL, 10.0, _no_poppers, explains=_FOLLOWS)
NOT_CLAIMING = Rule("poppers not claiming", Severity.CRITICAL, 10.0, _not_claiming, explains=_FOLLOWS)
