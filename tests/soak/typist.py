"""A fuzz test of the dashboard's input: the real program on a pseudo-terminal survives any input at any speed.

Input: bytes that are not text, fast keys, halves of escape sequences, pastes, the mouse, unsolicited answers of
terminals, sizes of the terminal, and signals. Keys act: messages are purged, queues are paused, files are written.
"""

from __future__ import annotations

import contextlib
import os
import pty
import random
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fcntl import ioctl
from pathlib import Path
from typing import Final

import psutil

from tests.cli.calling import surroundings
from tests.contract.watching import installed
from tests.facts import query, wait_until
from tests.recording.days import written

_KEYS: Final = (
    *(bytes([code]) for code in range(0x20, 0x7F)),
    *(f"\x1b[{end}".encode() for end in ("A", "B", "C", "D", "H", "F", "Z", "5~", "6~", "2~", "3~", "15~", "24~")),
    *(f"\x1bO{end}".encode() for end in "PQRSABCD"),
    *(
        b"\r",
        b"\n",
        b"\t",
        b"\x1b",
        b"\x1b\x1b",
        b"\x7f",
        b"\x08",
        b"\x00",
        b"\x03",
        b"\x11",
        b"\x13",
        b"\x15",
        b"\x17",
    ),
    *("é".encode(), "界".encode(), "🚀".encode(), "e\u0301".encode()),
)
# Keys that open a dialog, and input for it.
_OPENING: Final = (
    b"?",
    b":",
    b"C",
    b"W",
    b"@",
    b"/",
    b"\x13",
    b"p",
    b"P",
    b"r",
    b"x",
    b"d",
    b"u",
    b"R",
    b"E",
    b"c",
    b"\r",
)
_TYPED: Final = (
    b"~nobody-here/a.csv",
    b"/dev/full",
    b"/proc/self/mem",
    b"a.json",
    b"..",
    b"10:00",
    b"+5m",
    b"-99999d",
    b"9" * 40,
    b"status",
    b"reason",
    b"",
    "\u202e\u0301".encode(),
    b"%s{}[/b][bold]",
    b"\\",
    b"'; --",
)
_REPLIES: Final = (
    b"\x1b[?62;22c",
    b"\x1b[24;80R",
    b"\x1b[?2026;2$y",
    b"\x1b[?1u",
    b"\x1b[I",
    b"\x1b[O",
    b"\x1b]11;rgb:ffff/ffff/ffff\x07",
    b"\x1b[8;24;80t",
    b"\x1b[48;24;80;480;800t",
    b"\x1bP1+r\x1b\\",
    b"\x1b[?997;1n",
    b"\x1b[99999999999999999999;1R",
    b"\x1b[>8~",
    b"\x1b[1;1;55296u",
)
_ENDED_S: Final = 30.0
_SETTLE_S: Final = 90.0


