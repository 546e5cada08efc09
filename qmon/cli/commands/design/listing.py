"""``qmon design list`` and ``show``: list the queue designs, and print the SQL of a design."""

from __future__ import annotations

from typing import Annotated

import typer

from qmon.cli import options
from qmon.cli.output import print_output, print_table

_DEFAULT_SCHEMAS = {"postgres": "public", "sqlserver": "dbo"}


def register_commands(app: typer.Typer) -> None:
    app.command("list", epilog="Example: qmon design list")(designs)
    app.command("show", epilog="Example: qmon design show ring --engine sqlserver --version 13 > ring.sql")(show)


def designs() -> None:
    """List the queue designs, and the servers on which each design can run."""
    from qmon.engines.registry import engine_named
    from qmon.engines.sql.queries import ENGINES
    from qmon.model.layout.designs import TRAITS
    from qmon.operate.install.install_queue import available_designs

    where = {name: available_designs(engine_named(name)) for name in ENGINES}
    rows = [(name, traits, [e for e in ENGINES if name in where[e]]) for name, traits in TRAITS.items()]
    print_table(
        ("DESIGN", "ARTICLE", "INSTALLS ON", "ESSENCE"),
        [(name, traits.article, ", ".join(on) or "-", traits.essence) for name, traits, on in rows],
        wrap=3,
    )


def show(
    design: Annotated[str, typer.Argument(metavar="DESIGN", help="See: qmon design list.", show_default=False)],
    engine: Annotated[options.EngineChoice, typer.Option("--engine", help="Server product.")],
    schema: Annotated[
        str | None,
        typer.Option("--schema", metavar="S", help="Schema. Default: public on PostgreSQL, dbo on SQL Server."),
    ] = None,
    queue: Annotated[
        str | None, typer.Option("--queue", metavar="Q", help="Queue name. Default: the name of the design.")
    ] = None,
    ring_size: options.RingSize = None,
    subscribers: options.Subscribers = None,
    version: Annotated[
        int | None,
        typer.Option(
            "--version", metavar="N", min=8, max=1000, help="Major version of the server. Default: the newest."
        ),
    ] = None,
) -> None:
    """Print the SQL of a design, ready to run.

    The output contains the statements of `qmon design install`, in order, for a DBA to review. qmon does not connect to
    a server.
    """
    from qmon.engines.registry import engine_named as known
    from qmon.operate.install.install_queue import DEFAULT_RING_SIZE, prepare_install
    from qmon.operate.install.install_script import install_script, newest_file_version

    server = known(engine)
    major = (newest_file_version(engine) if version is None else version, 0)
    ready = prepare_install(
        server,
        major,
        design,
        schema=_DEFAULT_SCHEMAS[engine] if schema is None else schema,
        queue=design if queue is None else queue,
        ring_size=DEFAULT_RING_SIZE if ring_size is None else ring_size,
        subscribers=subscribers,
    )
    print_output(install_script(server, major, ready).rstrip("\n"))
