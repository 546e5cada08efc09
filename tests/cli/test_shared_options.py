"""Options of a group work before and after the name of each command below it."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from qmon.cli.commands.pipeline.pipeline_options import PipelineOptionText
from qmon.config.config_file import ConfigText
from qmon.pipeline.pipeline_texts import LakeText
from tests.cli.calling import call, run
from tests.wordings import has

pytestmark = pytest.mark.unit


def targets_of(*arguments: str) -> list[str]:
    done = run(*arguments, "--no-connect", "--output", "csv")
    assert done.returncode == 0, done.stderr
    return [line.split(",")[0] for line in done.stdout.splitlines()[1:]]


def config(path: Path, target: str) -> str:
    path.write_text(f'[target.{target}]\nconnect = "postgresql://nobody@127.0.0.1:1/{target}"\n')
    return str(path)


def test_the_configuration_is_named_before_or_after_the_command_and_the_last_one_counts(tmp_path: Path) -> None:
    one, two = (config(tmp_path / f"{name}.toml", name) for name in ("one", "two"))
    assert "one" in targets_of("--config", one, "targets")
    assert "one" in targets_of("targets", "--config", one)
    found = targets_of("--config", one, "targets", "--config", two)
    assert "two" in found and "one" not in found
    assert "one" not in targets_of("targets")


def test_options_of_a_group_below_qmon_are_accepted_by_its_commands(tmp_path: Path) -> None:
    lake = ("--lake", str(tmp_path))
    for parts in permutations([lake, ("views",)]):
        done = call("pipeline", *(word for part in parts for word in part))
        assert has(done.stderr, LakeText.NO_LAKE, lake=tmp_path)


@pytest.mark.parametrize(
    "command", [("pipeline", "tidy"), ("pipeline", "views"), ("pipeline", "run", "--recordings", ".")]
)
def test_a_missing_lake_is_one_usage_error(command: tuple[str, ...]) -> None:
    done = call(*command)
    assert done.exit_code == 2
    assert "'--lake': " in done.stderr and has(done.stderr, PipelineOptionText.NO_LAKE)


def test_a_value_that_looks_like_a_shared_option_stays_a_value(tmp_path: Path) -> None:
    done = call("status", "shop", "--config")
    assert done.exit_code == 2 and "'--config' requires an argument" in done.stderr
    done = call("pause", "shop", "orders", "--reason", "--config", "--config", str(tmp_path / "none.toml"))
    assert done.exit_code == 2 and has(done.stderr, ConfigText.NO_FILE, path=tmp_path / "none.toml")


def test_the_help_of_a_command_says_where_its_shared_options_are_explained() -> None:
    assert "More options: --lake, --master, --conf (see qmon pipeline --help)" in call("pipeline", "tidy", "-h").stdout
    assert "More options: --config (see qmon --help)." in call("status", "-h").stdout
    assert "--config" in call("-h").stdout
