"""The statements of a load on SQL Server."""

from __future__ import annotations

from typing import Final

from qmon.engines.sql import queries
from qmon.model.layout.layout import Layout
from qmon.workload.workload_statements import WorkloadStatements
from tests.workload.answering import DESIGNS, ENGINE, layout_of

MAJORS: Final = (10, 17)
HOSTILE: Final = ("[a]]b].[c d]", '"; drop table x; --', "\U0001f418 it's $(x) {odd} ? :name", "-- /* x", "GO")
FILES: Final = tuple(sorted({file.name for file in queries.all_files() if file.name.startswith("action/workload/")}))


def wanted(layout: Layout, major: int) -> dict[str, str]:
    """Return every statement that a load of this queue may send, by name."""
    statements = WorkloadStatements(ENGINE, layout, (major, 0))
    holds = statements.hold_statement(5).statement
    depth = statements.bind(statements._depth_statement()[0]).statement
    out = {holds.name: holds.text, depth.name: depth.text}
    for name in (name.rpartition("/")[2] for name in FILES):
        if name in ("session", "pin"):
            continue
        verb = {"push_batch_bytes": "push_batch"}.get(name, name)
        taking = name.startswith("take") == layout.traits.completes or not name.startswith(("take", "pop"))
        if name.startswith(("hold", "depth")) or not statements.has_routine(verb) or not taking:
            continue
        if name.startswith("push_batch") and name != statements._push_batch_statement():
            continue
        if name == "pop_subscriber" and (layout.ring is None or not layout.ring.subscribers):
            continue
        out[f"action/workload/{name}"] = statements.bind(name).statement.text
    return out


def sent_by_a_load() -> list[str]:
    """Return every statement of a load, for each design and version."""
    texts = dict[str, None]()
    for number, design in enumerate(DESIGNS):
        for major in MAJORS:
            texts.update(dict.fromkeys(wanted(layout_of(design, major, HOSTILE[number % 5]), major).values()))
    for name in ("session", "pin"):
        query = queries.load_query("sqlserver", f"action/workload/{name}", (16, 0))
        texts[queries.render(query, {}, ENGINE).text] = None
    assert len(texts) > 60
    return list(texts)
