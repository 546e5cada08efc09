"""Run a module as on Windows, simulated on Linux: ``python -m tests.as_windows qmon design list``, or tests:
``pytest -p tests.as_windows``.

For all later imports, ``sys.platform`` is ``win32``; modules, functions and signals of POSIX are gone; open files
cannot be renamed or removed; a rename to an existing name is refused; locks, shared memory and new processes follow
Windows' rules. The standard library and other packages are imported first, because they have their own code for
Windows. Paths, consoles, drivers and the kernel stay those of Linux.
"""

from __future__ import annotations

import fcntl
import importlib
import mmap
import os
import platform
import runpy
import signal
import ssl
import struct
import subprocess
import sys
import sysconfig
import tempfile
import types
from pathlib import Path
from typing import Any, Final

import pytest

# Imported before the platform is changed.
PACKAGES: Final = [
    "asyncio",
    "ctypes",
    "getpass",
    "multiprocessing.shared_memory",
    "email",
    "tarfile",
    "zipfile",
    "sysconfig",
    "hypothesis",
    "click",
    "keyring.backends",
    "msgspec",
    "platformdirs",
    "pyodbc",
    "rich.console",
    "rich.progress",
    "textual",
    "textual.app",
    "textual.pilot",
    "textual.widgets",
    "typer.main",
    "typer.rich_utils",
    "zstandard",
]
GONE: Final = {
    os: "fork forkpty killpg getpgid getpgrp setsid setpgid getsid getuid geteuid getgid getegid getgroups setuid"
    " chown lchown fchown fchmod fdatasync mkfifo mknod set_blocking statvfs fstatvfs uname nice getloadavg"
    " openpty ttyname sched_getaffinity sysconf confstr"
    " O_NOFOLLOW O_CLOEXEC O_NONBLOCK O_DIRECTORY O_SYNC O_DSYNC O_NOCTTY O_PATH",
    signal: "SIGHUP SIGKILL SIGQUIT SIGSTOP SIGCONT SIGUSR1 SIGUSR2 SIGALRM SIGCHLD SIGPIPE SIGTSTP SIGTTIN SIGTTOU"
    " SIGWINCH SIGXCPU SIGXFSZ SIGBUS alarm setitimer pthread_kill pthread_sigmask sigwait sigtimedwait pause",
}
MODULES: Final = ("fcntl", "pwd", "grp", "termios", "tty", "pty", "resource", "syslog", "readline", "crypt", "spwd")
_SHARED: Final = "QMON_TEST_SHARED"
_KILL: Final = signal.SIGKILL
_ERROR_SHARING: Final = "another program has it open"


def pretend() -> None:
    """Simulate Windows in this process, permanently."""
    for name in PACKAGES:
        importlib.import_module(name)
    platform.platform()
    sysconfig.get_config_vars()  # the cached result is kept
    _processes()
    _files()
    _memory()
    _locks()
    for module, names in GONE.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]  # importing it fails
    sys.modules["tzlocal"] = types.ModuleType("tzlocal")
    sys.modules["tzlocal"].get_localzone_name = lambda: "Europe/Berlin"  # type: ignore[attr-defined]
    signal.SIGBREAK = signal.Signals(1)  # type: ignore[attr-defined]
    os.O_BINARY = 0  # type: ignore[attr-defined]
    ssl.enum_certificates = lambda store: []  # type: ignore[attr-defined]
    sys.platform = "win32"
    os.environ.setdefault("USERNAME", "operator")
    for name in ("LOCALAPPDATA", "APPDATA", "USERPROFILE"):
        os.environ.setdefault(name, os.environ.get("HOME", tempfile.gettempdir()))


