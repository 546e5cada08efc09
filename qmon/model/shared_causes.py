"""Find causes that verdicts of several queues share: the evidence names the same session, transaction or log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from qmon.model.figure import Verdict
from qmon.model.view import QueueView


@dataclass(frozen=True, slots=True)
class SharedCause:
    """A cause shared by at least two queues.

    Attributes:
        who: ``session 61``.
        verdict: the worst verdict with this cause.
        about: the words with which all proofs of this verdict start.
        queues: for each verdict code, the queues whose verdict names the cause, worst first.
    """

    who: str
    verdict: Verdict
    about: str
    queues: Mapping[str, tuple[str, ...]]

    def proof_rest(self, proof: str) -> str:
        """Return the part of a queue's proof after ``about``."""
        return proof.removeprefix(self.about).lstrip(" ,:;")


def shared_causes(ranked: Sequence[QueueView]) -> tuple[SharedCause, ...]:
    """Return the causes that two or more queues share, worst first. ``ranked``: the queues, worst first."""
    found: dict[str, dict[str, dict[str, Verdict]]] = {}
    for queue in ranked:
        for verdict in queue.verdicts:
            if verdict.cause:
                found.setdefault(verdict.cause, {}).setdefault(verdict.code, {}).setdefault(queue.name, verdict)
    shared = (
        _build_shared_cause(who, by_code) for who, by_code in found.items() if len(set().union(*by_code.values())) > 1
    )
    return tuple(sorted(shared, key=lambda each: -each.verdict.severity))


def _build_shared_cause(who: str, by_code: dict[str, dict[str, Verdict]]) -> SharedCause:
    worst = max((v for by_queue in by_code.values() for v in by_queue.values()), key=lambda verdict: verdict.severity)
    proofs = [verdict.proof.split(" ") for verdict in by_code[worst.code].values()]
    same = takewhile(lambda words: len(set(words)) == 1, zip(*proofs, strict=False)) if len(proofs) > 1 else ()
    codes = sorted(by_code, key=lambda code: code != worst.code)
    return SharedCause(who, worst, " ".join(words[0] for words in same), {code: tuple(by_code[code]) for code in codes})
