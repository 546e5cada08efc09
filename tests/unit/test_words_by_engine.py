"""No verdict, hint or screen gives advice in the terms of the other engine."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from qmon.model.evidence import QueueEvidence, TargetEvidence
from qmon.model.figure import Severity
from qmon.model.verdicts.rule import Rule
from qmon.model.verdicts.server_health_verdicts import ServerHealthText
from qmon.model.verdicts.server_verdicts import DEADLOCKS, HORIZON, STATISTICS, ServerVerdictText
from qmon.model.waits.deadlock_circles import Deadlocks
from qmon.model.waits.meanings import MEANT_POSTGRES
from qmon.model.waits.meanings_sqlserver import MEANINGS as MEANT_SQLSERVER
from qmon.tui.waits.horizon_panel import HorizonText, VersionStoreText
from qmon.tui.waits.server_health_panel import HealthText
from tests.unit.polls import COUNTERS, fifo, poll
from tests.unit.rule_inputs import FINE
from tests.unit.upkeep import ANALYZED, HOLDER, READS, STALE, STORE, USE
from tests.words import OF_ENGINE, PROOFS

QMON: Final = Path(__file__).parents[2] / "qmon"
# Texts with such a word that need no choice by engine, and why.
EXCUSED: Final = {
    ServerVerdictText.VACUUM_HELD_BACK: "only where dead rows are counted, which SQL Server does not",
    ServerVerdictText.VACUUM_HELD_BACK_PER_POP: "the same",
    "dead rows": "a term that only screens about PostgreSQL show",
    "dead row": "the same",
    "old versions of rows that vacuum has not removed yet": "its meaning",
    HorizonText.GAIN: "`has_version_store` is asked first",
    "HOT ": "SQL Server has no share of HOT updates",
    "tempdb": "the label of probes that only SQL Server has",
    "tempdb filling": "a verdict from such a probe",
    ServerHealthText.TEMPDB_USED: "its proof",
    VersionStoreText.IN_TEMPDB: "`size_spans` is asked if `has_version_store`",
    VersionStoreText.IN_TEMPDB_FOR_ALL: "the same",
    "row versions ": "the same",
    VersionStoreText.GAIN: "the same",
    ServerVerdictText.VERSIONS_KEPT: "only where a version store was read",
    VersionStoreText.GAIN_OF_UNKNOWN_SIZE: "the same",
    HorizonText.NO_HOLDER_OF_VERSIONS: "`has_version_store` is asked first",
    HorizonText.KEEPS_VERSIONS: "if no dead rows are counted",
    ServerHealthText.ROW_VERSIONS: "if no dead rows are counted",
    ServerVerdictText.GHOSTS_SKIPPED: "only where the server counts ghosts that scans skip",
    "ghosts skipped": "the same",
    "GHOST/s": "only where the server counts rows that become ghosts",
    "row versions: each message is a new row to the server": "a word of both: rowversion, and what MVCC keeps",
    ServerVerdictText.EVENT_SESSION: "chosen by engine",
    ServerVerdictText.DEAD_ROWS: "only where dead rows are counted",
    HorizonText.KEEPS_DEAD_ROWS: "the same",
    "dead rows ": "the same",
    HorizonText.NO_HOLDER: "`has_version_store` is asked first",
    HorizonText.NO_DEAD_ROWS: "the same",
    HealthText.UNEXPLAINED: "only if the server does not tell plans apart, as PostgreSQL",
    "dead rows of popped messages are not removed, so each pop reads more of them": "a setting of PostgreSQL",
    "no index finds the dead rows, so qmon scans the table; {index}": "rows of dead messages",
    "the server counts no rows: rates are unknown, and autovacuum does not start": "a setting of PostgreSQL",
    "synchronous_commit": "the same",
    "autovacuum": "the same",
    "autovacuum_enabled": "the same",
    "auto update statistics": "a setting of SQL Server",
    "a DELETE without UPDLOCK leaves no lock on the row: in progress and stuck are lower bounds": "the same",
    "pg_stat_statements": "the name of a probe that only PostgreSQL has",
    "autovacuum worker": "a kind of session that only PostgreSQL has",
    "{name} is an autovacuum worker; {role} may not see its task; this helps: {grant}": "the same",
    "{name} is an autovacuum that prevents wraparound; the server would start it again": "the same",
    "ctid": "the name of a column, not shown",
    "rewritten (VACUUM FULL, CLUSTER, TRUNCATE, ALTER TABLE, or moved)": "only PostgreSQL reports the file of a table",
    "wal_per_cycle": "the name of a figure that only PostgreSQL has",
    "HOT": "the same",
}


def texts(tree: ast.AST, engine: str = "") -> Iterator[tuple[str, str]]:
    """Yield each text except docstrings, with the engine whose key it is under in a table; empty: under none."""
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
    """Return the modules that write proofs, hints and screens."""
    folders = ("model/verdicts", "monitor", "operate", "cli", "tui")
    files = [file for folder in folders for file in (QMON / folder).rglob("*.py")]
    return [*files, QMON / "model" / "reasons.py", QMON / "model" / "settings.py"]


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
    """Return proofs of the verdicts with different text or evidence for each engine."""
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


@pytest.mark.parametrize(("said", "of"), [("run VACUUM", "sqlserver"), ("add READPAST", "postgres")])
def test_every_proof_that_a_test_renders_is_looked_at_for_both_engines(said: str, of: str) -> None:
    rule = Rule("x", Severity.WARNING, 0.0, lambda _: said)
    assert rule.proof(replace(FINE, snapshot=poll(1, 1000.0, fifo(COUNTERS)))) == said
    assert PROOFS.wrong == [f"x on {of}: {said}"]
    PROOFS.wrong.clear()


def test_stale_statistics_name_the_statement_of_the_engine() -> None:
    assert str(proofs("postgres")["statistics"]).endswith("ANALYZE")
    assert str(proofs("sqlserver")["statistics"]).endswith("UPDATE STATISTICS")


def test_meanings_of_waits_have_no_word_of_the_other_engine() -> None:
    for meant in MEANT_POSTGRES.values():
        assert OF_ENGINE["sqlserver"].search(f"{meant.waits_for} {meant.cause} {meant.fix}") is None, meant
    for words in MEANT_SQLSERVER.values():
        assert OF_ENGINE["postgres"].search(" ".join(words)) is None, words
