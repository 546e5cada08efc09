"""The first guesses of newcomers work, or one line names the right command."""

from __future__ import annotations

import pytest

import qmon
from qmon.cli.app import PANELS, app
from qmon.cli.guesses import ALIASES, HINTS, rewrite_arguments
from tests.cli.calling import call

pytestmark = pytest.mark.server

# Refuses connections at once.
URL = "postgresql://me@127.0.0.1:1/shop"
REACHED = "connection refused"
NO_TERMINAL = "standard input is not a terminal"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("", "Usage: qmon [OPTIONS] COMMAND"),
        ("version", f"qmon {qmon.__version__}"),
        ("-V", f"qmon {qmon.__version__}"),
        (f"list {URL}", REACHED),
        (f"ls {URL}", REACHED),
        (f"watch {URL}", NO_TERMINAL),
        (f"top {URL}", NO_TERMINAL),
        (URL, NO_TERMINAL),
        (f"--dsn {URL}", NO_TERMINAL),
        (f"--url={URL}", NO_TERMINAL),
        (f"connect {URL} --queue orders", NO_TERMINAL),
        (f"status --dsn {URL}", REACHED),
        (f"status --url={URL} --json", REACHED),
        (f"status {URL} --queue orders", REACHED),
        (f"status {URL} orders", "if orders is a queue: --queue orders"),
        ("connect", "which target?"),
        ("list", "TARGET is missing"),
        ("targets --json --no-connect", '"targets": []'),
        (f"retry {URL} orders", REACHED),
        (f"kill {URL} 61", REACHED),
        (f"purge {URL} orders", REACHED),
        ("requeue orders", "which target? qmon requeue TARGET orders"),
        ("retry orders", "which target? qmon requeue TARGET orders"),
        ("pause orders", "which target? qmon pause TARGET orders"),
        ("install", "no such command 'install'; use: qmon design install"),
        ("designs", "no such command 'designs'; use: qmon design list"),
        ("bench", "no such command 'bench'; use: qmon design bench"),
        ("redrive", "no such command 'redrive'; use: qmon requeue TARGET QUEUE --state dead"),
        ("dlq", "use: qmon requeue TARGET QUEUE --state dead"),
        ("dead", "use: qmon requeue TARGET QUEUE --state dead"),
        ("stuck", "use: qmon requeue TARGET QUEUE"),
        ("gate", "use: qmon setup TARGET --gate QUEUE"),
        ("notify", "use: qmon check --test-notice NAME"),
        ("libraries", "use: qmon help libraries"),
        ("tail", "use: qmon connect TARGET"),
        ("ps", "use: qmon status TARGET"),
        ("serve shop --queue orders", "choose a queue when you connect: qmon connect URL --queue QUEUE"),
        ("pause shop orders --for 15", "'15' has no unit: write 15s, 15m or 15h"),
        ("requeue shop orders --older-than 5", "'5' has no unit: write 5s, 5m or 5h"),
        ("help retry", "Make stuck messages ready again, or retry dead messages."),
        ("help design bench", "Usage: qmon design bench [OPTIONS] TARGET"),
    ],
)
def test_a_first_guess_works_or_names_the_right_command(typed: str, words: str) -> None:
    done = call(*typed.split())
    assert words in done.output
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
