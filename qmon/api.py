"""qmon for Python programs: open a target, take snapshots, plan and apply. Examples: ``docs/api.md``."""

from __future__ import annotations

import contextlib
import queue
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qmon.config.chosen_target import find_target
from qmon.config.config_file import Config, read_config
from qmon.config.credentials import connect_with_password, password_from_keyring
from qmon.engines.base import Connection, Engine, Target
from qmon.engines.registry import engine_for
from qmon.errors import BadInput, ConnectionFailed
from qmon.model.config_reader import suggest_nearest
from qmon.model.groups.configured_queue import ConfiguredQueue
from qmon.model.layout.layout import Layout
from qmon.model.operation_records import Choice, OperationResult, OwnerState, Plan, RedriveLimits
from qmon.model.status_report import status_object
from qmon.model.view import View
from qmon.monitor.catalog.resolve import resolve_queues
from qmon.monitor.one_shot import view_over
from qmon.monitor.open import open_poller
from qmon.monitor.poll.poller import POLL
from qmon.monitor.source import Event, Phase, SourceState
from qmon.monitor.state.target_history import TargetHistory
from qmon.operate.context import Permission
from qmon.operate.operator import Operator
from qmon.operate.operator_context import create_context
from qmon.operate.run.running_operation import PreparedAction
from qmon.redact import build_redactor
from qmon.texts import Text

__all__ = [
    "Choice",
    "OpenTarget",
    "OperationResult",
    "OwnerState",
    "Plan",
    "PreparedAction",
    "RedriveLimits",
    "View",
    "apply",
    "open_target",
]


class ApiText(Text):
    """Why there is no such queue."""

    WHICH_QUEUE = "which queue? {known}"
    NO_QUEUE_KNOWN = "no queue is known here"
    NO_QUEUE = "there is no queue {queue!r} here{nearest}"


def open_target(text: str, config: Path | None = None) -> OpenTarget:
    """Return the target for a name in qmon.toml, a URL, a connection string or a DSN. No connection stays open.

    The password comes from the target, the environment or the keyring, without a prompt. ``config``: path of another
    qmon.toml. Raises ``BadInput``, ``ConnectionFailed``, ``PasswordNeeded`` or ``MissingDriver``, which are all
    ``QmonError``.
    """
    settings = read_config(config)
    found = find_target(text, settings)
    target, connection = connect_with_password(found.target, POLL, (password_from_keyring,))
    connection.close()
    return OpenTarget(target, found.queues, settings)


@dataclass(frozen=True, slots=True)
class OpenTarget:
    """A target whose password is known. Each method opens its own connections and closes them at the end."""

    target: Target
    configured: tuple[ConfiguredQueue, ...]
    config: Config

    def view(self, over_s: float = 2.0) -> View:
        """Return the figures and verdicts of all queues, with rates over ``over_s`` seconds.

        Raises ``ConnectionFailed``.
        """
        return view_over(self.target, self.configured, over_s=over_s)

    def status(self, over_s: float = 2.0) -> dict[str, Any]:
        """Return the object that ``qmon status`` prints as JSON."""
        return status_object(self.view(over_s))

    def snapshots(self, interval_s: float | None = None) -> Iterator[View]:
        """Yield the figures of each poll, until the iterator is closed.

        ``interval_s``: seconds between two polls, 0.5 to 60. ``None`` means the interval of the configuration. Polls
        that arrive while you use a view are not lost. Raises ``ConnectionFailed`` if the connection is lost.
        """
        events: queue.Queue[Event] = queue.Queue()
        history = TargetHistory(self.config.settings.budget_percent / 100)
        poller = open_poller(self.target, self.configured, interval_s=interval_s or self.config.settings.interval_s)
        poller.start(events.put)
        try:
            while True:
                event = events.get()
                if not isinstance(event, SourceState):
                    yield history.record_snapshot(event)
                elif event.phase is Phase.LOST:
                    raise ConnectionFailed(event.reason)
        finally:
            poller.close()

    def requeue(self, name: str, choice: Choice = Choice()) -> PreparedAction:  # noqa: B008 - a frozen object
        """Return a plan that makes messages in progress ready again. Nothing is changed yet. Raises ``BadInput``."""
        return self.operator.requeue(self.layout(name), choice)

    def redrive(
        self,
        name: str,
        choice: Choice = Choice(),  # noqa: B008 - a frozen object
        limits: RedriveLimits = RedriveLimits(),  # noqa: B008
    ) -> PreparedAction:
        """Return a plan that makes dead messages ready again, at a limited rate.

        The plan stops if too many messages fail again. Nothing is changed yet. Raises ``BadInput``.
        """
        return self.operator.redrive(self.layout(name), choice, limits)

    def purge(self, name: str, choice: Choice = Choice()) -> PreparedAction:  # noqa: B008 - a frozen object
        """Return a plan that moves messages to the trash. Nothing is changed yet. Raises ``BadInput``."""
        return self.operator.purge(self.layout(name), choice)

    def undo(self, operation: str) -> PreparedAction:
        """Return a plan that undoes an operation. Nothing is changed yet. Raises ``BadInput``."""
        return self.operator.undo(operation)

    @property
    def operator(self) -> Operator:
        """An operator with all other actions. Each action returns a plan."""
        settings = self.config.settings
        return Operator(
            create_context(self.target, redact=build_redactor(settings.redact), trash_days=settings.trash_days)
        )

    def layout(self, name: str) -> Layout:
        """Return the layout of a queue, which describes how its tables work as a queue.

        Raises ``BadInput`` if there is no queue with this name.
        """
        engine = engine_for(self.target)
        with contextlib.closing(engine.connect(self.target, POLL)) as connection:
            return layout_of(connection, engine, self.configured, name)


def apply(action: PreparedAction, reason: str) -> OperationResult:
    """Run the plan in small batches and record the reason in the audit log. A call counts as confirmation.

    If the plan is refused, raises ``BadInput`` and changes nothing; ``action.plan.refused`` is the reason. Also raises
    the errors of ``PreparedAction.apply``.
    """
    return action.apply(Permission(reason, action.plan.queue), lambda _: None, lambda: False)


def layout_of(
    connection: Connection, engine: Engine, configured: tuple[ConfiguredQueue, ...], name: str | None
) -> Layout:
    """Return the layout of a queue.

    Without a name, return the layout of the only queue. Raises ``BadInput`` if there is no such queue.
    """
    resolved = resolve_queues(connection, engine, configured)
    known = {layout.queue: layout for layout in resolved.layouts}
    if name is None and len(known) == 1:
        name = next(iter(known))
    if name is None:
        raise BadInput(
            ApiText.WHICH_QUEUE.render(known=suggest_nearest("", known).removeprefix("; ") or ApiText.NO_QUEUE_KNOWN)
        )
    of_group = next((g.group for g in resolved.groups if f"{name}/".startswith(f"{g.group.name}/")), None)
    if name not in known and of_group is not None:
        return of_group.queue_layout(name.removeprefix(of_group.name).removeprefix("/") or None)
    if name not in known:
        problem = next((p.reason for p in resolved.problems if p.queue == name), None)
        raise BadInput(problem or ApiText.NO_QUEUE.render(queue=name, nearest=suggest_nearest(name, known)))
    return known[name]
