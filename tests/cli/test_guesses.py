"""The first guesses of newcomers work, or one line names the right command."""

from __future__ import annotations

import pytest

import qmon
from qmon.cli.app import PANELS, app
from qmon.cli.commands.act.run_action import RunText
from qmon.cli.guesses import ALIASES, HINTS, GuessText, rewrite_arguments
from qmon.cli.target_prompt import PromptText
from qmon.cli.target_session import SessionText
from qmon.config.chosen_target import TargetText
from qmon.engines.postgres.postgres_errors import PostgresErrorText
from qmon.model.formatting import DurationText
from qmon.texts import Text
from qmon.tui.run import TerminalText
from tests.cli.calling import call
from tests.wordings import has

pytestmark = pytest.mark.server

# Refuses connections at once.
URL = "postgresql://me@127.0.0.1:1/shop"
REFUSED = (PostgresErrorText.REFUSED, {"where": PostgresErrorText.HOST_PORT.render(host="127.0.0.1", port=1)})
NO_TERMINAL = (TerminalText.NO_TERMINAL, {"stream": "input"})


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("", "Usage: qmon [OPTIONS] COMMAND"),
        ("version", f"qmon {qmon.__version__}"),
        ("-V", f"qmon {qmon.__version__}"),
        (f"list {URL}", REFUSED),
        (f"ls {URL}", REFUSED),
        (f"watch {URL}", NO_TERMINAL),
        (f"top {URL}", NO_TERMINAL),
        (URL, NO_TERMINAL),
        (f"--dsn {URL}", NO_TERMINAL),
        (f"--url={URL}", NO_TERMINAL),
        (f"connect {URL} --queue orders", NO_TERMINAL),
        (f"status --dsn {URL}", REFUSED),
        (f"status --url={URL} --json", REFUSED),
        (f"status {URL} --queue orders", REFUSED),
        (f"status {URL} orders", (SessionText.IF_QUEUE, {"word": "orders"})),
        ("connect", PromptText.WHICH_TARGET),
        ("list", TargetText.NO_TARGET),
        ("targets --json --no-connect", '"targets": []'),
        (f"retry {URL} orders", REFUSED),
        (f"kill {URL} 61", REFUSED),
        (f"purge {URL} orders", REFUSED),
        ("requeue orders", (RunText.WHICH_TARGET, {"command": "requeue", "target": "orders"})),
        ("retry orders", (RunText.WHICH_TARGET, {"command": "requeue", "target": "orders"})),
        ("pause orders", (RunText.WHICH_TARGET, {"command": "pause", "target": "orders"})),
        ("install", (GuessText.NO_COMMAND, {"name": "install", "hint": "qmon design install"})),
        ("designs", (GuessText.NO_COMMAND, {"name": "designs", "hint": "qmon design list"})),
        ("bench", (GuessText.NO_COMMAND, {"name": "bench", "hint": "qmon design bench"})),
        ("redrive", (GuessText.NO_COMMAND, {"name": "redrive", "hint": "qmon requeue TARGET QUEUE --state dead"})),
        ("dlq", (GuessText.NO_COMMAND, {"name": "dlq", "hint": "qmon requeue TARGET QUEUE --state dead"})),
        ("dead", (GuessText.NO_COMMAND, {"name": "dead", "hint": "qmon requeue TARGET QUEUE --state dead"})),
        ("stuck", (GuessText.NO_COMMAND, {"name": "stuck", "hint": "qmon requeue TARGET QUEUE"})),
        ("gate", (GuessText.NO_COMMAND, {"name": "gate", "hint": "qmon setup TARGET --gate QUEUE"})),
        ("notify", (GuessText.NO_COMMAND, {"name": "notify", "hint": "qmon check --test-notice NAME"})),
        ("libraries", (GuessText.NO_COMMAND, {"name": "libraries", "hint": "qmon help libraries"})),
        ("tail", (GuessText.NO_COMMAND, {"name": "tail", "hint": "qmon connect TARGET"})),
        ("ps", (GuessText.NO_COMMAND, {"name": "ps", "hint": "qmon status TARGET"})),
        ("serve shop --queue orders", GuessText.SERVE_QUEUE),
        ("pause shop orders --for 15", (DurationText.NO_UNIT, {"text": "15"})),
        ("requeue shop orders --older-than 5", (DurationText.NO_UNIT, {"text": "5"})),
        ("help retry", "Make stuck messages ready again, or retry dead messages."),
        ("help design bench", "Usage: qmon design bench [OPTIONS] TARGET"),
    ],
)
def test_a_first_guess_works_or_names_the_right_command(typed: str, shown: str | tuple[Text, dict[str, str]]) -> None:
    done = call(*typed.split())
    if isinstance(shown, tuple):
        text, fields = shown
        assert has(done.output, text, **fields)
    else:
        assert has(done.output, shown) if isinstance(shown, Text) else shown in done.output
    assert "Traceback" not in done.output
    if done.stderr.startswith("qmon: "):
        assert len(done.stderr.splitlines()) == 1


def test_a_guess_is_a_command_an_alias_or_a_hint_but_only_one_of_them() -> None:
    commands = {name for names in PANELS.values() for name in names}
    assert not (commands & ALIASES.keys() or commands & HINTS.keys() or ALIASES.keys() & HINTS.keys())


@pytest.mark.parametrize("name", HINTS)
def test_a_hint_names_a_command_that_exists(name: str) -> None:
    for part in HINTS[name].split(", then "):
        words = [word for word in part.split()[1:] if word.islower() and not word.startswith("--")]
        assert call(*words[:2], "--help").exit_code == 0


def test_arguments_after_two_dashes_are_left_alone() -> None:
    assert rewrite_arguments(["help", "--json", "--", "--json"]) == ["help", "--output", "json", "--", "--json"]


@pytest.mark.parametrize("command", [name for names in PANELS.values() for name in names])
def test_the_help_is_a_clean_list(command: str) -> None:
    (line,) = [line for line in call("--help").stdout.splitlines() if line.startswith(f"  {command} ")]
    assert line.endswith(".")
    assert "{" not in call(command, "--help").stdout.split("\n")[0]
    assert app.info.name == "qmon"
