"""The context of operations: the target, the operator's account, the permissions and the settings."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from qmon.engines.base import Connection, Engine, Target
from qmon.engines.control_schema import check_trusted
from qmon.errors import BadInput
from qmon.model.operation_records import Consent, Progress
from qmon.operate.sql import Sql
from qmon.texts import Text


class AccessText(Text):
    """Texts about what our role may not do."""

    SETUP_ADVICE = "the database's owner can grant this: qmon setup TARGET --role operator"
    NO_TRASH = "no trash is available: your role may not write to the schema qmon; {advice}"


# To confirm an action on more messages than this, the operator must type the queue's name.
TYPE_NAME_ABOVE: Final = 10_000


NO_TRASH: Final = AccessText.NO_TRASH.render(advice=AccessText.SETUP_ADVICE)

# Opens a connection for a purpose. The purpose becomes part of the application name (`qmon requeue`).
Connect = Callable[[str], Connection]
OnProgress = Callable[[Progress], None]
StopRequested = Callable[[], bool]


class ReadOnly(BadInput):
    """Raised when qmon may not change anything on this target. The message gives the reason."""


@dataclass(frozen=True, slots=True)
class Permission:
    """What the operator entered to confirm a plan: the reason, and the queue's name as typed."""

    reason: str = ""
    typed: str = ""


@dataclass(frozen=True)
class OperatorContext:
    """The target of operations, the operator's account, and whether changes are allowed.

    - ``who``: the account on this machine, such as ``anna@app-7``.
    - ``read_only``: why nothing may be changed, or ``None`` if changes are allowed.
    - ``redact``: replaces secrets in a payload before it is shown.
    - ``trash_days``: days for which purged rows are kept.
    - ``audit``: path of the local audit file; ``None`` means the user's default file.
    """

    connect: Connect
    engine: Engine
    target: Target
    who: str
    read_only: str | None = None
    redact: Callable[[str], str] = field(default=lambda text: text)
    trash_days: float = 7.0
    audit: Path | None = None

    def check_writable(self) -> None:
        """Raise ``ReadOnly`` if nothing may be changed. Every action calls this method before a change."""
        if self.read_only is not None:
            raise ReadOnly(self.read_only)

    @contextlib.contextmanager
    def open_sql(self, purpose: str) -> Iterator[Sql]:
        """Open a connection for this purpose, yield its ``Sql`` object, and close the connection at the end.

        Raises ``BadInput`` if qmon's own schema in the database cannot be trusted.
        """
        with contextlib.closing(self.connect(purpose)) as connection:
            check_trusted(connection, self.engine)
            yield Sql(connection, self.engine)

    def required_consent(self, count: int = 0) -> Consent:
        """Return the consent that an action needs. ``count``: number of messages, for actions on messages."""
        return Consent.TYPED if self.target.prod or count > TYPE_NAME_ABOVE else Consent.BUTTON
