"""The desk of the commands that act, and of the dashboard: one target, who acts, and what is allowed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from qmon.cli.output import note
from qmon.errors import BadInput

if TYPE_CHECKING:
    from qmon.cli.targets import Opened
    from qmon.config.file import Settings
    from qmon.engines.base import Target
    from qmon.model.layout.layout import Layout
    from qmon.operate.context import OperatorContext
    from qmon.operate.open import Connections
    from qmon.operate.operator import Operator

_LISTS: Final = frozenset({"operations", "trash"})
READ_ONLY: Final = "qmon was started with --read-only"


def desk_for(target: Target, settings: Settings, *, read_only: bool = False) -> OperatorContext:
    """The desk for a target as the configuration has it; ``read_only``: it was asked for on the command line."""
    from qmon.operate.open import open_context
    from qmon.redact import redactor

    why = READ_ONLY if read_only else None
    return open_context(target, read_only=why, redact=redactor(settings.redact), trash_days=settings.trash_days)


@dataclass(frozen=True, slots=True)
class Acting:
    """What a command acts with: a connection that only reads, and then the operator."""

    at: Opened
    context: OperatorContext

    @property
    def operator(self) -> Operator:
        """Who acts, on connections of his own: the one that reads is closed, as the server may have none to spare."""
        from qmon.operate.operator import Operator

        self.at.connection.close()
        return Operator(self.context)

    @property
    def connections(self) -> Connections:
        """Those of the operator, to cancel what runs on them."""
        return cast("Connections", self.context.connect)

    def queue(self, name: str | None) -> Layout:
        """The layout of a queue; without a name the only one there is. Raises ``BadInput`` where there is none."""
        from qmon.model.config_reader import nearest
        from qmon.monitor.catalog.resolve import resolve

        resolved = resolve(self.at.connection, self.at.engine, self.at.configured)
        known = {layout.queue: layout for layout in resolved.layouts}
        if name is None and len(known) == 1:
            name = next(iter(known))
        if name is None:
            raise BadInput(f"which queue? {nearest('', known).removeprefix('; ') or 'none is known here'}")
        if name not in known:
            problem = next((p.reason for p in resolved.problems if p.queue == name), None)
            raise BadInput(problem or f"there is no queue {name!r} here{nearest(name, known)}")
        return known[name]


@contextlib.contextmanager
def acting(target: str, config: Path | None, purpose: str) -> Iterator[Acting]:
    """Connect to a target to act on it; closed at the end. Raises what ``opened`` raises."""
    from qmon.cli.targets import opened

    with opened(target, config, purpose, writes=purpose not in _LISTS) as at:
        context = desk_for(at.target, at.config.settings)
        if context.read_only is not None:
            note(f"qmon: {context.read_only}")
        yield Acting(at, context)
