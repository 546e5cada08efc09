"""``qmon help``: shows the manual in the terminal."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from qmon.cli import options
from qmon.cli.guard import FAILED
from qmon.cli.library_page import library_lines
from qmon.cli.output import is_on_terminal, print_note, print_output, print_table
from qmon.errors import BadInput
from qmon.redact import environment_without_secrets
from qmon.texts import Text


class HelpText(Text):
    """Results of a search in the manual."""

    ALIAS = "qmon: {topic} is explained under {alias}"
    NO_WORD = "--search needs a word"
    NO_PAGE = "the manual has no page {page!r}{nearest}"
    NOT_FOUND = "qmon: the manual does not contain {word!r}"


# Maximum width of text in cells, because longer lines are hard to read.
_MAX_WIDTH = 100

# Maximum length of the name of a key, such as `space`.
_LONGEST_KEY = 5


def register_commands(app: typer.Typer) -> None:
    app.command("help", epilog='Example: qmon help acting, or: qmon help "no consumers", or: qmon help --search trash')(
        show
    )


def show(
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC]", help="A command, key, page, verdict, queue library, heading or word."),
    ] = None,
    search: Annotated[
        str | None, typer.Option("--search", "-s", metavar="WORD", help="List the lines that contain this text.")
    ] = None,
) -> None:
    """Show the manual. Without a topic, list the pages.

    qmon searches for the topic in commands, keys, pages, headings, words of other queue systems, and then all lines.
    """
    from qmon import manual
    from qmon.libraries.library_catalog import add_config_folder, all_libraries

    if (config := options.config_path(context)) is not None:
        add_config_folder(config.parent)
    words = " ".join(topic or ())
    if search is not None:
        _print_matches(search, words)
    elif not words:
        print_table(("TOPIC", "ABOUT"), [(page, manual.page_summary(page)) for page in manual.pages()], wrap=1)
    elif libraries := [
        each for each in all_libraries() if each.name == words
    ]:  # a library may have one page per engine
        print_output("\n".join(line for library in libraries for line in library_lines(library)).rstrip())
    else:
        _print_topic(context, words)


def _print_topic(context: typer.Context, topic: str) -> None:
    """Print the first match among commands, keys, pages, headings, aliases and lines. Raises ``BadInput``."""
    from qmon import manual
    from qmon.cli.guesses import ALIASES

    if _try_print_command(context, topic) or _try_print_key(topic):
        return
    alias = manual.ALIASES.get(manual.normalize_words(topic)) or next(iter(ALIASES.get(topic, ())), None)
    if (found := manual.find_topic(topic)) is not None:
        _print_page(found)
    elif alias is not None:
        print_note(HelpText.ALIAS.render(topic=topic, alias=alias))
        if not _try_print_command(context, alias):
            _print_page(manual.topic_text(alias))
    elif rows := list(manual.find_lines(topic.strip(), whole_words=True)):
        print_table(("TOPIC", "SECTION", "LINE"), [(part.page, part.heading, line) for part, line in rows], wrap=2)
    else:
        _print_page(manual.topic_text(topic))


def _try_print_command(context: typer.Context, topic: str) -> bool:
    """Print the help of a command. Return false if there is no command with this name."""
    at: Any = context.parent
    for name in topic.split():
        group: Any = at.command if at is not None else None
        if group is None or not hasattr(group, "list_commands") or name not in group.list_commands(at):
            return False
        at = type(context)(group.get_command(at, name), info_name=name, parent=at)
    text = at.command.get_help(at)
    if text:  # empty if rich has printed it
        print_output(text)
    return True


def _try_print_key(topic: str) -> bool:
    """Print the effect of a key on each screen. Return false if there is no key with this name."""
    if len(topic) > _LONGEST_KEY:
        return False
    from qmon.tui.shared.help_dialog import all_bindings
    from qmon.tui.shared.keybar import key_name

    found = [each for each in all_bindings() if topic in (each.key.split(","), *key_name(each).split())]
    rows = dict.fromkeys((key_name(each), each.description, each.tooltip or "") for each in found)
    if rows:
        print_table(("KEY", "NAME", "WHAT IT DOES"), list(rows), wrap=2)
    return bool(rows)


def _print_matches(phrase: str, page: str) -> None:
    from qmon import manual
    from qmon.model.config_reader import suggest_nearest

    if not phrase.strip():
        raise BadInput(HelpText.NO_WORD)
    if page and page not in manual.pages():
        raise BadInput(HelpText.NO_PAGE.render(page=page, nearest=suggest_nearest(page, manual.pages())))
    rows = [(part.page, part.heading, line) for part, line in manual.find_lines(phrase.strip(), page or None)]
    if not rows:
        print_note(HelpText.NOT_FOUND.render(word=phrase.strip()))
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
    os.environ.setdefault("LESS", "-FRX")  # like git: colours, and no pager if the text fits on the screen
    for name in os.environ.keys() - environment_without_secrets(os.environ).keys():
        del os.environ[name]  # the pager inherits the environment
    with console.pager(styles=True):
        console.print(Markdown(markdown))
