"""``qmon help``: the manual in the terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli.guard import FAILED
from qmon.cli.guesses import ALIASES, HINTS, hint_for
from qmon.cli.library_page import library_lines
from qmon.cli.output import is_on_terminal, print_note, print_output, print_table
from qmon.errors import BadInput
from qmon.redact import environment_without_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qmon.libraries.library import Library

# Cells: longer lines are hard to read.
_MAX_WIDTH = 100


def register_commands(app: typer.Typer) -> None:
    app.command("help", epilog='Example: qmon help acting, or: qmon help "no consumers", or: qmon help --search trash')(
        show
    )


def show(
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC]", help="A page, verdict, queue library, heading or command."),
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", "-s", metavar="WORD", help="List the lines that contain this text.")
    ] = None,
) -> None:
    """Show the manual: a page, a verdict, or all lines with a word.

    Without a topic: list the pages.
    """
    from qmon import manual

    words = " ".join(topic or ())
    if search is not None:
        _print_matches(search, words)
    elif words in _libraries():
        print_output("\n".join(line for library in _libraries()[words] for line in library_lines(library)).rstrip())
    elif words:
        try:
            _print_page(manual.topic_text(words))
        except BadInput:
            if not (text := _command_help(context, topic or ())):
                raise
            print_output(text)
    else:
        print_table(("TOPIC", "ABOUT"), [(page, manual.page_summary(page)) for page in manual.pages()], wrap=1)


def _command_help(context: typer.Context, words: Sequence[str]) -> str:
    """Return the ``--help`` of a command named by its words, such as ``design bench``; ``""`` if there is none."""
    if words[0] in HINTS:
        return hint_for(words[0])
    at = context.find_root()
    for word in (ALIASES.get(words[0], words)[0], *words[1:]):
        command = at.command.get_command(at, word) if hasattr(at.command, "get_command") else None
        if command is None:
            return ""
        at = typer.Context(command, info_name=word, parent=at)
    return at.get_help()


def _libraries() -> dict[str, list[Library]]:
    """Return the queue libraries that qmon knows, by name; a library on two engines has two."""
    from qmon.libraries.library_catalog import all_libraries

    found: dict[str, list[Library]] = {}
    for each in all_libraries():
        found.setdefault(each.name, []).append(each)
    return found


def _print_matches(word: str, page: str) -> None:
    from qmon import manual
    from qmon.model.config_reader import suggest_nearest

    if not word.strip():
        raise BadInput("--search needs a word")
    if page and page not in manual.pages():
        raise BadInput(f"the manual has no page {page!r}{suggest_nearest(page, manual.pages())}")
    rows = [(part.page, part.heading, line) for part, line in manual.find_lines(word.strip(), page or None)]
    if not rows:
        print_note(f"qmon: the manual does not contain {word.strip()!r}")
        raise typer.Exit(FAILED)
    print_table(("TOPIC", "SECTION", "LINE"), rows, wrap=2)


def _print_page(markdown: str) -> None:
    """Print formatted text through a pager on a terminal, otherwise the plain Markdown."""
    if not is_on_terminal():
        print_output(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, _MAX_WIDTH)
    os.environ.setdefault("LESS", "-FRX")  # as git does: colours, and no pager if the text fits on the screen
    for name in os.environ.keys() - environment_without_secrets(os.environ).keys():
        del os.environ[name]  # the pager inherits the environment
    with console.pager(styles=True):
        console.print(Markdown(markdown))
