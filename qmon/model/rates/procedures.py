"""Which procedures push into a queue and which pop, and what their calls read. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from qmon.model.layout.layout import Clients, Layout
from qmon.model.samples.usage import ProcedureReads

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
# What the articles and most others call them.
_SAYS: Final = {
    "pop": frozenset({"pop", "dequeue", "receive"}),
    "push": frozenset({"push", "enqueue", "send"}),
}


def verb_of(layout: Layout, schema: str, name: str) -> str:
    """What a procedure does that names the queue's table: ``push``, ``pop``, or empty where nothing tells.

    By the layout's patterns for procedures where it has some, else by the words of its name.
    """
    patterns = {"pop": layout.poppers, "push": layout.pushers}
    if any(each.procedure is not None for each in patterns.values()):
        return next((verb for verb, each in patterns.items() if _fits(each, schema, name)), "")
    words = {word.lower() for word in _WORD.findall(name)}
    verbs = [verb for verb, known in _SAYS.items() if words & known]
    return verbs[0] if len(verbs) == 1 else ""


def _fits(clients: Clients, schema: str, name: str) -> bool:
    wanted = clients.procedure
    if wanted is None:
        return False
    pattern = wanted.lower().replace("[", "[[]")
    return any(fnmatchcase(each.lower(), pattern) for each in (name, f"{schema}.{name}"))


def reads_between(before: Iterable[ProcedureReads], now: Iterable[ProcedureReads], verb: str) -> tuple[int, int] | None:
    """Pages read and calls ended between two samples by the procedures that do ``verb``; ``None``: not known.

    A procedure whose plans have changed in between is left out: its totals have begun anew.
    """
    old = {each.procedure_id: each for each in before}
    pairs = [(old[each.procedure_id], each) for each in now if each.verb == verb and each.procedure_id in old]
    same = [
        (b, a)
        for b, a in pairs
        if b.plans == a.plans and a.executions >= b.executions and a.logical_reads >= b.logical_reads
    ]
    if not same:
        return None
    return sum(a.logical_reads - b.logical_reads for b, a in same), sum(a.executions - b.executions for b, a in same)
