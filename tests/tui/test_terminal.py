"""The real program in a real terminal: tmux, and a bare pseudo-terminal that is closed while it runs."""

from __future__ import annotations

import os
import pty
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from qmon.log import LogText
from qmon.tui.run import TerminalText
from qmon.tui.shared.header import HeaderText
from qmon.tui.shared.keybar import KeyLineText
from tests.facts import wait_until
from tests.tui.tmux import PROGRAM, ROOT, Tmux, gone
from tests.wordings import has

pytestmark = pytest.mark.server


@pytest.fixture
def tmux() -> Iterator[Tmux]:
    running = Tmux()
    yield running
    running.close()


def test_keys_work_in_a_real_terminal(tmux: Tmux) -> None:
    tmux.expect(HeaderText.LIVE)
    tmux.expect("■ stuck in progress")
    tmux.keys("Down", "Enter")
    tmux.expect("dbo.QueueMeta + dbo.QueueData")
    tmux.keys("Escape")
    tmux.expect("VERDICT")
    tmux.keys("/", "r", "i", "n", "g")
    tmux.expect("filter: ring")
    tmux.keys("Enter")
    wait_until(lambda: "filter:" not in tmux.screen(), what="the line closes")
    wait_until(lambda: tmux.shows(KeyLineText.CLEAR_FILTER), what="the filter is shown")
    tmux.keys("-")
    wait_until(lambda: tmux.shows(HeaderText.EVERY, duration="2.0 s"), what="the interval")
    tmux.keys(":")
    tmux.expect("WHAT IT DOES")
    tmux.keys("Escape")
    wait_until(lambda: "WHAT IT DOES" not in tmux.screen(), what="the palette closes")
    tmux.keys("q")
    tmux.expect("left with 0")
    wait_until(lambda: gone(tmux.pid), what="the program ends")


def test_the_terminal_may_change_its_size(tmux: Tmux) -> None:
    tmux.expect(HeaderText.LIVE)
    tmux.run("resize-window", "-x", "200", "-y", "50")
    tmux.expect("BECAUSE")
    tmux.run("resize-window", "-x", "80", "-y", "24")
    wait_until(lambda: "FORECAST" not in tmux.screen() and "VERDICT" in tmux.screen(), what="fewer columns")


def test_payloads_do_not_reach_the_terminal_as_commands(tmux: Tmux) -> None:
    tmux.expect(HeaderText.LIVE)
    tmux.keys("Enter")
    tmux.expect("␛]0;owned␇␛[2J␛[31mred")
    assert "owned" not in tmux.run("display-message", "-p", "#{pane_title}")


def test_the_process_ends_when_its_session_is_killed(tmux: Tmux) -> None:
    tmux.expect(HeaderText.LIVE)
    tmux.run("kill-session")
    wait_until(lambda: gone(tmux.pid), 15, what="the program ends with its terminal")


def test_the_process_ends_with_its_terminal_though_a_thread_never_does() -> None:
    tmux = Tmux("reading")
    try:
        tmux.expect(HeaderText.LIVE)
        tmux.run("kill-session")
        wait_until(lambda: gone(tmux.pid), 30, what="the program ends with its terminal")
    finally:
        tmux.close()


def test_q_leaves_at_once_though_the_source_is_stuck_and_cannot_be_closed() -> None:
    tmux = Tmux("stuck")
    try:
        tmux.expect(HeaderText.LATE)
        tmux.keys("q")
        tmux.expect("left with 0")
        wait_until(lambda: gone(tmux.pid), what="the program ends")
    finally:
        tmux.close()


def test_no_line_of_the_log_is_on_the_screen_and_what_ends_the_dashboard_is_in_the_log(tmp_path: Path) -> None:
    place = tmp_path / "q.log"
    tmux = Tmux("broken", str(place), cells=200)
    try:
        tmux.expect(HeaderText.LIVE)
        wait_until(lambda: place.exists() and "a line of another" in place.read_text(), what="a line in the log")
        assert "a line" not in tmux.screen()
        tmux.expect("left with 1")
        assert "a line" not in tmux.screen()
        assert has(tmux.screen(), LogText.DEFECT_WITH_LOG, log=place)
    finally:
        tmux.close()
    assert "in fold" in place.read_text()
    assert "ValueError: no number: '•••'" in place.read_text()


