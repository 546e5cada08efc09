"""Where a server's data, log, socket and, if need be, a copy of its programs live: in a temporary folder."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from qmon.demo.account import Account
from qmon.errors import BadInput

# The path of a socket has 107 bytes; drivers take it from connection strings, where plain characters need no quoting.
_PLAIN = re.compile(r"[A-Za-z0-9_./-]{1,80}")


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """The folder of one server, whose path is short and of plain characters, and what is in it."""

    folder: Path

    @property
    def data(self) -> Path:
        """The data folder: the account's own."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The server's log."""
        return self.folder / "server.log"

    @property
    def sockets(self) -> Path:
        """The folder of the socket: entered by the account and us only."""
        return self.folder / "socket"

    @property
    def spare(self) -> Path:
        """For a copy of the programs, where the account cannot reach the installed ones."""
        return self.folder / "programs"

    def fill(self, account: Account) -> None:
        """Let the account enter the folder, and make data and socket in it, which belong to the account."""
        self.folder.chmod(0o711 if account.other else 0o700)
        for path in (self.data, self.sockets):
            path.mkdir(mode=0o700)
            path.chmod(0o700)
            account.own(path)


def new_folder(account: Account) -> DemoFolder:
    """A new folder that the account can enter once we let it. Raises ``BadInput`` where there is no place for one."""
    tried = dict.fromkeys([tempfile.gettempdir(), "/tmp", "/var/tmp"])  # noqa: S108 - mkdtemp makes a private one
    for base in map(Path, tried):
        if base.is_dir() and account.can_enter(base) and _PLAIN.fullmatch(str(base)):
            return DemoFolder(Path(tempfile.mkdtemp(prefix="qmon-", dir=base)))
    raise BadInput(f"no folder for temporary files that {account.name} can enter; tried {', '.join(tried)}")
