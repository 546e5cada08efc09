"""Asks for a target at a terminal: lists the known targets and shows how to write a URL."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from qmon.cli.output import clean_text, print_note, print_output, print_table
from qmon.errors import BadInput
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.config.known_targets import KnownTarget


class PromptText(Text):
    """Errors of the prompt for a target, and its lines about targets."""

    WHICH_TARGET = "which target? a URL: {example}"
    WHICH_KNOWN_TARGET = "which target? known: {names}{more}; or a URL: {example}"
    MORE = " and {count} more"
    NONE_KNOWN = "No target is configured in {path}, and the driver manager knows no DSN."
    URLS = "\nA URL: {examples}"
    HINT = "Leave out the password; qmon asks for it. `qmon demo` shows demo queues.\n"
    QUESTION = "Number, name or URL"
    DRIVERS = "\nODBC drivers: {drivers}"
    NO_DRIVERS = "the driver manager lists none"
    NO_ANSWER = "{target}: no answer within {duration}"


ENGINES: Final = {"postgres": "PostgreSQL", "sqlserver": "SQL Server", None: ""}
_MOST: Final = 10


def ask_target(path: Path | None) -> str:
    """Ask for a target. Return a name that ``choose`` accepts, a URL or a connection string.

    Raises ``BadInput`` if there is no terminal, or if the configuration cannot be read.
    """
    from qmon.cli.served_dashboard import is_served
    from qmon.config.chosen_target import find_target
    from qmon.config.config_file import read_config
    from qmon.config.known_targets import URL_EXAMPLES, known_targets

    config = read_config(path)
    known = known_targets(config)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        if not known:
            raise BadInput(PromptText.WHICH_TARGET.render(example=URL_EXAMPLES[0]))
        names = ", ".join(each.name for each in known[:_MOST])
        more = PromptText.MORE.render(count=len(known) - _MOST) if len(known) > _MOST else ""
        raise BadInput(PromptText.WHICH_KNOWN_TARGET.render(names=names, more=more, example=URL_EXAMPLES[0]))
    _print_targets(known, config.path, URL_EXAMPLES)
    only = "1" if len(known) == 1 else None
    while True:
        typed = str(typer.prompt(PromptText.QUESTION, default=only, err=True)).strip()
        text = _resolve_answer(typed, known)
        if is_served(text):
            return text
        try:
            find_target(text, config)
        except BadInput as problem:
            print_note(f"qmon: {problem}")
        else:
            return text


def _resolve_answer(typed: str, known_targets: Sequence[KnownTarget]) -> str:
    """Return the target's name for a number in the list. Return any other text unchanged."""
    names = [each.name for each in known_targets]
    if typed not in names and typed.isdecimal() and 0 < int(typed) <= len(names):
        return names[int(typed) - 1]
    return typed


def _print_targets(known_targets: Sequence[KnownTarget], path: Path, urls: Sequence[str]) -> None:
    if known_targets:
        rows = [(number, *target_choice_row(each)) for number, each in enumerate(known_targets, 1)]
        print_table(("NO.", *TARGET_HEADERS), rows, wrap=3)
    else:
        print_output(PromptText.NONE_KNOWN.render(path=clean_text(path)))
    print_output(PromptText.URLS.render(examples=" or ".join(urls[:2])))
    print_output(PromptText.HINT)


TARGET_HEADERS: Final = ("TARGET", "ENGINE", "WHERE", "KNOWN FROM")


def target_choice_row(target: KnownTarget) -> tuple[str, ...]:
    """Return the cells of a target for ``TARGET_HEADERS``."""
    source = f"{target.dsn_of} DSN".lstrip() if target.dsn else "qmon.toml"
    words = (
        source,
        target.environment,
        "prod" * target.prod,
        "read-only" * target.read_only,
        f"{target.queues} queues" if target.queues > 1 else "1 queue" * target.queues,
    )
    place = target.problem or (f"driver {target.place}" if target.dsn else target.place)
    return target.name, ENGINES[target.engine], place, ", ".join(filter(None, words))
