"""A meaningless number is bad input wherever a number may be given: one error line, and nothing else happens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import typer.main

from qmon.cli import app
from qmon.config.config_file import parse_config
from qmon.errors import BadInput
from qmon.model.alerts.rule_parser import rules_from_texts
from qmon.model.formatting import MAX_S, DurationText, parse_duration
from qmon.model.layout.layout_io import layout_from_json
from qmon.recording.write.retention import parse_size
from tests.cli.calling import call
from tests.wordings import has, pattern

PATH: Final = Path("qmon.toml")
WHOLE: Final = """
[settings]
interval = "2s"
trash = "2s"
budget_percent = 2
[alerts]
group_wait = "2s"
[[notify]]
shape = "slack"
timeout = "2s"
[[alert]]
figure = "depth"
queue = "*"
warn = 2
crit = 3
margin = 0.5
for = "2s"
clear_for = "2s"
[[slo]]
figure = "depth"
below = 2
objective = 0.9
window = "2d"
[target.shop]
connect = "postgresql://reader@db1/shop"
budget = "2%"
[[target.shop.queue]]
name = "jobs"
table = "jobs"
id = "id"
timeout = "2s"
max_attempts = 2
[target.shop.queue.writes.ready]
attempt = 2
[target.shop.queue.state]
column = "state"
ready = 2
[[target.shop.queue]]
name = "ring"
table = "ring"
[target.shop.queue.ring]
size = 2
push_sequence = "a"
pop_sequence = "b"
"""
# Every key that takes a number, with its value in the whole file.
NUMBERS: Final = {
    "interval": '"2s"',
    "trash": '"2s"',
    "budget_percent": 2,
    "timeout": '"2s"',
    "warn": 2,
    "crit": 3,
    "margin": 0.5,
    "for": '"2s"',
    "clear_for": '"2s"',
    "group_wait": '"2s"',
    "max_attempts": 2,
    "attempt": 2,
    "ready": 2,
    "size": 2,
    "below": 2,
    "objective": 0.9,
    "window": '"2d"',
}
BAD: Final = (
    "nan",
    "inf",
    "-inf",
    "1e400",
    "1" + "0" * 30,
    "0x" + "f" * 6000,
    "9" * 5000,
    "[[]]",
    "2026-11-22",
)
HUGE: Final = ("99999999d", "nan", "inf", "1e400", "-1", "9" * 400, "9" * 5000, "", "1h-2m", "1d" * 11_000)


def test_the_whole_file_is_good() -> None:
    assert len(parse_config(WHOLE, PATH).targets["shop"].queues) == 2


@pytest.mark.parametrize("key", NUMBERS)
@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad[:12])
def test_no_key_takes_what_is_no_number_of_this_world(key: str, bad: str) -> None:
    line = f"\n{key} = {NUMBERS[key]}\n"
    assert line in WHOLE
    with pytest.raises(BadInput) as caught:
        parse_config(WHOLE.replace(line, f"\n{key} = {bad}\n"), PATH)
    assert str(caught.value).startswith("qmon.toml")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 300


@pytest.mark.parametrize("key", [key for key, value in NUMBERS.items() if isinstance(value, str)])
@pytest.mark.parametrize("bare", ["7", "7.5", '"7"', "86400"])
def test_a_number_without_a_unit_is_no_duration_in_the_configuration(key: str, bare: str) -> None:
    with pytest.raises(BadInput, match=f"{key}: " + pattern(DurationText.NO_UNIT, text=bare.strip('"'))):
        parse_config(WHOLE.replace(f"\n{key} = {NUMBERS[key]}\n", f"\n{key} = {bare}\n"), PATH)


@pytest.mark.parametrize("bare", ["7", "7.5", '"7"'])
def test_a_limit_of_an_age_needs_a_unit(bare: str) -> None:
    with pytest.raises(BadInput, match="crit: " + pattern(DurationText.NO_UNIT, text=bare.strip('"'))):
        parse_config(f'[[alert]]\nfigure = "oldest"\ncrit = {bare}\n', PATH)
    with pytest.raises(BadInput, match=pattern(DurationText.NO_UNIT, text="7", number="7")):
        rules_from_texts([], ["oldest>7"])


@pytest.mark.parametrize("opened", ["[", "{ a = "])
def test_brackets_nested_without_end_are_one_line_in_configuration_and_registry(opened: str) -> None:
    with pytest.raises(BadInput, match=r"^qmon\.toml: ") as caught:
        parse_config("a = " + opened * 3000, PATH)
    assert "\n" not in str(caught.value)
    with pytest.raises(BadInput, match=r"^layout: "):
        layout_from_json("[" * 200_000)


@pytest.mark.parametrize("bad", HUGE, ids=lambda bad: bad[:12])
def test_what_is_no_duration_or_too_long_is_refused_in_a_short_line(bad: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_duration(bad)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 160
    assert parse_duration(f"{MAX_S:.0f}s") == MAX_S


@pytest.mark.parametrize("bad", ["9" * 400 + "TB", "99999999999999TB", "nan", "-1GB", "0"], ids=lambda bad: bad[:12])
def test_what_is_no_size_is_refused(bad: str) -> None:
    with pytest.raises(BadInput):
        parse_size(bad)


# Type names of such options: for numbers, or the function that parses them.
_NUMBERS: Final = ("int range", "float range", "parse_seconds", "_parse_moment")


def numeric(kinds: Sequence[str] = _NUMBERS) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield every option of every command that takes a number, a duration or a moment."""
    root: Any = typer.main.get_command(app)
    root.list_commands(typer.Context(root))  # imports them all
    waiting: list[tuple[tuple[str, ...], Any]] = [((), root)]
    while waiting:
        path, command = waiting.pop()
        waiting += [((*path, name), each) for name, each in getattr(command, "commands", {}).items()]
        for option in command.params:
            if option.opts[0].startswith("--") and option.type.name in kinds:
                yield path, option.opts[0]


OPTIONS: Final = tuple(numeric())
DURATIONS: Final = tuple(numeric(("parse_seconds",)))


def test_there_are_options_to_be_tried() -> None:
    assert len(OPTIONS) > 25 and len(DURATIONS) > 10
    assert {"--older-than", "--rate", "--for", "--max"} <= {name for _, name in OPTIONS}


@pytest.mark.parametrize(("path", "option"), OPTIONS, ids=str)
def test_no_option_takes_what_is_no_number_of_this_world(path: tuple[str, ...], option: str) -> None:
    for bad in ("99999999d", "nan", "-1", "9" * 30):
        done = call(*path, f"{option}={bad}", *("x",) * 3)
        assert isinstance(done.exception, SystemExit), (bad[:12], done.exception)
        assert done.exit_code == (3 if path == ("check",) else 2), (bad[:12], done.output[-300:])
        assert option in done.output, (bad[:12], done.output[-300:])


@pytest.mark.parametrize(("path", "option"), DURATIONS, ids=str)
def test_no_option_takes_a_number_without_a_unit_for_a_duration(path: tuple[str, ...], option: str) -> None:
    done = call(*path, f"{option}=5", *("x",) * 3)
    assert done.exit_code == (3 if path == ("check",) else 2), done.output[-300:]
    assert has(" ".join(done.output.replace("│", " ").split()), DurationText.NO_UNIT, number="5")
