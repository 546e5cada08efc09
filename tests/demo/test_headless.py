"""The demo without a screen: qmon's figures agree with the load's own counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from qmon.demo.demo_texts import DemoProgressText
from tests.demo.agreement import agree, depth_agrees
from tests.demo.leftovers import alive, segments_of
from tests.facts import wait_until
from tests.queues import DESIGNS
from tests.schemas import valid


@pytest.mark.alone
def test_rates_and_depths_agree_with_the_load_under_faults() -> None:
    command = [sys.executable, "-m", "qmon", "demo", "--for", "20s", "--output", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    report = valid(done.stdout, "demo")
    assert {q["design"] for q in report["queues"]} == set(DESIGNS)
    assert report["failures"] == []
    poll_s = report["probe"]["client_ms"] / 1000
    for queue in report["queues"]:
        counted = report["workload"][queue["name"]]
        for rate in ("push_rate", "pop_rate"):
            assert counted[rate] > 0
            assert agree(queue[rate], counted[rate], queue["window_seconds"]), (queue["name"], rate, queue, counted)
        assert depth_agrees(queue, counted["depth"], poll_s), (queue, counted)


def processes_below(folder: Path) -> set[int]:
    """Return the processes that were started with this temporary folder."""
    mark = f"TMPDIR={folder}".encode()
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0") and alive(int(entry.name)):
                    found.add(int(entry.name))
            except OSError:  # it has ended in the meantime, or is not ours
                continue
    return found


# SIGTERM's handler is SIGHUP's, too (qmon.cli.signals). After SIGINT, a load ends in ``test_load``, a server and its
# guardian in ``test_guardian``, a command with 130 in ``test_act``.
SELDOM = [pytest.param(number, marks=pytest.mark.soak) for number in (signal.SIGHUP, signal.SIGINT)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, *SELDOM])
def test_nothing_is_left_however_the_demo_ends(temporary: Path, number: signal.Signals) -> None:
    command = [sys.executable, "-m", "qmon", "demo", "--for", "600s", "--output", "table"]
    environment = os.environ | {"TMPDIR": str(temporary)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as demo:
        assert demo.stderr is not None
        assert any(DemoProgressText.UNDER_LOAD in line for line in demo.stderr)
        its_own = processes_below(temporary)
        assert len(its_own) > 10
        assert segments_of(its_own)
        demo.send_signal(number)
        demo.communicate(timeout=120)
    assert demo.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}.get(number, -number)
    wait_until(lambda: not processes_below(temporary), what="no process left")
    wait_until(lambda: not list(temporary.iterdir()), what="no file left")
    wait_until(lambda: not segments_of(its_own), what="no shared memory left")
