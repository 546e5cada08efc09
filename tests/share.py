"""``make share``: man page, shell completions, the manual's list of metrics, and rows of ``sql/README.md``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import typer
from typer._completion_shared import get_completion_script
from typer.main import get_command

from qmon.cli.app import app, main
from qmon.engines.sql import queries
from qmon.metrics.metric_list import METRICS
from qmon.model.probe_table import PROBES, probes_for
from qmon.model.queue_figures import DIRECT_FIGURES
from qmon.model.samples.server_state_samples import ServerState

METRICS_PAGE: Final = Path(__file__).parents[1] / "docs" / "metrics.md"
_METRICS_HEAD: Final = "| metric | type | labels | meaning |\n|---|---|---|---|\n"
FOLDER: Final = Path(__file__).parents[1] / "docs" / "share"
SQL_README: Final = Path(__file__).parents[1] / "sql" / "README.md"
# The row of the table of figures below which direct figures are listed.
_LAST_ROW: Final = "| rights |"
COMPLETIONS: Final = {
    "bash": "bash-completion/completions/qmon",
    "zsh": "zsh/site-functions/_qmon",
    "fish": "fish/vendor_completions.d/qmon.fish",
}
_FILES: Final = (
    ("~/.config/qmon/qmon.toml", "the configuration; qmon help configuration"),
    ("~/.local/state/qmon/", "the log and the audit of operations; elsewhere on Windows and macOS"),
)


def files() -> dict[str, str]:
    """Return the files of ``docs/share`` by path."""
    made = {
        path: get_completion_script(prog_name="qmon", complete_var="_QMON_COMPLETE", shell=shell).strip() + "\n"
        for shell, path in COMPLETIONS.items()
    }
    return made | {"man/man1/qmon.1": man_page()}


def metrics_page() -> str:
    """Return the manual's page about metrics, with the list of all metrics."""
    before, _, rest = METRICS_PAGE.read_text(encoding="utf-8").partition(_METRICS_HEAD)
    names = [each.name + "_total" * (each.type == "counter") for each in METRICS]
    rows = [
        f"| `{name}` | {each.type} | {', '.join(each.labels)} | {each.help} |\n"
        for name, each in zip(names, METRICS, strict=True)
    ]
    return before + _METRICS_HEAD + "".join(rows) + rest[rest.index("\n\n") + 1 :]


def man_page() -> str:
    """Return the man page, in the macros of man(7)."""
    root: Any = get_command(app)
    context = typer.Context(root, info_name="qmon")
    lines = [".TH QMON 1", ".SH NAME", r"qmon \- watch and mend message queues kept in database tables"]
    lines += [".SH SYNOPSIS", r".B qmon", r"[\fIOPTIONS\fR] \fICOMMAND\fR [\fIARGUMENTS\fR]"]
    lines += [".SH DESCRIPTION", _roff(" ".join((root.help or "").split()))]
    lines += [
        "The whole manual:",
        r'.BR "qmon help" ;',
        "each command and its options:",
        r'.BR "qmon COMMAND --help" .',
    ]
    lines.append(".SH OPTIONS")
    for option in root.params:
        if (shown := option.get_help_record(context)) is not None:
            lines += [".TP", rf".B {_roff(shown[0])}", _roff(shown[1])]
    lines.append(".SH COMMANDS")
    for name in root.list_commands(context):
        text = inspect.cleandoc(root.get_command(context, name).help or "").split("\n\n")[0]
        lines += [".TP", rf".B {_roff(name)}", _roff(" ".join(text.split()))]
    codes = re.findall(r"(\d+)(?: ([^;.]+))?[;.]", (main.__doc__ or "").partition("codes: ")[2])
    lines.append(".SH EXIT STATUS")
    for code, meaning in codes:
        lines += [".TP", f".B {code}", _roff(meaning or "done")]
    lines.append(".SH FILES")
    for path, meaning in _FILES:
        lines += [".TP", f".I {_roff(path)}", _roff(meaning)]
    return "\n".join(lines) + "\n"


def sql_readme() -> str:
    """Return ``sql/README.md`` with the rows that follow from the SQL files.

    They are the rows of figures that no code names, and of probes of server health that no other row names.
    """
    purposes = {
        (file.engine, file.name.removeprefix("probe/")): queries.read_query(file).purpose
        for file in queries.all_files()
        if file.kind == "probe"
    }

    def row(words: str, probes: Sequence[str]) -> str:
        cells = [
            "; ".join(f"{found} (`{probe}`)" for probe in probes if (found := purposes.get((engine, probe))))
            for engine in queries.ENGINES
        ]
        return f"| {words} | {cells[0] or '–'} | {cells[1] or '–'} |"

    made = {
        figure.screen_name: (figure.probe.name,) if figure.probe is not None else probes_for(figure.field)
        for figure in DIRECT_FIGURES
    }
    lines = SQL_README.read_text("utf-8").splitlines()
    for name in sorted(ServerState.__annotations__.keys() & PROBES.keys()):
        words = PROBES[name].subject
        if not any(f"`{name}`" in line and not line.startswith(f"| {words} |") for line in lines):
            made[words] = (name,)
    lines = [line for line in lines if not line.startswith(tuple(f"| {words} |" for words in made))]
    place = next(number for number, line in enumerate(lines) if line.startswith(_LAST_ROW))
    rows = [row(words, probes) for words, probes in made.items()]
    return "\n".join([*lines[: place + 1], *rows, *lines[place + 1 :]]) + "\n"


def _roff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped


if __name__ == "__main__":
    SQL_README.write_text(sql_readme(), encoding="utf-8")
    for path, text in files().items():
        place = FOLDER / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    METRICS_PAGE.write_text(metrics_page(), encoding="utf-8")
