"""A real pgbouncer in front of the tests' server, and an application that connects through it."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pyodbc

from qmon.demo.account import server_account
from qmon.demo.embedded_server import EmbeddedServer
from tests.facts import odbc, wait_until

PGBOUNCER: Final = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin") or "pgbouncer"
PORT: Final = 6432
SETTINGS: Final = (
    "default_transaction_read_only",
    "statement_timeout",
    "lock_timeout",
    "idle_in_transaction_session_timeout",
    "application_name",
    "plan_cache_mode",
    "extra_float_digits",
)


@contextlib.contextmanager
def pgbouncer(
    server: EmbeddedServer, mode: str, size: int, *settings: str, drops_options: bool = True
) -> Iterator[str]:
    """Run pgbouncer in this mode with this many sessions; yield the URL of the database ``{}`` through it.

    ``drops_options``: ignore settings in a client's startup; otherwise refuse such clients.
    """
    with tempfile.TemporaryDirectory(prefix="qmon-pool-", dir="/tmp") as name:
        folder = Path(name)
        lines = (
            "[databases]",
            f"* = host={server.socket_dir} port={server.port} user=postgres",
            "[pgbouncer]",
            f"unix_socket_dir = {folder}",
            f"listen_port = {PORT}",
            "auth_type = any",
            f"pool_mode = {mode}",
            f"default_pool_size = {size}",
            "query_wait_timeout = 20",
            *(("ignore_startup_parameters = options",) if drops_options else ()),
            *settings,
        )
        (folder / "ini").write_text("\n".join(lines) + "\n")
        account = server_account()
        for path in (folder, folder / "ini"):
            account.give_ownership(path)
        user = ["-u", account.name] if account.other else []
        running = subprocess.Popen(
            [PGBOUNCER, "-q", *user, folder / "ini"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            wait_until(lambda: _listens(folder / f".s.PGSQL.{PORT}"), what="pgbouncer listens")
            yield f"postgresql://app@/{{}}?host={folder}&port={PORT}"
        finally:
            running.kill()
            running.wait()


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client, contextlib.suppress(OSError):
        client.connect(str(path))
        return True
    return False


class Application:
    """A client of the pool that sets nothing and reads the settings of its session."""

    def __init__(self, url: str, *, holds: bool = True) -> None:
        """``holds``: keep a transaction open, so that the client keeps the session; otherwise begin none."""
        self._raw = pyodbc.connect(odbc(url) + ";pqopt={application_name='shop'}", autocommit=not holds)
        self._raw.execute("RESET extra_float_digits")  # its driver sets it
        if holds:
            self._raw.commit()

    def look(self) -> dict[str, str]:
        """Return its current settings."""
        asked = ", ".join(f"current_setting('{name}')" for name in SETTINGS)
        row = self._raw.execute(
            f"SELECT {asked}, (SELECT string_agg(name || statement, chr(10)) FROM pg_prepared_statements)"
        ).fetchone()
        assert row is not None
        return dict(zip((*SETTINGS, "prepared"), map(str, row), strict=True))

    def close(self) -> None:
        """Return the session to the pool."""
        self._raw.rollback()
        self._raw.close()


def looks(url: str, size: int, *, hold: bool = True) -> list[dict[str, str]]:
    """Return the settings seen by this many applications. They hold their sessions, so this shows all of the pool."""
    with contextlib.ExitStack() as stack:
        made = [stack.enter_context(contextlib.closing(Application(url, holds=hold))) for _ in range(size)]
        return [each.look() for each in made]
