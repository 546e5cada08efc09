"""A hot standby of a test's server: its data copied by pg_basebackup, its WAL streamed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from qmon.demo.account import Account
from qmon.demo.demo_folder import DemoFolder
from qmon.demo.embedded_server import SUPERUSER, EmbeddedServer
from qmon.demo.programs import last_lines
from qmon.errors import ConnectionFailed
from tests.facts import query, wait_until


class Standby(EmbeddedServer):
    """A server that replays the WAL of another one."""

    def __init__(self, primary: EmbeddedServer) -> None:
        super().__init__(settings={"hot_standby_feedback": "on"})
        self._primary = primary

    def start(self) -> None:
        """Copy the primary and start, or start again."""
        if self._demo_folder is None:
            self._create_server()
        self._launch_server()

    def _initdb(self, place: DemoFolder, account: Account) -> None:
        where = ["-h", str(self._primary.socket_dir), "-p", str(self._primary.port), "-U", SUPERUSER]
        options = [
            "-D",
            str(place.data),
            "--wal-method=stream",
            "--checkpoint=fast",
            "--write-recovery-conf",
            "--no-sync",
        ]
        made = self._require_programs()._start_program("pg_basebackup", [*where, *options], -1)
        said, _ = made.communicate()
        if made.returncode:
            raise ConnectionFailed(f"pg_basebackup failed: {last_lines(said)}")

    def caught_up(self, database: str) -> None:
        """Wait until everything the primary has written is replayed here."""
        ((upto,),) = query(self._primary.url(database), "SELECT CAST(pg_current_wal_insert_lsn() AS text)")
        done = f"SELECT pg_last_wal_replay_lsn() >= '{upto}'"
        wait_until(lambda: query(self.url(database), done) == [(True,)], what=f"replayed up to {upto}")


@contextmanager
def replicated() -> Iterator[tuple[EmbeddedServer, Standby]]:
    """Yield a primary with a database ``qmon``, and its standby."""
    with EmbeddedServer() as primary:
        standby = Standby(primary)
        try:
            standby.start()
            yield primary, standby
        finally:
            standby.destroy()
