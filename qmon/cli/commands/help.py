"""``qmon help``: the manual in the terminal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from qmon.cli.guard import FAILED
from qmon.cli.library_page import page
from qmon.cli.output import note, on_terminal, say, table
from qmon.errors import BadInput
from qmon.redact import without_secrets

if TYPE_CHECKING:
    from qmon.libraries.library import Library

# Cells: longer lines are hard to read.
_WIDEST = 100


def add_to(app: typer.Typer) -> None:
    app.command("help", epilog='Example: qmon help acting, or: qmon help "no poppers", or: qmon help --search trash')(
        show
    )


def show(
    topic: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC]", help="A page, verdict, queue library or heading."),
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", "-s", metavar="WORD", help="List the lines that hold this text.")
    ] = None,
) -> None:
    """Show the manual: a page, the section of a verdict, or every line with a word. Without a topic: list the pages."""
    from qmon import manual

    words = " ".join(topic or ())
    if search is not None:
        _found(search, words)
    elif words in _libraries():
        say("\n".join(line for library in _libraries()[words] for line in page(library)).rstrip())
    elif words:
        _print(manual.topic(words))
    else:
        table(("TOPIC", "ABOUT"), [(page, manual.about(page)) for page in manual.pages()], wrap=1)


def _libraries() -> dict[str, list[Library]]:
    """Return the queue libraries that qmon knows, by name; a library on two engines has two."""
    from qmon.libraries.catalogue import libraries

    found: dict[str, list[Library]] = {}
    for each in libraries():
        found.setdefault(each.name, []).append(each)
    return found


def _found(word: str, page: str) -> None:
    from qmon import manual
    from qmon.model.config_reader import nearest

    if not word.strip():
        raise BadInput("--search: needs a word")
    if page and page not in manual.pages():
        raise BadInput(f"the manual has no page {page!r}{nearest(page, manual.pages())}")
    rows = [(part.page, part.heading, line) for part, line in manual.search(word.strip(), page or None)]
    if not rows:
        note(f"qmon: nothing in the manual holds {word.strip()!r}")
        raise typer.Exit(FAILED)
    table(("TOPIC", "SECTION", "LINE"), rows, wrap=2)


def _print(markdown: str) -> None:
    """Print formatted text through a pager on a terminal, otherwise the plain Markdown."""
    if not on_terminal():
        say(markdown)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.width = min(console.width, _WIDEST)
    os.environ.setdefault("LESS", "-FRX")  # as git does: colours, and no pager if the text fits on the screen
    for name in os.environ.keys() - without_secrets(os.environ).keys():
        del os.environ[name]  # the pager inherits the environment
    with console.pager(styles=True):
        console.print(Markdown(markdown))
