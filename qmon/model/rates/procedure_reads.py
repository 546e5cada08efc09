"""Find the procedures that push into a queue or pop from it, and count the pages that their calls read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

from qmon.model.layout.layout import ClientPatterns, Layout
from qmon.model.samples.usage_samples import ProcedureReads

_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")

# Words in the procedure names of the source articles and of most other implementations.
_VERB_WORDS: Final = {
    "pop": frozenset({"pop", "dequeue", "receive"}),
    "push": frozenset({"push", "enqueue", "send"}),
}


def verb_for(layout: Layout, schema: str, name: str) -> str:
    """Return the verb of a procedure that names the queue's table: ``push``, ``pop``, or empty if unknown.

    Patterns for procedures in the layout decide. If there are none, the words in the procedure's name decide.
    """
    patterns = {"pop": layout.consumers, "push": layout.producers}
    if any(each.procedure is not None for each in patterns.values()):
        return next((verb for verb, each in patterns.items() if _matches_procedure(each, schema, name)), "")
    words = {word.lower() for word in _WORD.findall(name)}
    verbs = [verb for verb, known in _VERB_WORDS.items() if words & known]
    return verbs[0] if len(verbs) == 1 else ""


def _matches_procedure(clients: ClientPatterns, schema: str, name: str) -> bool:
    wanted = clients.procedure
    if wanted is None:
        return False
    pattern = wanted.lower().replace("[", "[[]")
    return any(fnmatchcase(each.lower(), pattern) for each in (name, f"{schema}.{name}"))


def reads_between(before: Iterable[ProcedureReads], now: Iterable[ProcedureReads], verb: str) -> tuple[int, int] | None:
    """Return the pages that procedures with this verb read between two samples, and the number of finished calls.

    A procedure whose plans changed in between is left out, because its totals started again from 0. The result is
    ``None`` if it is unknown.
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
