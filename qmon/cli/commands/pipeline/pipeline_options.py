"""Defines parameters that the commands of ``qmon pipeline`` share, and opens the lake."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon import files
from qmon.cli.shared_options import shared_value
from qmon.errors import BadInput
from qmon.system import install_command
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.pipeline.lake.lake import Lake


class PipelineOptionText(Text):
    """Faults of the options that commands of the pipeline share."""

    NEEDS_SPARK = "the pipeline needs Spark, and Java 17 or later: {command}"
    NO_LAKE = "missing; name the folder of the lake"
    NOT_A_SETTING = "--conf needs NAME=VALUE, such as spark.driver.memory=4g; not {text!r}"


_EXTRA_PACKAGES: Final = ("pyspark", "pyarrow", "pandas", "deltalake")

LakePath = Annotated[
    str | None, typer.Option("--lake", metavar="PATH", help="Folder of the lake, on any Hadoop file system.")
]
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Spark master. Default: all processors of this machine."),
]
Conf = Annotated[list[str] | None, typer.Option("--conf", metavar="NAME=VALUE", help="Spark setting. Repeatable.")]

# Interval of --continuous, in seconds.
EVERY_S: Final = 60.0


def check_pipeline_extra() -> None:
    """Raise ``BadInput``, with the install command, if the extra is missing."""
    if any(importlib.util.find_spec(name) is None for name in _EXTRA_PACKAGES):
        raise BadInput(PipelineOptionText.NEEDS_SPARK.render(command=install_command("pipeline")))


def declare_lake_options(lake: LakePath = None, master: Master = None, conf: Conf = None) -> None:
    """Accept the options of all pipeline commands. ``lake_path`` and ``open_lake`` read the values from the context."""


def lake_path(context: typer.Context) -> str:
    """Return the folder of the lake. Raises a usage error if ``--lake`` is missing."""
    found: str | None = shared_value(context, "lake")
    if not found:
        raise typer.BadParameter(PipelineOptionText.NO_LAKE, context, param_hint="'--lake'")
    return files.expand_home(found)


@contextmanager
def open_lake(context: typer.Context, *, little_data: bool = True) -> Iterator[Lake]:
    """Open the lake with a Spark session for one command. ``little_data``: the command processes little data.

    Raises ``BadInput`` if the extra is missing or a setting is invalid.
    """
    lake = lake_path(context)
    check_pipeline_extra()
    settings = {}
    conf: list[str] = shared_value(context, "conf") or []
    for text in conf:
        name, symbol, value = text.partition("=")
        if not (name.strip() and symbol):
            raise BadInput(PipelineOptionText.NOT_A_SETTING.render(text=text))
        settings[name.strip()] = value.strip()
    from qmon.pipeline.lake.lake import Lake
    from qmon.pipeline.spark_session import spark_session

    with spark_session(shared_value(context, "master"), settings, little_data=little_data) as session:
        yield Lake(session, lake)
