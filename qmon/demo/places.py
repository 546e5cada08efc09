"""Where a server's data, log, socket and, if need be, a copy of its programs live."""

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
    """The folders of one server.

    Attributes:
        folder: the one that was asked for, or a temporary one.
        plain: one with a short path of plain characters; the same one where that is so.
        emptied: whether the folder was there before, so that only what is in it is removed.
    """

    folder: Path
    plain: Path
    emptied: bool

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
        return self.plain / "socket"

    @property
    def spare(self) -> Path:
        """For a copy of the programs, where the account cannot reach the installed ones."""
        return self.plain / "programs"

    @property
    def folders(self) -> list[Path]:
        """What to remove in the end."""
        mine = [self.data, self.log] if self.emptied else [self.folder]
        return mine if self.plain == self.folder and not self.emptied else [*mine, self.plain]


def find(folder: Path | None, account: Account) -> DemoFolder:
    """Choose, and make what must be made to be had for ourselves: temporary folders.

    Raises:
        BadInput: the folder holds something, or the account cannot enter it.
    """
    if folder is None:
        temporary = _temporary(account)
        return DemoFolder(temporary, temporary, emptied=False)
    folder = folder.absolute()
    there = folder.is_dir()
    if there and any(folder.iterdir()):
        raise BadInput(f"{folder} is not empty")
    if not account.can_enter(folder if there else folder.parent):
        raise BadInput(f"the account {account.name} that the server runs as cannot enter {folder}")
    return DemoFolder(folder, _temporary(account), emptied=there)


def make(place: DemoFolder, account: Account) -> None:
    """Make the folders: own may be entered by the account, data and socket belong to it."""
    for own in {place.folder, place.plain}:
        if not (own == place.folder and place.emptied):
            own.mkdir(parents=True, exist_ok=True)
            own.chmod(0o711 if account.other else 0o700)
    for theirs in (place.data, place.sockets):
        theirs.mkdir(mode=0o700)
        theirs.chmod(0o700)
        account.own(theirs)


def _temporary(account: Account) -> Path:
    """A new folder with a plain, short path that the account can enter once we let it."""
    tried = dict.fromkeys([tempfile.gettempdir(), "/tmp", "/var/tmp"])  # noqa: S108 - mkdtemp makes a private one
    for base in map(Path, tried):
        if base.is_dir() and account.can_enter(base) and _PLAIN.fullmatch(str(base)):
            return Path(tempfile.mkdtemp(prefix="qmon-", dir=base))
    raise BadInput(f"no folder for temporary files that {account.name} can enter; tried {', '.join(tried)}")