@pytest.mark.parametrize(
    "typed",
    [
        "e9",
        "e9 31",
        "1b e9",
        "c3",
        "ff fe 00",
        "1b 5b 32 30 30 7e e4 1b 5b 32 30 31 7e",
        "1b 5b 3e 38 7e",
        "1b 5b 39 39 39 39 39 39 39 39 39 39 75",
    ],
)
def test_bytes_that_are_no_utf8_and_malformed_sequences_do_not_end_it(tmux: Tmux, typed: str) -> None:
    """A key of a Latin-1 terminal, an alt key, half a character, binary data, a paste, and keys without a number."""
    tmux.expect(HeaderText.LIVE)
    tmux.keys("-H", *typed.split())
    tmux.keys("3")
    tmux.expect("3 waits")
    tmux.keys("q")
    tmux.expect("left with 0")


def test_what_ends_the_reading_of_the_terminal_is_logged(tmp_path: Path) -> None:
    place = tmp_path / "q.log"
    tmux = Tmux("deaf", str(place), cells=200)
    try:
        tmux.expect(HeaderText.LIVE)
        tmux.keys("1")
        tmux.expect("left with 1")
        assert has(tmux.screen(), LogText.DEFECT_WITH_LOG, log=place)
    finally:
        tmux.close()
    assert "RuntimeError: no terminal" in place.read_text()


def test_ctrl_z_goes_back_to_the_shell_and_fg_returns() -> None:
    tmux = Tmux(program=["bash", "--norc", "--noprofile", "-i"])
    try:
        tmux.keys("PS1='shell> '", "Enter", shlex.join(PROGRAM), "Enter")
        tmux.expect(HeaderText.LIVE)
        tmux.keys("C-z")
        tmux.expect("Stopped")
        tmux.keys("fg", "Enter")
        tmux.expect(HeaderText.LIVE)
        tmux.keys("q")
        tmux.expect("left with 0")
    finally:
        tmux.close()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_end_it_and_restore_the_terminal(tmux: Tmux, number: signal.Signals, code: int) -> None:
    tmux.expect(HeaderText.LIVE)
    os.kill(tmux.pid, number)
    tmux.expect(f"left with {code}")
    assert HeaderText.LIVE not in tmux.screen()


def test_a_terminal_that_goes_without_a_signal_is_noticed() -> None:
    leader, follower = pty.openpty()
    program = subprocess.Popen(
        PROGRAM, stdin=follower, stdout=follower, stderr=follower, cwd=ROOT, env={**os.environ, "TERM": "xterm"}
    )  # it does not lead a session with this terminal, so no SIGHUP arrives
    os.close(follower)
    try:
        seen = b""
        while b"live" not in seen:
            seen += os.read(leader, 65_536)
        os.close(leader)
        assert program.wait(120) in (129, 1, -signal.SIGHUP)
    finally:
        program.kill()
        program.wait()


def test_without_a_terminal_it_says_so() -> None:
    done = subprocess.run(PROGRAM, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    assert done.returncode != 0
    assert has(done.stderr, TerminalText.NO_TERMINAL, stream="input", alternative=TerminalText.USE_STATUS)


def test_several_targets_are_connected_in_a_real_terminal(database: str, tmp_path: Path) -> None:
    config = tmp_path / "qmon.toml"
    targets = (f'[target.{name}]\nconnect = "{database}"\n' for name in ("shop", "mill"))
    config.write_text("".join(targets), encoding="utf-8")
    config.chmod(0o600)
    program = [sys.executable, "-m", "qmon", "connect"]
    tmux = Tmux("shop", "mill", "--config", str(config), program=program)
    try:
        tmux.expect("shop")
        tmux.expect("mill")
        tmux.keys("q")
        wait_until(lambda: gone(tmux.pid), what="the program ends")
        assert "unexpected error" not in tmux.screen()
    finally:
        tmux.close()
