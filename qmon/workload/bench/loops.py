"""The procedures that loop inside the server, made for one queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.engines.base import Bound, Statement
from qmon.engines.sql import queries
from qmon.engines.sql.queries import Name
from qmon.model.layout.layout import Layout
from qmon.workload.bench.cases import Case
from qmon.workload.bench.site import Site

PUSHED: Final = "bench_pushed"
POPPED: Final = "bench_popped"
GATE: Final = f"{{{PUSHED},{POPPED}}}"
"""The two sequences of the gate, as an array literal."""


@dataclass(frozen=True, slots=True)
class Loops:
    """The statements that run one slice of pushing and of popping."""

    push: Statement
    pop: Statement


def make_loops(site: Site, layout: Layout, case: Case) -> Loops:
    """Create the gate and the procedures for one run, in the bench's schema."""
    for gate in (PUSHED, POPPED):
        site.run("gate", {"gate": site.in_schema(gate)})
    suffix = "_loop" if case.batch == 1 else "_batch_loop"
    pop = "take" if case.completes else "pop"
    return Loops(_made(site, layout, f"push{suffix}", "bench_push"), _made(site, layout, f"{pop}{suffix}", "bench_pop"))


def empty_loop(site: Site) -> Statement:
    """Create the loop with nothing in it."""
    site.run("empty_loop", {"loop": site.in_schema("bench_empty")})
    return site.statement("call", {"loop": site.in_schema("bench_empty")})


def _made(site: Site, layout: Layout, file: str, procedure: str) -> Statement:
    query = queries.load(site.engine.name, f"action/bench/{file}", site.connection.version)
    own: dict[str, Name] = {
        "loop": site.in_schema(procedure),
        "pushed": site.in_schema(PUSHED),
        "popped": site.in_schema(POPPED),
    }
    if "type" in query.names:
        own["type"] = _message_type(site, layout)
    names = {name: own[name] if name in own else _routine(layout, name) for name in query.names}
    site.connection.execute(Bound(queries.render(query, names, site.engine)))
    return site.statement("call", {"loop": site.in_schema(procedure)})


def _routine(layout: Layout, verb: str) -> Name:
    found = layout.routine(verb)
    return None if found is None else found.parts


def _message_type(site: Site, layout: Layout) -> Name:
    push = layout.routine("push")
    ((home, name),) = site.rows("message_type", {"schema": site.schema, "push": "" if push is None else push.name})
    return (str(home), str(name))
