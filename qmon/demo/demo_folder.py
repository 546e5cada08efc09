"""The temporary folder with a server's data, log, socket and, if needed, a copy of its programs."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from qmon.demo.account import Account
from qmon.demo.demo_texts import DemoServerText
from qmon.errors import BadInput

# The path of a socket may have at most 107 bytes. Plain characters need no quotes in connection strings.
_PLAIN = re.compile(r"[A-Za-z0-9_./-]{1,80}")


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """The folder of one server, with a short path of plain characters."""

    folder: Path

    @property
    def data(self) -> Path:
        """The data folder, owned by the account."""
        return self.folder / "data"

    @property
    def log(self) -> Path:
        """The server's log file."""
        return self.folder / "server.log"

    @property
    def sockets(self) -> Path:
        """The folder of the socket. Only the server's account and root can enter this folder."""
        return self.folder / "socket"

    @property
    def spare(self) -> Path:
        """A folder for a copy of the programs. It is used if the account cannot reach the installed programs."""
        return self.folder / "programs"

    def create_folders(self, account: Account) -> None:
        """Let the account enter the folder, and create the data and socket folders, which the account owns."""
        self.folder.chmod(0o711 if account.other else 0o700)
        for path in (self.data, self.sockets):
            path.mkdir(mode=0o700)
            path.chmod(0o700)
            account.give_ownership(path)


def create_demo_folder(account: Account) -> DemoFolder:
    """Create a folder that the account can enter. Raises ``BadInput`` if no folder for temporary files is suitable."""
    tried = dict.fromkeys([tempfile.gettempdir(), "/tmp", "/var/tmp"])  # noqa: S108 - mkdtemp makes a private folder
    for base in map(Path, tried):
        if base.is_dir() and account.can_enter(base) and _PLAIN.fullmatch(str(base)):
            return DemoFolder(Path(tempfile.mkdtemp(prefix="qmon-", dir=base)))
    raise BadInput(DemoServerText.NO_FOLDER.render(account=account.name, folders=", ".join(tried)))
