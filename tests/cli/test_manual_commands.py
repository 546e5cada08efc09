"""Every command in the manual exists, with all the options that the manual uses; its snippets are valid."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from qmon.cli import app
from qmon.config.config_file import parse_config
from tests import manual

ROOT: Any = get_command(app)
# The application name of polling sessions.
NO_COMMAND = ["poll"]
# The beginning of a TOML block that is a whole file.
WHOLE = ("[target.", "[[alert]]", "[[notify]]")


def problem_of(words: list[str]) -> str | None:
    """Return the first word of a command line that qmon does not have: a command or an option."""
    command: Any = ROOT
    known = {"--help", "-h"} | options(ROOT)
    for word in words:
        if word.startswith("-") and len(word) > 1:
            if word.split("=")[0] not in known:
                return word
        elif hasattr(command, "list_commands") and re.fullmatch(r"[a-z-]+", word):
            command = command.get_command(typer.Context(command), word)
            if command is None:
                return word
            known |= options(command)
    return None


def options(command: Any) -> set[str]:
    """Return the names of a command's options."""
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("path", manual.PAGES, ids=lambda path: path.name)
def test_every_command_and_option_of_a_page_exists(path: Path) -> None:
    text = path.read_text("utf-8")
    named = (*manual.commands(text), *manual.mentioned(text))
    found = {" ".join(words): problem_of(words) for words in named if words != NO_COMMAND}
    assert {line: word for line, word in found.items() if word is not None} == {}


@pytest.mark.parametrize(("line", "problem"), [("requeue shop --nope", "--nope"), ("requeu shop", "requeu")])
def test_a_command_or_option_that_does_not_exist_is_found(line: str, problem: str) -> None:
    assert problem_of(line.split()) == problem


@pytest.mark.parametrize("path", manual.PAGES, ids=lambda path: path.name)
def test_every_whole_configuration_of_a_page_can_be_read(path: Path) -> None:
    blocks = [block for block in manual.snippets(path.read_text("utf-8"), "toml") if block.startswith(WHOLE)]
    read = [parse_config(block, Path("qmon.toml")) for block in blocks]
    assert all(each.targets or each.alerts or each.receivers for each in read)


def test_the_pages_have_whole_configurations() -> None:
    having = {path.stem for path in manual.PAGES if re.search(r"^```toml\n\[target\.", path.read_text("utf-8"), re.M)}
    assert {"tasks", "configuration"} <= having
