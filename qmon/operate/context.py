"""The context of operations: one target, who acts, what is allowed, and what the operator has given."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from qmon.engines.base import Connection, Engine, Target
from qmon.engines.control_schema import check_trusted
from qmon.errors import BadInput
from qmon.model.operations import Consent, Progress
from qmon.operate.sql import Sql

# Messages from which on the queue's name must be typed.
TYPED_ABOVE: Final = 10_000

# Opens a connection for a purpose, which ends up in the application name (`qmon requeue`).
Connect = Callable[[str], Connection]
OnProgress = Callable[[Progress], None]
Stopped = Callable[[], bool]


class ReadOnly(BadInput):
    """qmon may not change anything here; the message says why."""


@dataclass(frozen=True, slots=True)
class Permission:
    """The operator's consent: the reason, and the queue's name as typed."""

    reason: str = ""
    typed: str = ""


@dataclass(frozen=True)
class OperatorContext:
    """The context of operations: one target, who acts, and what is allowed.

    ``who``: the account on this machine, such as ``anna@app-7``. ``read_only``: why nothing may be changed, ``None``
    where it may. ``redact``: makes a payload fit for a screen. ``trash_days``: how long purged rows are promised to be
    kept. ``audit``: the local audit's file, else the user's.
    """

    connect: Connect
    engine: Engine
    target: Target
    who: str
    read_only: str | None = None
    redact: Callable[[str], str] = field(default=lambda text: text)
    trash_days: float = 7.0
    audit: Path | None = None

    def may_change(self) -> None:
        """Raise ``ReadOnly`` where nothing may be changed. Every action asks before it changes anything."""
        if self.read_only is not None:
            raise ReadOnly(self.read_only)

    @contextlib.contextmanager
    def sql(self, purpose: str) -> Iterator[Sql]:
        """The statements of acting on a connection for this purpose, which is closed at the end.

        Raises ``BadInput`` if qmon's own schema there is not to be trusted.
        """
        with contextlib.closing(self.connect(purpose)) as connection:
            check_trusted(connection, self.engine)
            yield Sql(connection, self.engine)

    def consent(self, count: int = 0) -> Consent:
        """The consent that an action needs; ``count``: of messages, where it is about messages."""
        return Consent.TYPED if self.target.prod or count > TYPED_ABOVE else Consent.BUTTON
