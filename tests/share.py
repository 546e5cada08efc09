"""``make share``: the man page and shell completions in the wheel, generated from the commands."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, Final

import typer
from typer._completion_shared import get_completion_script
from typer.main import get_command

from qmon.cli.app import app, main

FOLDER: Final = Path(__file__).parents[1] / "docs" / "share"
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


def _roff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped[:1] in (".", "'") else escaped


if __name__ == "__main__":
    for path, text in files().items():
        place = FOLDER / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
