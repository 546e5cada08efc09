"""What a DSN's section of odbc.ini says, asked of the driver manager's own library."""

from __future__ import annotations

import contextlib
import ctypes


def dsn_keyword(dsn: str, keyword: str) -> str:
    """What the section, the user's or the system's, says for a keyword; empty where it says nothing."""
    for name in ("libodbcinst.so.2", "libodbcinst.2.dylib"):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)
            found = ctypes.create_string_buffer(4096)
            library.SQLGetPrivateProfileString(dsn.encode(), keyword.encode(), b"", found, len(found), b"odbc.ini")
            return found.value.decode(errors="replace")
    return ""
