"""Only ``qmon.files`` creates files and resolves paths, programs get no secrets, and one function closes dialogs.

Exceptions are listed with reasons.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

import qmon

ROOT: Final = Path(qmon.__file__).parent
_MAKING: Final = frozenset({"write_text", "write_bytes", "touch", "mkdir", "makedirs"})
_STARTING: Final = frozenset({"Popen", "run", "call", "check_call", "check_output"})
# Modules that may create files, or start programs with the whole environment, and the reason.
REASONS: Final = {
    "files.py": "it is the one place",
    "demo/demo_folder.py": "a folder of mkdtemp, whose mode is said",
    "demo/programs.py": "postgresql.conf and the log of the demo's server, in a folder that is private",
    "cli/commands/doctor/bundle.py": "the archive is written to a file that qmon.files has opened",
    "system.py": "taskkill is a program of Windows; qmon.redact is above qmon.system",
}


def makes_file(call: ast.Call) -> bool:
    """Return whether a call creates a file or folder without ``qmon.files``."""
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in _MAKING:
        return True
    if name != "open":
        return False
    if "O_CREAT" in ast.unparse(call):
        return True
    modes = [*call.args, *(each.value for each in call.keywords if each.arg == "mode")]
    texts = [each.value for each in modes if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return any(set(text.partition(":")[0]) <= set("rwaxbt+") and set(text) & set("wax+") for text in texts)


def starts_with_secrets(call: ast.Call) -> bool:
    """Return whether a call starts a program with the unchanged environment."""
    function = call.func
    if not isinstance(function, ast.Attribute) or ast.unparse(function.value) != "subprocess":
        return False
    return function.attr in _STARTING and not any(each.arg == "env" for each in call.keywords)


# Each raises another error for an unknown home folder, a deleted working folder, or circular links.
_PATHS: Final = frozenset({"expanduser", "cwd", "getcwd", "absolute", "abspath", "realpath"})
# Modules that may make paths absolute or follow links, and the reason.
PATH_REASONS: Final = {
    "files.py": "it is the one place",
    "demo/account.py": "the folder of the demo, which it has made itself",
}


def reads_path(call: ast.Call) -> bool:
    """Return whether a call resolves a path without ``qmon.files``."""
    if not isinstance(call.func, ast.Attribute):
        return False
    # Other classes have a method of this name too, but with arguments.
    return call.func.attr in _PATHS or (call.func.attr == "resolve" and not call.args and not call.keywords)


def leaves_screen(call: ast.Call) -> bool:
    """Return whether a call removes a screen from the stack."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("dismiss", "pop_screen")


def found() -> Iterator[tuple[str, int]]:
    """Yield the module and line of each such call."""
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and (makes_file(node) or starts_with_secrets(node)):
                yield path.relative_to(ROOT).as_posix(), node.lineno


def test_only_qmon_files_creates_files_and_programs_get_no_secrets() -> None:
    calls = list(found())
    assert [f"qmon/{module}:{line}" for module, line in calls if module not in REASONS] == []
    assert set(REASONS) <= {module for module, _ in calls}, "a reason that is no longer needed"


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("path.write_text('x')", True),
        ("path.open('w', encoding='utf-8')", True),
        ("open(path, 'ab')", True),
        ("open(path, mode='x')", True),
        ("os.open(path, os.O_WRONLY | os.O_CREAT)", True),
        ("path.parent.mkdir(parents=True)", True),
        ("subprocess.run(['ls'])", True),
        ("path.open('rb')", False),
        ("path.open(encoding='utf-8')", False),
        ("os.open(path, os.O_RDONLY)", False),
        ("subprocess.run(['ls'], env={})", False),
    ],
)
def test_the_check_finds_calls_that_create_files_or_pass_secrets(code: str, wrong: bool) -> None:
    (call,) = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    assert (makes_file(call) or starts_with_secrets(call)) is wrong


def modules_with(wrong: Callable[[ast.Call], bool]) -> set[str]:
    """Return the modules with such a call."""
    return {
        path.relative_to(ROOT).as_posix()
        for path in sorted(ROOT.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and wrong(node)
    }


def test_only_qmon_files_resolves_paths_from_users() -> None:
    assert modules_with(reads_path) == set(PATH_REASONS)


def test_only_one_function_closes_screens() -> None:
    assert modules_with(leaves_screen) == {"tui/widgets/dialog.py"}
    dialogs = [path for path in ROOT.rglob("*.py") if "(ModalScreen[" in path.read_text(encoding="utf-8")]
    assert [path.name for path in dialogs] == ["dialog.py"]


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("path.expanduser()", True),
        ("Path.cwd()", True),
        ("os.getcwd()", True),
        ("path.resolve()", True),
        ("os.path.abspath(path)", True),
        ("layouts.resolve(queue)", False),
        ("files.resolve_user_path(text)", False),
    ],
)
def test_the_check_finds_calls_that_resolve_paths_or_close_screens(code: str, wrong: bool) -> None:
    (call,) = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    assert reads_path(call) == wrong
