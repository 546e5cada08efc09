"""The errors that qmon raises on purpose.

Each message is one line that explains what is wrong and how to fix it. The message is shown to the user unchanged and
never contains a secret.
"""

from __future__ import annotations


class QmonError(Exception):
    """The base class of all errors that qmon raises on purpose."""


class BadInput(QmonError):
    """The user's input or configuration cannot be used. Nothing was changed. The command exits with 2."""


class ConnectionFailed(QmonError):
    """The target cannot be reached or refuses the connection. The command exits with 1.

    Attributes:
        retryable: whether a later attempt may succeed, for example if the server is starting or full, or the network
            fails. False if a person must fix the problem: a wrong password, an unknown database or a missing
            permission.
    """

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


class NoConnectionLeft(ConnectionFailed):
    """The server, the database or our role has reached its connection limit. A connection may become free later."""


class PasswordNeeded(ConnectionFailed):
    """The server requires a password and qmon sent none. ``qmon.config.credentials`` provides passwords."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class WrongPassword(ConnectionFailed):
    """The server rejects the password or does not know the user.

    ``qmon.config.credentials`` then asks the user for another password.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class MissingDriver(BadInput):
    """The ODBC driver or the driver manager is not installed. The message contains the name of the package."""


class ConnectionLost(ConnectionFailed):
    """A working connection broke. Every statement that was running on this connection is lost."""


class OutcomeUnknown(ConnectionLost):
    """The connection was lost during a commit, so qmon does not know whether the server has committed."""


class QueryFailed(QmonError):
    """The server rejected one statement. The connection is still usable.

    Attributes:
        sqlstate: the five-character SQLSTATE, or an empty string if the driver reported no SQLSTATE.
        query: the name of the query, such as ``probe/server``.
        numbers: the server's native error numbers, if the driver reports these numbers (SQL Server).
    """

    def __init__(self, message: str, *, sqlstate: str = "", query: str = "", numbers: tuple[int, ...] = ()) -> None:
        super().__init__(message)
        self.sqlstate = sqlstate
        self.query = query
        self.numbers = numbers


class PermissionMissing(QueryFailed):
    """Our role lacks a permission. The text of the error ends with the statement that grants the permission, if known.

    Attributes:
        grant: the statement that grants the permission; empty if unknown.
    """

    def __init__(self, message: str, *, sqlstate: str = "", query: str = "", grant: str = "") -> None:
        super().__init__(message, sqlstate=sqlstate, query=query)
        self.grant = grant

    @property
    def reason(self) -> str:
        """The message without the grant."""
        return super().__str__()

    def __str__(self) -> str:
        return f"{self.reason}; this helps: {self.grant}" if self.grant else self.reason


class StatementStopped(QueryFailed):
    """The statement exceeded its deadline or was cancelled. The connection is still usable."""


class StatementCancelled(StatementStopped):
    """Another thread cancelled the statement. The connection is still usable."""


class LockTimeout(StatementStopped):
    """A lock was not granted within the session's lock timeout. Another attempt may succeed."""
