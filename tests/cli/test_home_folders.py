"""A typed path may begin with ``~``, even if the shell does not replace it: ``--to=~/recordings``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.models import TyperPath

from qmon.cli import app
from qmon.files import FileText
from tests.cli.calling import call
from tests.wordings import has

pytestmark = pytest.mark.unit


def path_parameters(command: Any, *names: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every option and argument that is a path, with the name of its command."""
    yield from ((names, each) for each in command.params if isinstance(each.type, TyperPath) and not each.hidden)
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from path_parameters(command.get_command(None, name), *names, name)


# Every path has one.
PATHS = {" ".join((*names, each.opts[0])): (names, each) for names, each in path_parameters(get_command(app))}


def test_there_are_paths_before_and_after_commands() -> None:
    assert {"--config", "--log-file", "record --to", "export file", "doctor --bundle"} <= PATHS.keys()


@pytest.mark.parametrize("path", PATHS)
def test_the_home_folder_of_nobody_is_one_usage_error_and_changes_nothing(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    names, parameter = PATHS[path]
    nowhere = "~nobody-at-all/x"
    if parameter.param_type_name == "option":
        done = call(*names, f"{parameter.opts[0]}={nowhere}", *([] if names else ["targets"]))
    else:
        done = call(
            *names, *[nowhere for name, each in PATHS.values() if name == names and each.param_type_name == "argument"]
        )
    assert done.exit_code == 2, done.output
    assert has(done.stderr, FileText.HOME_UNKNOWN, user="~nobody-at-all")
    assert [*(tmp_path / "work").iterdir()] == []


def test_a_folder_is_made_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    done = call("--log-file=~/qmon.log", "targets", "--no-connect")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "home" / "qmon.log").is_file()
    assert not (tmp_path / "~").exists()