class TypedProgram:
    """A dashboard on a pseudo-terminal.

    Args:
        arguments: the command line of qmon.
        folder: its home, its working folder, and where its log is.
        dice: what is typed, and when.

    Attributes:
        counts: how often each kind of input was given.
        process: the program.
    """

    def __init__(self, arguments: Sequence[str], folder: Path, dice: random.Random) -> None:
        self._dice, self._folder, self._log = dice, folder, folder / "typed.log"
        self._stacks = folder / "stacks"
        self.counts: Counter[str] = Counter()
        self.recent: list[bytes] = []
        self._leader, follower = pty.openpty()
        self._resize(40, 120)
        environment = surroundings(
            HOME=str(folder),
            XDG_CONFIG_HOME=str(folder),
            XDG_STATE_HOME=str(folder),
            TERM="xterm-256color",
            LANG="C.UTF-8",
        )
        command = [
            sys.executable,
            "-m",
            "tests.soak.typed_program",
            str(self._stacks),
            "--log-file",
            str(self._log),
            *arguments,
        ]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
        )
        os.close(follower)
        self._seen = b""
        self._written = 0
        self._settled_cells = 121
        self._reader = threading.Thread(target=self._read, name="typist", daemon=True)
        self._reader.start()
        self.expect_output("its first screen", lambda: self._written > 5_000)

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # the program has ended
            while found := os.read(self._leader, 65_536):
                self._seen = (self._seen + found)[-20_000:]
                self._written += len(found)

    def _resize(self, rows: int, cells: int) -> None:
        ioctl(self._leader, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cells, 0, 0))

    def expect_output(self, what: str, ask: Callable[[], bool]) -> None:
        """Wait until ``ask`` is true. Raises ``AssertionError`` with the log if the program ends before that."""
        try:
            wait_until(lambda: ask() or self.process.poll() is not None, _SETTLE_S, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self._told()}") from None
        self.check()

    def check(self) -> None:
        """Raise ``AssertionError`` if the program has ended, or has logged a fault."""
        ended = self.process.poll()
        assert ended is None, f"ended with {ended}\n{self._told()}"
        log = self._log_text()
        assert "went wrong" not in log and "Traceback" not in log, self._told()

    def _log_text(self) -> str:
        return self._log.read_text("utf-8", "replace") if self._log.exists() else ""

    def _told(self) -> str:
        typed = "\n".join(map(repr, self.recent[-25:]))
        shown = self._seen[-3_000:].decode("utf-8", "replace")
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGUSR1)
            time.sleep(1)  # for people who look for the fault
        stacks = self._stacks.read_text("utf-8")
        state = psutil.Process(self.process.pid).status() if self.process.poll() is None else "ended"
        return f"typed:\n{typed}\nlog:\n{self._log_text()[-6_000:]}\nshown:\n{shown!r}\nprocess: {state}\n{stacks}"

    def type(self, *bursts: bytes) -> None:
        """Write to the terminal, each burst at once."""
        for burst in bursts:
            self.recent = [*self.recent[-40:], burst]
            os.write(self._leader, burst)

    def act(self) -> None:
        """Give one random input."""
        ways = {
            "bytes": self._bytes,
            "keys": self._keys,
            "dialogs": self._dialogs,
            "escapes": self._escapes,
            "paste": self._paste,
            "mouse": self._mouse,
            "resize": self._size,
            "signal": self._signal,
        }
        weights = (3, 8, 6, 3, 1, 2, 2, 1)
        (kind,) = self._dice.choices(list(ways), weights)
        self.counts[kind] += 1
        ways[kind]()
        time.sleep(self._dice.choice((0, 0, 0, 0.01, 0.05, 0.2)))  # the speed of typing is a part of the input

    def _bytes(self) -> None:
        self.type(self._dice.randbytes(self._dice.randint(1, 40)))

    def _keys(self) -> None:
        dice = self._dice
        if dice.random() < 0.3:  # one key held down
            self.type(dice.choice(_KEYS) * dice.randint(2, 40))
        else:
            self.type(b"".join(dice.choices(_KEYS, k=dice.randint(1, 30))))

    def _dialogs(self) -> None:
        dice = self._dice
        typed = dice.choice(_TYPED)
        ending = b"".join(
            dice.choices((b"\r", b"\x1b", b"\t", b"\x1b[Z", b"\x1b[C", b" ", b"\x03", b"q"), k=dice.randint(1, 6))
        )
        whole = dice.choice(_OPENING) + dice.choice((b"", b"\x15")) + typed + ending
        if dice.random() < 0.5:
            self.type(whole)
        else:
            at = dice.randrange(len(whole))
            self.type(whole[:at], whole[at:])

    def _escapes(self) -> None:
        dice = self._dice
        reply = dice.choice(_REPLIES)
        made = b"\x1b[" + bytes(dice.choices(b"0123456789;:<>?$!uRtcmM~ ", k=dice.randint(1, 24)))
        self.type(dice.choice((reply, reply[: dice.randint(1, len(reply))], made)))

    def _paste(self) -> None:
        inner = self._dice.randbytes(self._dice.randint(0, 4_000))
        self.type(b"\x1b[200~", inner.replace(b"\x1b[201~", b""), self._dice.choice((b"\x1b[201~", b"", b"\x1b[201")))

    def _mouse(self) -> None:
        dice = self._dice
        buttons = (0, 1, 2, 32, 35, 64, 65, 66, 999)
        places = [
            b"\x1b[<%d;%d;%d" % (dice.choice(buttons), dice.randint(-1, 400), dice.randint(0, 200))
            + dice.choice((b"M", b"m", b""))
            for _ in range(dice.randint(1, 12))
        ]
        self.type(b"".join(places))

    def _size(self) -> None:
        dice = self._dice
        for _ in range(dice.choice((1, 1, 5))):
            self._resize(dice.choice((0, 1, 2, 5, 24, 40, 80, 200)), dice.choice((0, 1, 2, 10, 40, 80, 120, 500)))

    def _signal(self) -> None:
        kind = self._dice.choice((signal.SIGWINCH, signal.SIGCONT, signal.SIGTSTP, signal.SIGSTOP))
        os.killpg(self.process.pid, kind)
        if kind in (signal.SIGTSTP, signal.SIGSTOP):
            time.sleep(self._dice.choice((0, 0.05, 0.3)))
            os.killpg(self.process.pid, signal.SIGCONT)

    def settle(self) -> None:
        """Let it handle all input: it must paint the whole screen again when the size changes."""
        self.type(b"\x1b[201~\x1b\x1b\\")  # ends a paste or a sequence that is open
        before = self._written
        # A busy program handles only the last of several changes. No other change is to one of these widths.
        self._settled_cells = 243 - self._settled_cells
        self._resize(40, self._settled_cells)
        self.expect_output("the screen is painted again", lambda: self._painted_since(before))

    def _painted_since(self, before: int) -> bool:
        if psutil.Process(self.process.pid).status() == psutil.STATUS_STOPPED:  # by ctrl+z, or a late SIGTSTP
            os.killpg(self.process.pid, signal.SIGCONT)
        return self._written - before > 1_000

    def close(self) -> int:
        """End it with SIGTERM and return its exit code."""
        self.process.terminate()
        self.process.send_signal(signal.SIGCONT)  # the last input may have stopped it
        try:
            code = self.process.wait(_ENDED_S)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"SIGTERM does not end it\n{self._told()}") from None
        finally:
            self.process.kill()
        os.close(self._leader)
        log = self._log_text()
        assert "went wrong" not in log and "Traceback" not in log, self._told()
        return code


