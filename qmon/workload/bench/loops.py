"""The procedures that loop inside the server, created for one queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Bound, Engine, Statement
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.model.layout.layout import Layout
from qmon.workload.bench.bench_plan import Case
from qmon.workload.bench.bench_site import BenchSite
from qmon.workload.workload_statements import table_type_for

PUSHED: Final = "bench_pushed"
POPPED: Final = "bench_popped"

# The two sequences of the gate, as an array literal.
GATE: Final = f"{{{PUSHED},{POPPED}}}"

# The statements that create the type for the result of a pop, keyed by the columns of the result.
_FOUND: Final = {
    ("id", "payload"): "found",
    ("id", "payload", "attempt"): "found_attempt",
    ("id", "payload", "attempt", "title", "queue_date_time"): "found_title",
}


@dataclass(frozen=True, slots=True)
class Loops:
    """The statements that run one slice of pushes and of pops."""

    push: Statement
    pop: Statement


def make_loops(site: BenchSite, layout: Layout, case: Case) -> Loops:
    """Create the gate and the procedures for one run, in the bench's schema."""
    for gate in (PUSHED, POPPED):
        site.run_statement("gate", {"gate": site.qualified_name(gate)})
    suffix = "_loop" if case.batch == 1 else "_batch_loop"
    pop = "take" if case.completes else "pop"
    if layout.ring is not None and site.has_statement(f"{pop}_ring{suffix}"):
        pop += "_ring"
    verb = "pop" if case.batch == 1 else "pop_batch"
    push = _make_procedure(site, layout, f"push{suffix}", "bench_push", verb)
    return Loops(push, _make_procedure(site, layout, f"{pop}{suffix}", "bench_pop", verb))


def make_empty_loop(site: BenchSite) -> Statement:
    """Create an empty loop, and return the statement that calls it."""
    site.run_statement("empty_loop", {"loop": site.qualified_name("bench_empty")})
    return site.statement("call", {"loop": site.qualified_name("bench_empty")})


def _make_procedure(site: BenchSite, layout: Layout, file: str, procedure: str, pop: str) -> Statement:
    """Create one procedure. ``pop``: the routine that pops messages."""
    query = queries.load_query(site.engine.name, f"action/bench/{file}", site.connection.version)
    own: dict[str, Name] = {
        "loop": site.qualified_name(procedure),
        "pushed": site.qualified_name(PUSHED),
        "popped": site.qualified_name(POPPED),
    }
    if "type" in query.names:
        own["type"] = _message_type(site, layout)
    if "found" in query.names:
        own["found"] = _create_pop_result_type(site, layout, pop)
    names = {name: own[name] if name in own else routine_or_type(layout, name) for name in query.names}
    site.connection.execute(Bound(queries.render(query, names, site.engine)))
    return site.statement("call", {"loop": site.qualified_name(procedure)})


def routine_or_type(layout: Layout, slot: str) -> Name:
    """Return a routine of the design, or the type of a routine's parameter; ``None`` if the design does not have it."""
    found = layout.routine_for(slot)
    return table_type_for(layout, slot) if found is None else found.parts


def pop_result_type_file(engine: Engine, version: tuple[int, int], layout: Layout, verb: str) -> str:
    """Return the name of the statement that creates the type for the result of a procedure of the design."""
    files = queries.design_files(engine.name, layout.design, version)
    (columns,) = (query.columns for query in files if f"CREATE PROCEDURE {{{verb}}}" in query.text)
    return _FOUND[columns]


def _create_pop_result_type(site: BenchSite, layout: Layout, verb: str) -> Name:
    made = site.qualified_name("bench_found")
    file = pop_result_type_file(site.engine, site.connection.version, layout, verb)
    site.run_statement(file, {"found": made, "type": _message_type(site, layout)})
    return made


def _message_type(site: BenchSite, layout: Layout) -> Name:
    if not site.has_statement("message_type"):
        return ("varbinary" if layout.traits.binary else "nvarchar",)
    push = layout.routine_for("push")
    ((home, name),) = site.fetch_rows(
        "message_type", {"schema": site.schema, "push": "" if push is None else push.name}
    )
    return (str(home), str(name))
