"""``qmon designs``: lists the queue designs and prints the SQL of one."""

from __future__ import annotations

from typing import Annotated

import typer

from qmon.cli import options
from qmon.cli.output import report, say, table

_HOMES = {"postgres": "public", "sqlserver": "dbo"}


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(invoke_without_command=True)
    group.callback()(designs)
    group.command("show", epilog="Example: qmon designs show ring --engine sqlserver --version 13 > ring.sql")(show)
    app.add_typer(group, name="designs", epilog="Example: qmon designs, or: qmon designs show ring --engine postgres")


def designs(context: typer.Context, output: options.Output = "table") -> None:
    """List the queue designs that qmon knows, and which of them it can install where; or show the SQL of one."""
    if context.invoked_subcommand is not None:
        return
    from qmon.engines.registry import engine
    from qmon.engines.sql.queries import ENGINES
    from qmon.model.layout.designs import TRAITS
    from qmon.operate.install.install import available

    where = {name: available(engine(name)) for name in ENGINES}
    rows = [(name, traits, [e for e in ENGINES if name in where[e]]) for name, traits in TRAITS.items()]
    if output != "table":
        from qmon.cli.reports.target import DesignsReport

        known = [{"name": n, "article": t.article, "essence": t.essence, "installs_on": e} for n, t, e in rows]
        report(output, {"schema": 1, "designs": known}, DesignsReport, "designs")
        return
    table(
        ("DESIGN", "ARTICLE", "INSTALLS ON", "ESSENCE"),
        [(name, traits.article, ", ".join(on) or "-", traits.essence) for name, traits, on in rows],
        wrap=3,
    )


def show(
    design: Annotated[str, typer.Argument(metavar="DESIGN", help="A design; see: qmon designs.", show_default=False)],
    engine: Annotated[options.EngineChoice, typer.Option("--engine", help="The kind of server.")],
    schema: Annotated[
        str | None, typer.Option("--schema", metavar="S", help="The schema. Default: public, or dbo.")
    ] = None,
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="Q", help="The queue's name. Default: the design's.")
    ] = None,
    ring_size: options.RingSize = None,
    subscribers: options.Subscribers = None,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", min=8, max=1000, help="The server's major version. Default: a new one."),
    ] = None,
) -> None:
    """Print the SQL that qmon install would run, in order and ready to run, so that a DBA can review it.

    Connects to nothing.
    """
    from qmon.engines.registry import engine as known
    from qmon.operate.install.install import DEFAULT_RING_SIZE, prepare
    from qmon.operate.install.script import newest, script

    server = known(engine)
    major = (newest(engine) if version is None else version, 0)
    ready = prepare(
        server,
        major,
        design,
        schema=_HOMES[engine] if schema is None else schema,
        queue=design if queue is None else queue,
        ring_size=DEFAULT_RING_SIZE if ring_size is None else ring_size,
        subscribers=subscribers,
    )
    say(script(server, major, ready).rstrip("\n"))