def made(url: str) -> None:
    """Make queues of several designs with messages in every state."""
    installed(url, "fifo", "status", "batch_fast", "ring")
    for queue in ("fifo", "status"):
        query(url, f"SELECT count({queue}_push('\\x41')) FROM generate_series(1, 60)")
    query(url, "SELECT * FROM status_pop_batch(5)")
    query(url, "UPDATE status SET status = 3 WHERE id > 50")


def typed(arguments: Sequence[str], folder: Path, *, seed: int, acts: int = 0, seconds: float = 0.0) -> Counter[str]:
    """Type at a dashboard, ``acts`` times or for ``seconds``. Return the count of each kind of input.

    Raises ``AssertionError`` with the last input and the log if the program ends, stops painting, or logs a fault.
    """
    program = TypedProgram(arguments, folder, random.Random(seed))
    until = time.monotonic() + seconds
    try:
        while sum(program.counts.values()) < acts or time.monotonic() < until:
            program.act()
            if sum(program.counts.values()) % 20 == 0:
                program.settle()
        program.settle()
    finally:
        code = program.close()
    assert code in (0, 143), code
    return program.counts


def fuzzed(url: str, folder: Path, *, seed: int, seconds: float) -> Iterator[str]:
    """Type at a dashboard of one target, at one of two targets and at a replay, in turn. Yield a line for each turn."""
    made(url)
    recording = folder / "recording"
    written(recording, 2.0, snapshots=2.0)
    config = folder / "qmon.toml"
    config.write_text("".join(f'[target.{name}]\nconnect = "{url}"\n' for name in ("shop", "mill")), encoding="utf-8")
    config.chmod(0o600)
    kinds = (
        ("connect", "shop", "--config", str(config)),
        ("connect", "shop", "mill", "--config", str(config)),
        ("replay", str(recording)),
    )
    until, number = time.monotonic() + seconds, 0
    while (left := until - time.monotonic()) > 1:
        arguments = kinds[number % len(kinds)]
        counts = typed(arguments, folder, seed=seed + number, seconds=min(left, seconds / 12))
        given = f"{sum(counts.values())} inputs, {dict(counts)}"
        yield f"{' '.join(arguments[:-2] or arguments[:1])}, seed {seed + number}: {given}: still running"
        number += 1
