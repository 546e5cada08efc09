"""The real program on a pseudo-terminal survives any input; ``make soak ARGS=--input`` is the long form."""

from __future__ import annotations

import os
import random
import signal
from pathlib import Path

import psutil
import pytest

from tests.facts import wait_until
from tests.recording.days import written
from tests.soak.typist import TypedProgram, made, typed

pytestmark = pytest.mark.server
INPUTS = 40


def test_the_dashboard_of_a_target_goes_on(database: str, tmp_path: Path) -> None:
    made(database)
    assert typed(("connect", database), tmp_path, seed=1, acts=INPUTS).total() == INPUTS


def test_a_replay_goes_on(tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    written(recording, 2.0, snapshots=2.0)
    assert typed(("replay", str(recording)), tmp_path, seed=2, acts=INPUTS).total() == INPUTS


def test_a_program_that_was_stopped_goes_on_with_one_reader_of_the_terminal(tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    written(recording, 2.0, snapshots=2.0)
    program = TypedProgram(("replay", str(recording)), tmp_path, random.Random(1))
    process = psutil.Process(program.process.pid)
    program.settle()
    threads = process.num_threads()
    for stopped in (signal.SIGTSTP, signal.SIGSTOP):
        os.kill(process.pid, stopped)
        wait_until(lambda: process.status() == psutil.STATUS_STOPPED, what="it has stopped")
        os.kill(process.pid, signal.SIGCONT)
        program.settle()
    os.kill(process.pid, signal.SIGCONT)  # it was not stopped
    program.settle()
    wait_until(lambda: process.num_threads() <= threads, what=f"no more than {threads} threads")
    assert program.close() == 143
