"""Parse paths that users type. Write files atomically; only the user may read them, whatever the umask is."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from pathlib import Path
from typing import Final

from qmon import system
from qmon.errors import BadInput
from qmon.texts import Text

PRIVATE_FILE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700


class FileText(Text):
    """Why a path or a file that the user named cannot be used."""

    HOME_UNKNOWN = "{path}: the home folder of {user} is unknown; write the whole path"
    NOT_A_NAME = "{path!r}: this is not a file name"
    NO_WORKING_FOLDER = "the working folder cannot be used ({reason}); write the whole path"
    EXISTS = "{path} already exists: nothing was written"
    UNWRITABLE = "{path}: cannot be written: {reason}"
    INVALID_NAME = "this is not a valid file name"
    OTHER_OWNER = "{path} belongs to another user: chown {user} '{path}'"
    OTHERS_MAY_WRITE = "others may write to {path}: chmod go-w '{path}'"


def resolve_user_path(text: str | Path, folder: Path | None = None) -> Path:
    """Return the path that a user typed. ``~`` and ``~name`` are home folders.

    ``folder``: base of a relative path, by default the working folder. Raises ``BadInput`` if the home folder is
    unknown, if the working folder is needed and was deleted, or if a character is not allowed in paths.
    """
    try:
        path = Path(text).expanduser()
    except (RuntimeError, ValueError):
        name = Path(text).parts[0]
        raise BadInput(FileText.HOME_UNKNOWN.render(path=text, user=name)) from None
    if "\0" in str(path):
        raise BadInput(FileText.NOT_A_NAME.render(path=str(path)))
    if path.is_absolute():
        return path
    return (working_folder() if folder is None else folder) / path


def expand_home(text: str) -> str:
    """Return a path with a leading ``~`` or ``~name`` replaced. Raises ``BadInput`` if the home folder is unknown."""
    return str(resolve_user_path(text)) if text.startswith("~") else text


def working_folder() -> Path:
    """Return the working folder, where relative paths start. Raises ``BadInput`` if this folder was deleted."""
    try:
        return Path.cwd()
    except OSError as problem:
        raise BadInput(FileText.NO_WORKING_FOLDER.render(reason=problem.strerror)) from None


def real_path(path: Path) -> Path:
    """Return the path with links resolved. Raises ``OSError`` if a relative path starts from a deleted folder."""
    return Path(os.path.realpath(path))  # Path.resolve() raises RuntimeError for links that form a circle


def make_folder(path: Path) -> None:
    """Create a folder and its missing parents, for the user only. Existing folders are left unchanged.

    Raises ``OSError``.
    """
    if path.is_dir():
        return
    if path.parent != path:
        make_folder(path.parent)
    try:
        path.mkdir(PRIVATE_FOLDER)
    except FileExistsError:  # another process has created the folder in the meantime, or the path is not a folder
        if not path.is_dir():
            raise
    else:
        path.chmod(PRIVATE_FOLDER)  # mkdir applies the umask to the mode


def open_private(path: Path, flags: int) -> int:
    """Open a file with ``flags`` of ``os.open`` and return its descriptor. New files are private.

    The mode of an existing file is kept. Links are not followed. Raises ``OSError``.
    """
    return os.open(path, flags | os.O_CREAT | system.OPEN_FLAGS, PRIVATE_FILE)


def replace_file(path: Path, data: str | bytes) -> None:
    """Write a file atomically. An existing file is replaced and its mode is kept. New files are private.

    Text is written as UTF-8. Readers get the complete old file or the complete new file. If the disk is full or the
    process ends, the old file stays. If the path is a link, the link stays. Pipes and devices are written to directly.
    Raises ``OSError``.
    """
    content = data.encode("utf-8") if isinstance(data, str) else data
    before = path.stat() if path.exists() else None
    if before is not None and not stat.S_ISREG(before.st_mode):
        _write_and_close(os.open(path, os.O_WRONLY), content)
        return
    place = real_path(path)
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
    try:
        descriptor = open_private(draft, os.O_WRONLY | os.O_EXCL)
        _write_and_close(descriptor, content, sync=True)
        if before is not None:
            draft.chmod(stat.S_IMODE(before.st_mode))
        system.rename_over(draft, place)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # some file systems cannot sync a folder
        system.sync_folder(place.parent)


def write_new_file(path: Path, data: str | bytes) -> None:
    """Create a file that does not exist yet, private to the user.

    If the write fails, the file is removed again. Text is written as UTF-8. Raises ``OSError``.
    """
    content = data.encode("utf-8") if isinstance(data, str) else data
    descriptor = open_private(path, os.O_WRONLY | os.O_EXCL)
    try:
        _write_and_close(descriptor, content)
    except BaseException:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        raise


def write_user_file(path: Path, text: str) -> Path:
    """Create the file that a user named. It must not exist yet. Return its full path.

    Raises ``BadInput`` if the file exists or cannot be written.
    """
    path = resolve_user_path(path)
    try:
        write_new_file(path, text)
    except FileExistsError:
        raise BadInput(FileText.EXISTS.render(path=path)) from None
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else FileText.INVALID_NAME.render()
        raise BadInput(FileText.UNWRITABLE.render(path=path, reason=reason)) from None
    return path


def _write_and_close(descriptor: int, content: bytes, *, sync: bool = False) -> None:
    with os.fdopen(descriptor, "wb") as out:
        out.write(content)
        out.flush()
        if sync:
            os.fsync(out.fileno())


def why_others_can_write(path: Path) -> str | None:
    """Return why other users may change a file, and the command that fixes this; ``None`` if they may not.

    The folder of the file is also checked: a user who may write to the folder can replace the file, unless the folder's
    sticky bit is set. Windows uses access control lists, which qmon does not read. Raises ``OSError``.
    """
    if sys.platform == "win32" or not path.is_file():  # a pipe of the shell is not in any folder
        return None
    place = real_path(path)
    for one, found in ((place, place.stat()), (place.parent, place.parent.stat())):
        sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.geteuid()):
            return FileText.OTHER_OWNER.render(path=one, user=os.geteuid())
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not sticky:
            return FileText.OTHERS_MAY_WRITE.render(path=one)
    return None
