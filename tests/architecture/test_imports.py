"""The import contracts hold, for the linter and at run time, and tests do not import each other."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.main import get_group

from qmon.cli.app import COMMANDS
from tests.architecture.sources import CHECKOUT, modules

HEAVY = ("textual", "pyspark", "pyodbc", "pydantic")


def loaded_by(statement: str) -> set[str]:
    """Return the top-level packages that a new interpreter has loaded after a statement."""
    script = f"{statement}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.server
def test_the_contracts_hold(tmp_path: Path) -> None:
    linter = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run(
        [sys.executable, linter, "--no-cache"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


@pytest.mark.server
def test_every_contract_reports_a_violation(tmp_path: Path) -> None:
    """Run the same contracts over a small package tree that violates each of them."""
    forbidden = {
        "model": ("import rich", "import qmon.engines"),
        "monitor": ("import pyodbc", "import qmon.operate"),
        "engines": ("import qmon.monitor",),
        "config": ("import http",),
        "operate": ("import textual",),
        "recording": ("import qmon.tui", "import pyspark", "import prometheus_client"),
        "pipeline": ("import qmon.tui", "import aiohttp"),
        "tui": ("import qmon.recording",),
        "unheard_of": (),
    }
    for name, imports in forbidden.items():
        package = tmp_path / "qmon" / name
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("\n".join(imports))
    (tmp_path / "qmon" / "__init__.py").touch()
    for name in ("errors", "redact", "log", "bundled", "files", "libraries", "manual", "system", "texts"):
        (tmp_path / "qmon" / f"{name}.py").touch()
    upper = ("one_shot", "probe_checks", "alerting", "headless", "open", "poll", "state")
    for name in (*upper, "background", "probes", "catalog", "source", "notify"):
        (tmp_path / "qmon" / "monitor" / f"{name}.py").write_text("import qmon.monitor.poll" if name == "state" else "")
    (tmp_path / "pyproject.toml").write_text((CHECKOUT / "pyproject.toml").read_text())
    linter = Path(sys.executable).with_name("lint-imports")
    script = f"import sys, runpy; sys.path.insert(0, {str(tmp_path)!r}); sys.argv = ['lint-imports', '--no-cache']; "
    script += f"runpy.run_path({str(linter)!r}, run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-E", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    said = " ".join(done.stdout.split())
    assert done.returncode == 1, said
    assert "Contracts: 0 kept, 11 broken." in said
    assert "No cycles are allowed in qmon. " in said
    for name, imports in forbidden.items():
        if name == "tui":  # allowed by itself; with recording it is a cycle
            continue
        for statement in imports:
            assert f"qmon.{name} -> {statement.removeprefix('import ')} (l." in said
    assert "unheard_of" in said
    assert "qmon.monitor.state -> qmon.monitor.poll (l." in said


@pytest.mark.parametrize("module", ["qmon.cli", "qmon.config", "qmon.demo.guardian"])
def test_modules_that_load_first_import_nothing_heavy(module: str) -> None:
    assert loaded_by(f"import {module}").isdisjoint(HEAVY)


def test_help_imports_nothing_heavy() -> None:
    asking = """
import sys
from qmon.cli import main
sys.argv = ["qmon", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
"""
    assert loaded_by(asking).isdisjoint(HEAVY)


def test_parsing_options_imports_no_validator() -> None:
    asking = """
import sys
from qmon.cli import main
sys.argv = ["qmon", "status", "nowhere", "--config", "/nonexistent/qmon.toml"]
try:
    main()
except SystemExit as end:
    assert end.code
"""
    assert "pydantic" not in loaded_by(asking)


def test_a_command_imports_only_its_own_module() -> None:
    asking = """
import sys
from qmon.cli import main
sys.argv = ["qmon", "targets", "--help"]
try:
    main()
except SystemExit:
    before = "qmon.cli.commands."
    assert [name for name in sys.modules if name.startswith(before)] == [before + "targets"], sys.modules
"""
    loaded_by(asking)


def test_each_command_is_listed_with_its_module() -> None:
    for module, names in COMMANDS.items():
        made = typer.Typer()
        importlib.import_module(f"qmon.cli.commands.{module}").register_commands(made)
        assert set(get_group(made).commands) == set(names)


def test_the_guardian_uses_only_the_standard_library() -> None:
    assert loaded_by("import qmon.demo.guardian") - set(sys.stdlib_module_names) <= {"qmon", *loaded_by("pass")}


def imported_tests(tree: ast.Module) -> list[str]:
    """Return the test modules, or names in them, that a module imports anywhere in its code."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module or ''}.{alias.name}" for alias in node.names]
    return [name for name in names if any(part.startswith("test_") for part in name.split("."))]


def test_no_module_imports_a_test_module() -> None:
    found = {name: imported_tests(tree) for name, tree in modules(CHECKOUT / "tests").items()}
    assert {name: tests for name, tests in found.items() if tests} == {}, "move the shared names to a helper module"


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import tests.unit.test_flow", True),
        ("import test_flow as flow", True),
        ("from tests.unit.test_flow import FIFO", True),
        ("from tests.unit import polls, test_flow", True),
        ("from . import test_flow", True),
        ("from .test_flow import (\n    FIFO,\n)", True),
        ("if TYPE_CHECKING:\n    from tests.unit.test_flow import FIFO", True),
        ("def late():\n    from tests.unit.test_flow import FIFO", True),
        ("from tests.unit.polls import FIFO", False),
        ("import pytest_asyncio, contest_rules", False),
    ],
)
def test_an_import_of_a_test_module_is_found(code: str, found: bool) -> None:
    assert bool(imported_tests(ast.parse(code))) is found
