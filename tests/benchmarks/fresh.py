"""Cost of a program from start to end, with all its child processes: seconds, processor time, memory."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

import psutil

_SUBREAPER = 36
_LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Used:
    """Seconds, processor seconds, peak memory in MB (shared pages divided among their processes), and the output."""

    seconds: float
    cpu_s: float
    peak_mb: float
    printed: str


def used(*command: str) -> Used:
    """Run a program and wait for children that outlive it, such as a Java without its Python. Linux only.

    Raises ``RuntimeError`` if it fails, with its exit status or signal and the end of its output.
    """
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    before, began = _spent(), time.perf_counter()
    peak, over = [0], threading.Event()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    looking = threading.Thread(target=_look, args=(child.pid, peak, over), daemon=True)
    looking.start()
    out, said = child.communicate()
    over.set()
    looking.join()
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    if child.returncode:
        how = signal.strsignal(-child.returncode) if child.returncode < 0 else f"exit code {child.returncode}"
        raise RuntimeError(f"{' '.join(command)[:200]}: {how}, {peak[0] / 1e6:,.0f} MB at most: {said[-2000:]}")
    return Used(time.perf_counter() - began, _spent() - before, peak[0] / 1e6, out)


def processor_s() -> float:
    """Return the processor seconds, with those of children that have ended."""
    own = psutil.Process()
    total = 0.0
    for each in (own, *own.children(recursive=True)):
        try:
            times = each.cpu_times()
        except psutil.Error:  # the process has ended
            continue
        total += times.user + times.system
        if each.pid != own.pid:
            total += times.children_user + times.children_system
    return total


def _spent() -> float:
    found = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found.ru_utime + found.ru_stime


def _look(pid: int, peak: list[int], over: threading.Event) -> None:
    while not over.wait(_LOOK_S):
        total = 0
        with contextlib.suppress(psutil.Error):
            known = psutil.Process(pid)
            for each in (known, *known.children(recursive=True)):
                with contextlib.suppress(psutil.Error):  # the process has ended
                    total += each.memory_full_info().pss
        peak[0] = max(peak[0], total)
