"""The errors that qmon raises on purpose.

Every message is one line that says what is wrong and what to do about it, and never holds a secret: it is shown to
the operator as it stands.
"""

from __future__ import annotations


class QmonError(Exception):
    """Base of every error that qmon raises on purpose."""


class BadInput(QmonError):
    """What the user typed or configured cannot be used; nothing was changed. The command line exits with 2."""


class Unreachable(QmonError):
    """The target cannot be reached or refuses us. The command line exits with 1.

    Attributes:
        retryable: whether waiting may help: a server that starts or is full, a network that fails. A wrong password,
            an unknown database or a missing right stay as they are until somebody acts.
    """

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


class NoConnectionLeft(Unreachable):
    """The server, the database or our role has no connection to spare; one may become free."""


class PasswordNeeded(Unreachable):
    """The server asks for a password and we gave none; ``qmon.config.secrets`` knows where to get one."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class WrongPassword(Unreachable):
    """The server refuses the password, or knows no such user; ``qmon.config.secrets`` asks for another one."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class MissingDriver(BadInput):
    """The ODBC driver or the driver manager is not installed; the message names the package."""


class ConnectionLost(Unreachable):
    """A connection that worked has broken; every statement under way on it is lost."""


class OutcomeUnknown(ConnectionLost):
    """The connection was lost while it committed: whether the server did is not known."""


class QueryFailed(QmonError):
    """The server refused one statement; the connection is good.

    Attributes:
        sqlstate: the five characters of the SQLSTATE, or an empty string where the driver gave none.
        query: the name of the query, such as ``probe/server``.
        numbers: the server's own numbers of the errors, where its driver tells them (SQL Server).
    """

    def __init__(self, message: str, *, sqlstate: str = "", query: str = "", numbers: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.query = query
        self.numbers = numbers


class PermissionMissing(QueryFailed):
    """Our role may not do that. ``grant`` is the statement that would help, empty where the engine cannot tell."""

    def __init__(self, message: str, *, sqlstate: str = "", query: str = "", grant: str = "") -> None:
        super().__init__(message, sqlstate=sqlstate, query=query)
        self.grant = grant


class DeadlineExceeded(QueryFailed):
    """The statement ran into its deadline, or was cancelled; the connection is good."""


class StatementCancelled(DeadlineExceeded):
    """Another thread cancelled the statement; the connection is good."""


class LockTimeout(DeadlineExceeded):
    """A lock was not to be had in the time that the session waits for one; trying again may help."""
