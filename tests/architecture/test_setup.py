"""If `.ci/setup` may not install packages, it prints the command to run and changes nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = pytest.mark.server

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A checkout with a space in its path, on a machine without the driver manager, as a user who is not root."""
    checkout = tmp_path / "a checkout"
    (checkout / ".ci").mkdir(parents=True)
    shutil.copy(CHECKOUT / ".ci" / "setup", checkout / ".ci")
    for name in ("pyproject.toml", "constraints.txt"):
        shutil.copy(CHECKOUT / name, checkout)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, body in {"id": "echo 1000", "sudo": "exit 1", "ldconfig": "exit 0"}.items():
        tool = tools / name
        tool.write_text(f"#!/bin/sh\n{body}\n")
        tool.chmod(0o755)
    return checkout


def setup(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PATH": f"{checkout.parent / 'tools'}:{os.environ['PATH']}"}
    return subprocess.run(
        [checkout / ".ci" / "setup", *arguments], env=env, capture_output=True, text=True, check=False
    )


def test_without_root_it_prints_the_command_to_run(bare: Path) -> None:
    done = setup(bare, "demo")
    assert done.returncode == 1
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("setup: please run: sudo apt-get install ")
    assert "unixodbc" in line.split()
    assert not (bare / ".venv").exists()


def test_the_contract_on_a_sql_server_needs_no_java(bare: Path) -> None:
    (line,) = setup(bare, "contract").stderr.splitlines()
    assert "unixodbc" in line.split()
    assert not {"tmux", "pgbouncer", "default-jre-headless"} & set(line.split())


def test_an_unknown_level_is_refused(bare: Path) -> None:
    done = setup(bare, "everything")
    assert done.returncode == 2
    assert done.stderr == "usage: .ci/setup demo|unit|contract|test\n"


def test_it_looks_for_each_supported_python() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    names = [f"python{version}" for version in reversed(versions)]
    assert f"for name in {' '.join(names)} python3; do" in (CHECKOUT / ".ci/setup").read_text()


def test_python_starts_in_the_c_locale_in_a_folder_with_any_name(tmp_path: Path) -> None:
    checkout = tmp_path / "a chéckout ü"
    place = checkout / ".venv/lib/python3.11/site-packages"
    place.mkdir(parents=True)
    (place / "_editable_impl_qmon_sql.pth").write_text(f"{checkout}\n", encoding="utf-8")
    (line,) = (text for text in (CHECKOUT / ".ci/setup").read_text().splitlines() if "_editable_impl" in text)
    subprocess.run(["/bin/sh", "-c", line], cwd=checkout, check=True)
    (checkout / "found_here.py").touch()
    script = f"import site; site.addsitedir({str(place)!a}); import found_here"
    subprocess.run([sys.executable, "-c", script], env={"LC_ALL": "C"}, cwd=tmp_path, check=True)
