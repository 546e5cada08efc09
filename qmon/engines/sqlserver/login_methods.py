"""Login methods of SQL Server (server logins, Windows or Kerberos, Entra) and the limits of drivers.

Sources: Microsoft's page on Entra with the ODBC driver (2026), and tests of each method with ODBC Driver 18.6 on Linux.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from qmon.engines.odbc_keywords import lookup_keyword, without_keywords
from qmon.engines.sqlserver.freetds import is_freetds
from qmon.errors import BadInput
from qmon.texts import Text


class LoginMethodText(Text):
    """Errors of login methods."""

    FREETDS_UNSUPPORTED = (
        "FreeTDS does not support {keyword}={value}: Entra needs Microsoft's driver; for Windows "
        "logins use Trusted_Connection with Kerberos"
    )
    ODBC_UNSUPPORTED = "Microsoft's ODBC driver does not support {keyword}={value}; it supports: {names}"
    WINDOW_NEEDED = (
        "{method} opens a window and works only with Microsoft's driver for Windows; on this system, "
        "use ActiveDirectoryMsi, ActiveDirectoryServicePrincipal, or ActiveDirectoryIntegrated with "
        "a Kerberos ticket"
    )
    CLIENT_ID = "the application's client id; its secret is the password"
    USER_NEEDED = "{method} needs a user: {example}"
    NO_USER = "{method} takes no user: it uses the account that runs qmon; leave {user!r} out"


AUTHENTICATION: Final = "Authentication"


@dataclass(frozen=True, slots=True)
class _Method:
    """A login method of the driver.

    ``user``: true if UID is needed, false if UID is not allowed, ``None`` if UID is optional.
    """

    name: str
    password: bool = False
    user: bool | None = None
    windows_only: bool = False


_METHODS: Final = {
    each.name.lower(): each
    for each in (
        _Method("SqlPassword", password=True, user=True),
        _Method("ActiveDirectoryIntegrated", user=False),
        _Method("ActiveDirectoryInteractive", user=True, windows_only=True),
        _Method("ActiveDirectoryMsi"),
        _Method("ActiveDirectoryServicePrincipal", password=True, user=True),
        _Method("ActiveDirectoryPassword", password=True, user=True),
    )
}

# Names that sqlcmd and other drivers of Microsoft use.
_METHOD_ALIASES: Final = {"activedirectorymanagedidentity": "activedirectorymsi"}


def takes_password(keywords: Mapping[str, str]) -> bool:
    """Return whether the login method of these keywords uses a password."""
    named = _find_method(keywords)
    if named is not None:
        return named.password
    return (lookup_keyword(keywords, "Trusted_Connection") or "no").lower() not in ("yes", "true", "1")


def password_missing_for(keywords: Mapping[str, str], *, has_password: bool) -> str | None:
    """Return the user whose password is needed but not ``has_password``, or ``None`` if no password is missing."""
    return None if has_password or not takes_password(keywords) else lookup_keyword(keywords, "UID")


def check_login_method(keywords: Mapping[str, str], driver: str) -> dict[str, str]:
    """Return the keywords, with the login method under the name that the driver uses.

    ``driver``: name or path of the driver; empty if a DSN names the driver. Raises ``BadInput`` for a method that the
    driver would refuse, or that FreeTDS would silently ignore.
    """
    wanted = lookup_keyword(keywords, AUTHENTICATION)
    if not wanted:
        return dict(keywords)
    if driver and is_freetds(driver):
        raise BadInput(LoginMethodText.FREETDS_UNSUPPORTED.render(keyword=AUTHENTICATION, value=wanted))
    method = _find_method(keywords)
    if method is None:
        names = ", ".join(each.name for each in _METHODS.values())
        raise BadInput(LoginMethodText.ODBC_UNSUPPORTED.render(keyword=AUTHENTICATION, value=wanted, names=names))
    if method.windows_only and sys.platform != "win32":
        raise BadInput(LoginMethodText.WINDOW_NEEDED.render(method=method.name))
    user = lookup_keyword(keywords, "UID")
    if method.user is True and not user:
        raise BadInput(
            LoginMethodText.USER_NEEDED.render(
                method=method.name, example=_USER_HINTS.get(method.name, "mssql://user@host/Database")
            )
        )
    if method.user is False and user:
        raise BadInput(LoginMethodText.NO_USER.render(method=method.name, user=user))
    return without_keywords(keywords, (AUTHENTICATION,)) | {AUTHENTICATION: method.name}


_USER_HINTS: Final = {"ActiveDirectoryServicePrincipal": LoginMethodText.CLIENT_ID}


def _find_method(keywords: Mapping[str, str]) -> _Method | None:
    wanted = (lookup_keyword(keywords, AUTHENTICATION) or "").lower()
    return _METHODS.get(_METHOD_ALIASES.get(wanted, wanted))
