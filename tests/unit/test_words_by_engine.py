"""No verdict, hint or screen gives advice in words of the other engine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.model.evidence import QueueEvidence, TargetEvidence
from qmon.model.verdicts.server_verdicts import DEADLOCKS, HORIZON, STATISTICS
from qmon.model.waits.deadlock_circles import Deadlocks
from qmon.model.waits.meanings import MEANT_POSTGRES
from qmon.model.waits.meanings_sqlserver import MEANINGS as MEANT_SQLSERVER
from tests.unit.test_history import COUNTERS, fifo, poll
from tests.unit.test_horizon import HOLDER, READS, STORE, USE
from tests.unit.test_statistics import STALE
from tests.unit.test_statistics import USE as ANALYZED
from tests.unit.test_verdicts import FINE

QMON: Final = Path(__file__).parents[2] / "qmon"
# Words that only one engine's people know.
OF_ENGINE: Final = {
    "postgres": re.compile(
        r"\b(?:ANALYZE|auto)?vacuum|\bANALYZE\b|\bREINDEX\b|\bpg_|\b(?-i:HOT)\b|\bxmin\b|\bctid\b|SKIP LOCKED|\bwal_|"
        r"shared_buffers|synchronous_commit|replication slot",
        re.IGNORECASE,
    ),
    "sqlserver": re.compile(
        r"\bREADPAST\b|\bROWLOCK\b|\bUPDLOCK\b|\bNOLOCK\b|\bsp_|\bsys\.(?!std|platform)|\bdm_|tempdb|UPDATE STATISTICS|"
        r"system_health|\bDBCC\b|row version|ghost",
        re.IGNORECASE,
    ),
}
# Texts with such a word that need no choice by engine, and why.
EXCUSED: Final = {
    " keeps vacuum from removing ": "only where dead rows are counted, which SQL Server does not",
    "vacuum can then remove up to ": "`versions.keeps` is asked first",
    "HOT ": "SQL Server has no share of HOT updates",
    "replication slot": "a kind of holder that only PostgreSQL reports",
    "tempdb": "the label of probes that only SQL Server has",
    "tempdb filling": "a verdict from such a probe",
    " of tempdb is used (": "its proof",
    " in tempdb": "`versions.held` is asked if `versions.keeps`",
    "row versions ": "the same",
    " of row versions": "only where a version store was read",
    "old row versions": "the same",
    "old row versions can be removed": "`versions.keeps` is asked first",
    "row versions": "if no dead rows are counted",
    ", and ghost rows; ": "the same as old row versions",
    " ghost records/s on this server, ": "only where the server counts ghosts that scans skip",
    "ghosts skipped": "the same",
    "GHOST/s": "only where the server counts rows that become ghosts",
}


def texts(tree: ast.AST, engine: str = "") -> Iterator[tuple[str, str]]:
    """Each text that is no docstring, with the engine under whose key it is in a table; empty: under none."""
    if isinstance(tree, ast.Dict):
        for key, value in zip(tree.keys, tree.values, strict=True):
            named = key.value if isinstance(key, ast.Constant) and key.value in OF_ENGINE else engine
            yield from texts(value, str(named))
            if key is not None:
                yield from texts(key, engine)
        return
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value, engine
    for each in ast.iter_child_nodes(tree):
        yield from texts(each, engine)


def shown_by_both() -> list[Path]:
    """The modules that write proofs, hints and screens."""
    return [*(QMON / "model" / "verdicts").rglob("*.py"), *(QMON / "tui").rglob("*.py")]


def test_a_text_with_a_word_of_one_engine_is_chosen_by_engine() -> None:
    wrong, used, chosen = [], set(), 0
    for file in shown_by_both():
        for text, engine in texts(ast.parse(file.read_text(encoding="utf-8"))):
            of = {name for name, words in OF_ENGINE.items() if words.search(text)}
            chosen += of == {engine}
            if of and of != {engine}:
                if text in EXCUSED:
                    used.add(text)
                else:
                    wrong.append((file.name, text))
    assert wrong == []
    assert EXCUSED.keys() - used == set()
    assert chosen > 2


def proofs(engine: str) -> dict[str, str | None]:
    """Proofs of the verdicts that have words for each engine, or other evidence."""
    samples = fifo(COUNTERS)
    now = replace(poll(1, 1000.0, samples), engine=engine, statistics=(STALE,), horizon=(HOLDER,))
    stale = replace(FINE, layout=samples.layout, samples=samples, snapshot=now, queue=QueueEvidence(use=ANALYZED))
    target = TargetEvidence(deadlocks=Deadlocks(3, 0.0, ()))
    if engine == "sqlserver":
        held = replace(FINE, snapshot=replace(now, version_store=STORE), queue=QueueEvidence(use=READS))
    else:
        held = replace(FINE, snapshot=now, queue=QueueEvidence(use=USE))
    return {
        "statistics": STATISTICS.proof(stale),
        "deadlocks": DEADLOCKS.proof(replace(stale, target=target)),
        "cleanup held back": HORIZON.proof(held),
    }


@pytest.mark.parametrize(("engine", "other"), [("postgres", "sqlserver"), ("sqlserver", "postgres")])
def test_proofs_have_no_word_of_the_other_engine(engine: str, other: str) -> None:
    for code, proof in proofs(engine).items():
        assert proof, code
        assert OF_ENGINE[other].search(proof) is None, proof


def test_stale_statistics_name_the_statement_of_the_engine() -> None:
    assert str(proofs("postgres")["statistics"]).endswith(": run ANALYZE")
    assert str(proofs("sqlserver")["statistics"]).endswith(": run UPDATE STATISTICS")


def test_meanings_of_waits_have_no_word_of_the_other_engine() -> None:
    for meant in MEANT_POSTGRES.values():
        assert OF_ENGINE["sqlserver"].search(f"{meant.what} {meant.why} {meant.do}") is None, meant
    for words in MEANT_SQLSERVER.values():
        assert OF_ENGINE["postgres"].search(" ".join(words)) is None, words
