"""ODBC drivers: how to install one on this operating system, and the driver manager's settings of a DSN."""

from __future__ import annotations

import contextlib
import ctypes
import re
from collections.abc import Iterable, Iterator
from typing import Final

from qmon.errors import BadInput
from qmon.system import choose_for_system, install_command
from qmon.texts import Text


class DriverText(Text):
    """Errors about drivers."""

    MANAGER_OF_WINDOWS = "it is part of Windows; repair Windows"
    POSTGRES_INSTALLER = "run the installer of psqlODBC (64 bit) from odbc.postgresql.org"
    MICROSOFT_INSTALLER = "run the installer of Microsoft's ODBC Driver 18 for SQL Server (64 bit)"
    DSNS = "odbcinst -q -s lists the DSNs"
    DSNS_OF_WINDOWS = "odbcad32 (64 bit) shows the DSNs"
    CHOICE = "{command}, or Microsoft's msodbcsql18, or {package}"
    NEEDS = "{command} includes a driver, which needs {packages}"
    NO_SUCH_DRIVER = "there is no ODBC driver {name!r}; installed: {names}"


# How to install the driver manager.
MANAGER_HINT: Final = choose_for_system(
    linux="apt install unixodbc", macos="brew install unixodbc", windows=DriverText.MANAGER_OF_WINDOWS
)

# How to install the driver for PostgreSQL.
POSTGRES_HINT: Final = choose_for_system(
    linux="apt install odbc-postgresql",
    macos="brew install psqlodbc",
    windows=DriverText.POSTGRES_INSTALLER,
)

# How to list the DSNs.
DSN_HINT: Final = choose_for_system(
    linux=DriverText.DSNS,
    macos=DriverText.DSNS,
    windows=DriverText.DSNS_OF_WINDOWS,
)
_LIBRARIES: Final = ("libodbcinst.so.2", "libodbcinst.2.dylib", "odbccp32.dll")


def sql_server_hint() -> str:
    """Return how to install a driver for SQL Server."""
    ours = install_command("sqlserver")
    return choose_for_system(
        linux=DriverText.CHOICE.render(command=ours, package="apt install tdsodbc"),
        macos=DriverText.CHOICE.render(command=ours, package="brew install freetds"),
        windows=DriverText.MICROSOFT_INSTALLER,
    )


def sql_server_load_hint() -> str:
    """Return what to do if the driver for SQL Server cannot be loaded."""
    ours = install_command("sqlserver")
    return choose_for_system(
        linux=DriverText.NEEDS.render(command=ours, packages="apt install libkrb5-3 libgssapi-krb5-2 libltdl7"),
        macos=DriverText.NEEDS.render(command=ours, packages="brew install openssl"),
        windows=DriverText.MICROSOFT_INSTALLER,
    )


def unknown_driver_error(name: str, installed: Iterable[str]) -> BadInput | None:
    """Return the error if the driver ``name`` is not in ``installed``, else ``None``. A path is not checked."""
    names = sorted(installed)
    if re.search(r"[/\\\\]|\.(?:so|dylib|dll)\b", name) or name.casefold() in (each.casefold() for each in names):
        return None
    return BadInput(DriverText.NO_SUCH_DRIVER.render(name=name, names=", ".join(names) or "none"))


def dsn_owner(dsn: str) -> str:
    """Return whether a DSN is defined for the ``user`` or the ``system``.

    A DSN of the user hides a DSN of the system with the same name. The result is empty if the driver manager does not
    report the origin.
    """
    for mode, word in ((1, "user"), (2, "system")):
        with _config_mode(mode) as known:
            if known and read_dsn_keyword(dsn, "Driver"):
                return word
    return ""


@contextlib.contextmanager
def _config_mode(mode: int) -> Iterator[bool]:
    """Make the driver manager read only the user's (1) or the system's (2) odbc.ini inside the block.

    Yields whether the driver manager supports this.
    """
    library = _load_installer()
    if library is None or not library.SQLSetConfigMode(ctypes.c_ushort(mode)):
        yield False
        return
    try:
        yield True
    finally:
        library.SQLSetConfigMode(ctypes.c_ushort(0))


def _load_installer() -> ctypes.CDLL | None:
    for name in _LIBRARIES:
        with contextlib.suppress(OSError):
            return ctypes.CDLL(name)
    return None


def read_dsn_keyword(dsn: str, keyword: str) -> str:
    """Return the value of a keyword of a DSN of the user or the system, or an empty text if the keyword is not set."""
    library = _load_installer()
    if library is None:
        return ""
    found = ctypes.create_string_buffer(4096)
    library.SQLGetPrivateProfileString(dsn.encode(), keyword.encode(), b"", found, len(found), b"odbc.ini")
    return found.value.decode(errors="replace")


def read_file_dsn_keyword(path: str, keyword: str) -> str:
    """Return the value of a keyword in a file DSN, or an empty text if the keyword is not set."""
    library = _load_installer()
    if library is None:
        return ""
    found = ctypes.create_string_buffer(4096)
    length = ctypes.c_ushort(0)
    library.SQLReadFileDSN(path.encode(), b"ODBC", keyword.encode(), found, len(found), ctypes.byref(length))
    return found.value.decode(errors="replace")
