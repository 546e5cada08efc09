"""``qmon pipeline tidy``: compacts files and deletes old data; ``qmon pipeline views``: prints SQL views."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from qmon.cli import options
from qmon.cli.commands.pipeline.pipeline_options import check_pipeline_extra, lake_path
from qmon.cli.output import print_output, print_table
from qmon.errors import BadInput
from qmon.texts import Text


class TidyText(Text):
    """Faults of the options of tidy."""

    KEEP_TOO_SHORT = "--keep-{name} must be at least 1d, such as 90d"


_LEAST_S: Final = 86400.0


def tidy(
    context: typer.Context,
    samples: Annotated[
        float | None,
        options.duration_option("--keep-samples", help="Delete samples and polls older than this."),
    ] = None,
    minutes: Annotated[
        float | None,
        options.duration_option("--keep-minutes", help="Delete minutes older than this."),
    ] = None,
    messages: Annotated[
        float | None,
        options.duration_option("--keep-messages", help="Delete messages archived longer ago than this."),
    ] = None,
) -> None:
    """Compact small files of the lake, and delete old data.

    qmon deletes files that have not been referenced for 7 days. Readers that started earlier fail. qmon never deletes
    hours, days and incidents. Run this command once a day. Other commands may read and write at the same time. The
    command does not start Spark.
    """
    kept = {"samples": samples, "minutes": minutes, "messages": messages}
    for name, kept_s in kept.items():
        if kept_s is not None and kept_s < _LEAST_S:
            raise BadInput(TidyText.KEEP_TOO_SHORT.render(name=name))
    place = lake_path(context)
    check_pipeline_extra()
    from qmon.pipeline.lake.maintenance import LakeRetention, tidy_lake

    found = tidy_lake(place, LakeRetention({name: each for name, each in kept.items() if each is not None}))
    rows = [(each.table, each.compacted, each.into, each.old_rows, each.removed) for each in found]
    print_table(("table", "files", "became", "old rows removed", "files removed"), rows)


def views(
    context: typer.Context,
    reader: Annotated[
        Literal["duckdb", "spark"], typer.Argument(metavar="[READER]", help="Reader: duckdb or spark.")
    ] = "duckdb",
) -> None:
    """Print the SQL of views on a lake, for DuckDB or Spark.

    The SQL creates a view for each table, and views of rates, incidents and weeks; see `qmon help lake`. The SQL
    contains the absolute path of the lake, so you can run it in any folder. DuckDB needs its extension delta. Spark
    needs Delta Lake.
    """
    check_pipeline_extra()
    from qmon.pipeline.lake.views import view_statements

    for statement in view_statements(reader, lake_path(context)):
        print_output(f"{statement};\n")
