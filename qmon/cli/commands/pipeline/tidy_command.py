"""``qmon pipeline tidy``: compacts files and deletes old data; ``qmon pipeline views``: prints SQL views."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from qmon.cli import options
from qmon.cli.commands.pipeline.pipeline_options import Conf, LakePath, Master, check_extra, open_lake
from qmon.cli.output import print_output, print_report, print_table
from qmon.errors import BadInput

_UNUSED_S: Final = 7 * 86400.0
_LEAST_S: Final = 86400.0


def tidy(
    lake: LakePath,
    samples: Annotated[
        float | None,
        typer.Option(
            "--keep-samples",
            parser=options.parse_seconds,
            metavar="TIME",
            help="Remove samples that are older, and polls.",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--keep-minutes", parser=options.parse_seconds, metavar="TIME", help="Remove minutes that are older."
        ),
    ] = None,
    messages: Annotated[
        float | None,
        typer.Option(
            "--keep-messages", parser=options.parse_seconds, metavar="TIME", help="Remove messages archived before."
        ),
    ] = None,
    unused: Annotated[
        float,
        typer.Option(
            "--unused",
            parser=options.parse_seconds,
            metavar="TIME",
            help="Remove files that no version of so long has needed; a reader that began before loses them.",
        ),
    ] = _UNUSED_S,
    master: Master = None,
    conf: Conf = None,
    output: options.Output = "table",
) -> None:
    """Write small files anew as large ones, remove what is older than it is kept, and files that nothing needs.

    Hours, days and incidents are kept for ever. Once a day is often enough; others may read and write meanwhile.
    """
    kept = {"samples": samples, "minutes": minutes, "messages": messages}
    for name, kept_s in kept.items():
        if kept_s is not None and kept_s < _LEAST_S:
            raise BadInput(f"--keep-{name} takes a day at least, such as 90d")
    if unused < _LEAST_S:
        raise BadInput("--unused takes a day at least: what a run under way has written no version needs yet")
    with open_lake(lake, master, conf) as place:
        from qmon.pipeline.lake.maintenance import LakeRetention, tidy_lake

        found = tidy_lake(place, LakeRetention({name: each for name, each in kept.items() if each is not None}, unused))
    rows = [(each.table, each.compacted, each.into, each.old_rows, each.removed) for each in found]
    if output == "table":
        print_table(
            ("table", "files", "became", "old rows removed", "files removed"), [tuple(map(str, r)) for r in rows]
        )
        return
    from qmon.cli.reports.pipeline import TidyReport

    names = ("table", "compacted", "into", "old_rows", "removed")
    whole = {"schema": 1, "tables": [dict(zip(names, row, strict=True)) for row in rows]}
    print_report(output, whole, TidyReport, "tables")


def views(
    lake: LakePath,
    reader: Annotated[str, typer.Option("--for", metavar="READER", help="duckdb or spark.")] = "duckdb",
) -> None:
    """Print the SQL that makes a view of each table of a lake, and of what follows from them: rates, incidents, weeks.

    The views are described in docs/lake.md. For DuckDB they need its extension delta, for Spark SQL Delta Lake.
    """
    check_extra()
    from qmon.pipeline.lake.views import READERS, view_statements

    if reader not in READERS:
        raise BadInput(f"--for takes {' or '.join(READERS)}")
    for statement in view_statements(reader, lake):
        print_output(f"{statement};\n")