def _processes() -> None:
    """Signals except Ctrl-C end a process at once, children inherit no descriptors and simulate Windows too."""
    subprocess.signal = types.SimpleNamespace(**vars(signal))  # type: ignore[attr-defined]
    subprocess.CREATE_NEW_PROCESS_GROUP = 0x200  # type: ignore[attr-defined]
    real_init, real_kill = subprocess.Popen.__init__, os.kill

    def init(self: Any, args: Any, **options: Any) -> None:
        if options.get("pass_fds") or options.get("preexec_fn"):
            raise ValueError("not supported on Windows platforms")
        options.pop("creationflags", 0)
        if args[0] == "taskkill":
            args = ["/bin/sh", "-c", f"kill -9 -{args[-1]}"]
        if isinstance(args, list) and args[0] == sys.executable and "-m" in args:
            at = args.index("-m") + 1
            args = [*args[:at], "tests.as_windows", *args[at:]] if str(args[at]).startswith("qmon") else args
        real_init(self, args, **options)

    def kill(pid: int, number: int) -> None:
        real_kill(pid, number if number in (0, signal.SIGINT) else _KILL)

    subprocess.Popen.__init__ = init  # type: ignore[method-assign,assignment]
    os.kill = kill


def _files() -> None:
    rename, replace, unlink = os.rename, os.replace, os.unlink

    def check(path: Any) -> None:
        try:
            wanted = Path(path).stat()
        except OSError:
            return
        for link in Path("/proc/self/fd").iterdir():
            try:
                if os.path.samestat(os.fstat(int(link.name)), wanted):
                    raise PermissionError(13, _ERROR_SHARING, str(path))
            except OSError as problem:
                if problem.strerror == _ERROR_SHARING:
                    raise

    def renamed(path: Any, to: Any, **options: Any) -> None:
        check(path)
        if Path(to).exists():
            raise FileExistsError(17, "File exists", str(to))
        rename(path, to, **options)

    def replaced(path: Any, to: Any, **options: Any) -> None:
        check(path)
        check(to)
        replace(path, to, **options)

    def unlinked(path: Any, **options: Any) -> None:
        if not options.get("dir_fd"):
            check(path)
        unlink(path, **options)

    os.rename, os.replace = renamed, replaced  # type: ignore[assignment]
    os.unlink = os.remove = unlinked


def _memory() -> None:
    """Simulate named shared memory with files in a folder that the first process removes."""
    real = mmap.mmap
    if _SHARED not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="as-windows-")
        os.environ[_SHARED] = folder.name
        mmap.qmon_keeps = folder  # type: ignore[attr-defined]

    def mapped(file: int, length: int, *, tagname: str | None = None, **options: Any) -> mmap.mmap:
        if tagname is None:
            return real(file, length, **options)
        with (Path(os.environ[_SHARED]) / tagname).open("a+b") as shared:
            shared.truncate(length)
            return real(shared.fileno(), length)

    mmap.mmap = mapped  # type: ignore[misc,assignment]


def _locks() -> None:
    """Simulate ``msvcrt.locking``, which locks a byte at the position of an open file."""
    control, made = fcntl.fcntl, types.ModuleType("msvcrt")
    exclusive, shared, set_lock = fcntl.F_WRLCK, fcntl.F_RDLCK, 37  # F_OFD_SETLK: it belongs to the open file
    access, writes = fcntl.F_GETFL, os.O_ACCMODE if hasattr(os, "O_ACCMODE") else 3

    def locking(file: int, mode: int, count: int) -> None:
        at = os.lseek(file, 0, os.SEEK_CUR)
        assert mode == 2
        assert at >= os.fstat(file).st_size, "a byte that others want to read"
        kind = exclusive if control(file, access) & writes else shared
        try:
            control(file, set_lock, struct.pack("hhqqi4x", kind, os.SEEK_SET, at, count, 0))
        except BlockingIOError:
            raise PermissionError(13, "Permission denied") from None

    made.locking, made.LK_NBLCK = locking, 2  # type: ignore[attr-defined]
    sys.modules["msvcrt"] = made


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Start the simulation as a plug-in, before qmon is imported."""
    pretend()


def main() -> None:
    """Run the module in the first argument with the remaining arguments."""
    pretend()
    _, name, *arguments = sys.argv
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
