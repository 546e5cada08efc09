"""However its owner ends, a server leaves no process, no shared memory and no folder behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from qmon.demo import processes
from qmon.demo.embedded_server import EmbeddedServer
from qmon.demo.guardian import Guardian
from tests.demo.leftovers import alive, segment_of, segments_of, shared_memory
from tests.facts import wait_until

CHECKOUT = Path(__file__).parents[2]


class Parent:
    """Start a process that owns a server, in a separate session, with its temporary files in a given folder."""

    def __init__(self, how: str, temporary: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.demo.parent", how],
            cwd=CHECKOUT,
            env=os.environ | {"TMPDIR": str(temporary)},
            stdout=subprocess.PIPE,
            start_new_session=True,
            text=True,
        )
        assert self.process.stdout
        with self.process.stdout as said:
            self.told: dict[str, Any] = json.loads(said.readline())

    def end(self, number: signal.Signals) -> None:
        """Signal the whole foreground process group, as a terminal does."""
        os.killpg(self.process.pid, number)
        self.process.wait()


def nothing_left(told: dict[str, Any], temporary: Path) -> bool:
    return (
        not processes.marked_pids(told["mark"])
        and not list(temporary.iterdir())
        and told["segment"] not in shared_memory()
        and not alive(told["helper"])
        and not alive(told["guardian"])
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda n: n.name)
def test_a_signal_to_the_owner(number: signal.Signals, temporary: Path) -> None:
    parent = Parent("start", temporary)
    assert parent.told["segment"] in shared_memory()
    assert alive(parent.told["helper"])
    parent.end(number)
    assert wait_until(lambda: nothing_left(parent.told, temporary), what=f"all of {parent.told} gone")


def test_the_owner_ends_without_a_word(temporary: Path) -> None:
    parent = Parent("leave", temporary)
    parent.process.wait()
    assert wait_until(lambda: nothing_left(parent.told, temporary), what=f"all of {parent.told} gone")


def test_the_owner_of_a_frozen_server_is_killed(temporary: Path) -> None:
    parent = Parent("frozen", temporary)
    parent.end(signal.SIGKILL)
    assert wait_until(lambda: nothing_left(parent.told, temporary), what=f"all of {parent.told} gone")


def test_the_postmaster_is_killed_and_then_the_owner(temporary: Path) -> None:
    parent = Parent("start", temporary)
    processes.kill_marked(parent.told["mark"])
    parent.end(signal.SIGKILL)
    assert wait_until(lambda: nothing_left(parent.told, temporary), what=f"all of {parent.told} gone")


def test_the_owner_is_killed_while_the_server_is_made(temporary: Path) -> None:
    seen: set[int] = set()

    def at_work() -> set[int]:
        found = processes.marked_pids(str(temporary))
        seen.update(found)
        return found

    parent = Parent("early", temporary)
    wait_until(lambda: at_work() and list(temporary.glob("*/data/global")), what="initdb at work")
    at_work()
    parent.end(signal.SIGKILL)
    wait_until(lambda: not at_work(), what="its processes gone")
    wait_until(lambda: not list(temporary.iterdir()), what="the folder gone")
    assert seen
    assert wait_until(lambda: not segments_of(seen), what="no shared memory left")


def test_destroy_after_kill_removes_the_shared_memory(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with EmbeddedServer() as server:
        segment = segment_of(server.folder / "data")
        server.kill()
        assert segment in shared_memory()
    assert segment not in shared_memory()
    assert list(temporary.iterdir()) == []


def test_shared_memory_that_a_killed_group_named_nowhere_is_removed(temporary: Path) -> None:
    """As the server of initdb, killed between creating its segment and noting its id."""
    maker = "import ctypes, signal; print(ctypes.CDLL(None).shmget(0, 56, 0o1600), flush=True); signal.pause()"
    script = f"""
import os, subprocess, sys
from qmon.demo.guardian import Guardian
guardian = Guardian()
command = [sys.executable, "-c", {maker!r}]
helper = subprocess.Popen(command, start_new_session=True, stdout=subprocess.PIPE, text=True)
guardian.register_group(helper.pid)
print(helper.stdout.readline().strip(), guardian.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    segment, guardian = _last_words(script)
    wait_until(lambda: not alive(guardian), what="the guardian's end")
    assert segment not in shared_memory()


def _last_words(script: str, *arguments: object) -> list[int]:
    """Run a script that prints some numbers on one line and ends. Processes it left behind may keep its output open."""
    process = subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    with process.stdout as said:
        numbers = [int(word) for word in said.readline().split()]
    process.wait()
    return numbers


def test_a_forgotten_group_is_left_alone_and_a_kept_one_is_killed(temporary: Path) -> None:
    script = """
import subprocess, sys
from pathlib import Path
from qmon.demo.guardian import Guardian
guardian = Guardian()
helpers = [subprocess.Popen(["sleep", "600"], start_new_session=True) for _ in range(2)]
for helper in helpers:
    guardian.register_group(helper.pid)
guardian.unregister_group(helpers[1].pid)
guardian.register_folder(Path(sys.argv[1]))
print(*(helper.pid for helper in helpers), guardian.pid, flush=True)
import os; os.kill(os.getpid(), 9)
"""
    (temporary / "folder").mkdir()
    kept, forgotten, guardian = _last_words(script, temporary / "folder")
    try:
        wait_until(lambda: not alive(guardian), what="the guardian's end")
        assert not alive(kept)
        assert alive(forgotten)
        assert list(temporary.iterdir()) == []
    finally:
        os.kill(forgotten, signal.SIGKILL)


def test_it_holds_on_while_a_forked_child_holds_the_pipe(temporary: Path) -> None:
    """A forked child that was not executed inherits our end of the pipe: the guardian must not wait for its end."""
    script = """
import os, sys
from pathlib import Path
from qmon.demo.guardian import Guardian
guardian = Guardian()
guardian.register_folder(Path(sys.argv[1]))
child = os.fork()
if child == 0:
    import signal
    signal.pause()
guardian.register_group(0x3FFFFFFF)
print(child, guardian.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    (temporary / "folder").mkdir()
    child, guardian = _last_words(script, temporary / "folder")
    try:
        wait_until(lambda: not alive(guardian), what="the guardian's end")
        assert alive(child)
        assert list(temporary.iterdir()) == []
    finally:
        os.kill(child, signal.SIGKILL)


def test_it_ends_when_dismissed_and_touches_nothing(tmp_path: Path) -> None:
    with Guardian() as guardian:
        guardian.register_folder(tmp_path)
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            os.kill(guardian.pid, number)
        pid = guardian.pid
    assert not alive(pid)
    assert tmp_path.is_dir()
    guardian.close()


@pytest.mark.parametrize("group", [-1, 0, 1])
def test_it_refuses_groups_that_are_nobodys(group: int) -> None:
    with Guardian() as guardian, pytest.raises(ValueError, match="process group"):
        guardian.register_group(group)
