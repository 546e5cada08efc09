"""Checks the text of every proof that a test renders: none has terms of the other engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, cast

from qmon.model.verdicts.rule import Rule, RuleInput

# Terms of one engine only.
OF_ENGINE: Final = {
    "postgres": re.compile(
        r"\b(?:ANALYZE|auto)?vacuum|\bANALYZE\b|\bREINDEX\b|\bpg_|\b(?-i:HOT)\b|\bxmin\b|\bctid\b|SKIP LOCKED|\bwal_|"
        r"shared_buffers|synchronous_commit|replication slot|\bdead rows?\b",
        re.IGNORECASE,
    ),
    "sqlserver": re.compile(
        r"\bREADPAST\b|\bROWLOCK\b|\bUPDLOCK\b|\bNOLOCK\b|\bsp_|\bsys\.(?!std|platform)|\bdm_|tempdb|UPDATE STATISTICS|"
        r"system_health|\bDBCC\b|row version|ghost",
        re.IGNORECASE,
    ),
}
OTHER: Final = {"postgres": "sqlserver", "sqlserver": "postgres"}
# Verdicts with evidence that only one of the engines provides.
_OF_ONE_ENGINE: Final = frozenset({"cleanup behind", "cleanup held back", "log full", "tempdb filling"})


class ProofWatch:
    """Collects proofs with a term of the other engine."""

    def __init__(self) -> None:
        self.wrong: list[str] = []

    def install(self) -> None:
        """Check every proof from now on, and the same proof for the other engine."""
        stored = cast(Any, Rule.__dict__["proof"])

        def watched(rule: Rule) -> Callable[[RuleInput], str | None]:
            proof: Callable[[RuleInput], str | None] = stored.__get__(rule, Rule)

            def look(context: RuleInput) -> str | None:
                said = proof(context)
                if said is not None:
                    self._look(rule.code, proof, context, said)
                return said

            return look

        cast(Any, Rule).proof = property(watched, stored.__set__)

    def _look(self, code: str, proof: Callable[[RuleInput], str | None], context: RuleInput, said: str) -> None:
        snapshot = getattr(context, "snapshot", None)
        if snapshot is None or (own := snapshot.engine) not in OTHER:
            return
        proofs = {own: said}
        if code not in _OF_ONE_ENGINE:
            proofs[OTHER[own]] = proof(replace(context, snapshot=replace(snapshot, engine=OTHER[own]))) or ""
        for engine, text in proofs.items():
            if OF_ENGINE[OTHER[engine]].search(text):
                self.wrong.append(f"{code} on {engine}: {text}")


PROOFS: Final = ProofWatch()
