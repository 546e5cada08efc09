"""The account that runs a server. PostgreSQL refuses to run as root, so root needs another account."""

from __future__ import annotations

import os
import pwd
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypedDict

from qmon.demo.demo_texts import DemoServerText
from qmon.errors import BadInput

_UNPRIVILEGED: Final = "nobody"

if sys.platform == "win32":
    raise ImportError("only on POSIX systems")


class RunAs(TypedDict, total=False):
    """The keywords of ``subprocess`` that change the account; empty if the account stays the same."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """The account that owns the server's processes.

    Attributes:
        name: the account's name.
        uid: the account's user id.
        gid: the account's group id.
        other: true if we are root and this is an unprivileged account.
    """

    name: str
    uid: int
    gid: int
    other: bool

    @property
    def run_as(self) -> RunAs:
        """The arguments for ``subprocess`` that run a program as this account."""
        return RunAs(user=self.uid, group=self.gid, extra_groups=[]) if self.other else RunAs()

    def give_ownership(self, path: Path) -> None:
        """Make the account the owner of a file or folder of ours."""
        if self.other:
            os.chown(path, self.uid, self.gid)

    def can_enter(self, folder: Path) -> bool:
        """Return true if the permission bits let the account enter the folder and all folders above it."""
        return not self.other or all(
            self._has_permission(part, stat.S_IXOTH) for part in [folder.resolve(), *folder.resolve().parents]
        )

    def can_use(self, installation: Path) -> bool:
        """Return true if the account may read every file and enter every folder of an installation."""
        if not self.other:
            return True
        return self.can_enter(installation) and all(
            self._has_permission(Path(base), stat.S_IXOTH | stat.S_IROTH)
            and all(self._has_permission(Path(base, name), stat.S_IROTH) for name in files)
            for base, _, files in os.walk(installation)
        )

    def _has_permission(self, path: Path, bits: int) -> bool:
        info = path.stat()
        if info.st_uid == self.uid:
            bits <<= 6
        elif info.st_gid == self.gid:
            bits <<= 3
        return info.st_mode & bits == bits


def server_account() -> Account:
    """Return our own account. If we are root, return an existing unprivileged account.

    No account is created. The unprivileged account has no special privileges.

    Raises:
        BadInput: we are root and there is no unprivileged account.
    """
    if os.geteuid() != 0:
        return Account(_own_name(), os.geteuid(), os.getegid(), other=False)
    try:
        entry = pwd.getpwnam(_UNPRIVILEGED)
    except KeyError:
        raise BadInput(DemoServerText.NO_ACCOUNT.render(account=_UNPRIVILEGED)) from None
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, other=True)


def _own_name() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        raise BadInput(DemoServerText.NAMELESS.render(user=os.geteuid())) from None
