"""Resolves the target that the user typed, connects to it, and creates its operator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from qmon.cli.output import print_note
from qmon.errors import BadInput
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.config.config_file import Config
    from qmon.engines.base import Connection, Engine, Target
    from qmon.model.groups.configured_queue import ConfiguredQueue
    from qmon.model.layout.layout import Layout
    from qmon.operate.context import OperatorContext
    from qmon.operate.operator import Operator
    from qmon.operate.operator_context import Connections


class SessionText(Text):
    """Why a command cannot use a target or its queues."""

    READ_ONLY = "qmon was started with --read-only"
    NOT_INSTALLED = "qmon has not installed a queue {queue!r}; installed queues: {queues}"
    REGISTRY_UNREADABLE = "not allowed to read qmon's registry: {problem}"
    IF_QUEUE = "{problem}; if {word} is a queue: --queue {word}"
    NAMED_TWICE = "{targets}: named twice; name each target once"
    EVERY = "--every must be {lowest:g} to {highest:g} seconds, not {seconds:g}"
    TARGET_READ_ONLY = "{target} is read-only: qmon.toml sets read_only = true; nothing was changed"


DEADLINE_S: Final = 15.0
LOCK_WAIT_S: Final = 1.0

# Purposes of commands that change nothing.
_READING_PURPOSES: Final = frozenset({"operations", "trash"})


@dataclass(frozen=True, slots=True)
class ChosenTarget:
    """The target that the user means, its configured queues, and the configuration."""

    target: Target
    configured: tuple[ConfiguredQueue, ...]
    config: Config

    def operator_context(self, *, read_only: bool = False) -> OperatorContext:
        """Return the context for an operator. ``read_only``: requested on the command line."""
        from qmon.operate.operator_context import create_context
        from qmon.redact import build_redactor

        settings = self.config.settings
        why = SessionText.READ_ONLY if read_only else None
        return create_context(
            self.target, read_only=why, redact=build_redactor(settings.redact), trash_days=settings.trash_days
        )


@dataclass(frozen=True, slots=True)
class ConnectedTarget(ChosenTarget):
    """A chosen target with its connection."""

    engine: Engine
    connection: Connection

    def installed_layout(self, queue: str) -> Layout:
        """Return the layout of a queue that qmon installed. Raises ``BadInput`` if there is no such queue."""
        from qmon.operate.install.install_queue import read_installed_layouts

        known = read_installed_layouts(self.connection, self.engine)
        if queue not in known:
            raise BadInput(SessionText.NOT_INSTALLED.render(queue=queue, queues=", ".join(known) or "none"))
        return known[queue]

    def layout_with_archive(self, queue: str) -> Layout:
        """Return the layout of a queue with an archive. Raises ``BadInput``.

        Uses the configuration if it names the archive routine. Otherwise qmon must have installed the queue.
        """
        from qmon.errors import PermissionMissing
        from qmon.model.layout.layout import Layout

        for each in self.configured:
            if isinstance(each, Layout) and each.queue == queue and each.routine_for("archive") is not None:
                return each
        try:
            return self.installed_layout(queue)
        except PermissionMissing as problem:
            raise BadInput(SessionText.REGISTRY_UNREADABLE.render(problem=problem)) from problem


def resolve_targets(texts: Sequence[str], path: Path | None, *, all_targets: bool = False) -> list[ChosenTarget]:
    """Return the targets that the user means: named targets, fleets, or all targets of the configuration.

    Raises the errors of ``resolve_target``. Also raises ``BadInput`` if a target is named twice or there is no target.
    """
    from qmon.config.chosen_target import expand_names
    from qmon.config.config_file import read_config

    config = read_config(path)
    try:
        known = [_resolve_target(text, config) for text in expand_names(texts, config, all_targets=all_targets)]
    except BadInput as problem:
        if texts[1:2] and texts[1].isidentifier() and texts[1] not in {*config.targets, *config.fleets}:
            raise BadInput(SessionText.IF_QUEUE.render(problem=problem, word=texts[1])) from None
        raise
    names = [each.target.name for each in known]
    if twice := {name for name in names if names.count(name) > 1}:
        raise BadInput(SessionText.NAMED_TWICE.render(targets=", ".join(sorted(twice))))
    return known


def check_poll_interval(every_s: float) -> None:
    """Raise ``BadInput`` if the poll interval is too short or too long."""
    from qmon.monitor.poll.poller import MAX_INTERVAL_S, MIN_INTERVAL_S

    if not MIN_INTERVAL_S <= every_s <= MAX_INTERVAL_S:
        raise BadInput(SessionText.EVERY.render(lowest=MIN_INTERVAL_S, highest=MAX_INTERVAL_S, seconds=every_s))


def resolve_target(target_text: str, path: Path | None) -> ChosenTarget:
    """Return the target that the user means, without connecting. Warnings go to standard error.

    Raises ``BadInput`` if the text cannot be a target.
    """
    from qmon.config.config_file import read_config

    return _resolve_target(target_text, read_config(path))


def _resolve_target(target_text: str, config: Config) -> ChosenTarget:
    from qmon import log
    from qmon.config.chosen_target import find_target
    from qmon.redact import build_redactor

    log.add_cover(build_redactor(config.settings.redact))
    found = find_target(target_text, config)
    for warning in found.warnings:
        print_note(f"qmon: {warning}")
    return ChosenTarget(found.target, found.queues, config)


def log_in_for_polling(chosen: ChosenTarget, *, may_ask: bool = True) -> tuple[ChosenTarget, Connection | None]:
    """Return the target with its password, and a connection for the poller.

    ``may_ask``: prompt for a password before a screen opens on the terminal. The connection is ``None`` if the target
    is unreachable now; the poller reports the problem and retries. Raises ``BadInput`` and ``MissingDriver``. If no
    password is available, raises ``PasswordNeeded``. If no better password is available, raises ``WrongPassword``.
    """
    from qmon.config.credentials import connect_with_password, password_sources
    from qmon.errors import ConnectionFailed, PasswordNeeded, WrongPassword
    from qmon.monitor.poll.poller import POLL

    try:
        target, connection = connect_with_password(chosen.target, POLL, password_sources(may_ask=may_ask))
    except (PasswordNeeded, WrongPassword):
        raise
    except ConnectionFailed:
        return chosen, None
    return ChosenTarget(target, chosen.configured, chosen.config), connection


def check_not_read_only(target: Target) -> None:
    """Raise ``BadInput`` if the target is configured as read-only."""
    if target.read_only:
        raise BadInput(SessionText.TARGET_READ_ONLY.render(target=target.name))


@contextlib.contextmanager
def open_target(
    target_text: str, path: Path | None, purpose: str, *, read_only: bool = True, needs_primary: bool = False
) -> Iterator[ConnectedTarget]:
    """Connect for one command and close at the end. Prompts for a password if the server needs one.

    ``read_only``: this connection changes nothing. If false, a target that is configured as read-only is refused.
    ``needs_primary``: the command makes changes, possibly on another connection, so a standby is refused at once.
    Raises ``BadInput``, ``MissingDriver`` and ``ConnectionFailed``.
    """
    with connect_target(
        resolve_target(target_text, path), purpose, read_only=read_only, needs_primary=needs_primary
    ) as at:
        yield at


@contextlib.contextmanager
def connect_target(
    chosen: ChosenTarget, purpose: str, *, read_only: bool = True, needs_primary: bool = False, may_ask: bool = True
) -> Iterator[ConnectedTarget]:
    """Connect like ``open_target`` to a target that was already chosen. ``may_ask``: prompt for a password."""
    from qmon.config.credentials import connect_with_password, password_sources
    from qmon.engines.base import Session
    from qmon.engines.registry import engine_for

    if not read_only:
        check_not_read_only(chosen.target)
    session = Session(
        purpose,
        statement_timeout_s=DEADLINE_S,
        lock_timeout_s=LOCK_WAIT_S,
        read_only=read_only,
        writes=needs_primary or not read_only,
    )
    target, connection = connect_with_password(chosen.target, session, password_sources(may_ask=may_ask))
    try:
        yield ConnectedTarget(target, chosen.configured, chosen.config, engine_for(target), connection)
    finally:
        connection.close()


@dataclass(frozen=True, slots=True)
class ActionSession:
    """The objects that a command with an action needs: at first a connection that only reads, later the operator."""

    connected: ConnectedTarget
    context: OperatorContext

    def create_operator(self) -> Operator:
        """Return an operator, which has its own connections.

        Closes the reading connection first, because the server may be at its connection limit.
        """
        from qmon.operate.operator import Operator

        self.connected.connection.close()
        return Operator(self.context)

    @property
    def connections(self) -> Connections:
        """The operator's connections, for cancelling running statements."""
        return cast("Connections", self.context.connect)

    def queue_layout(self, name: str | None) -> Layout:
        """Return the layout of a queue. Without a name, the target must have one queue. Raises ``BadInput``."""
        from qmon.api import layout_of

        return layout_of(self.connected.connection, self.connected.engine, self.connected.configured, name)


@contextlib.contextmanager
def open_for_action(target: str, config: Path | None, purpose: str) -> Iterator[ActionSession]:
    """Connect to a target for an action, and close at the end. Raises the errors of ``open_target``."""
    with connect_for_action(resolve_target(target, config), purpose) as at:
        yield at


@contextlib.contextmanager
def connect_for_action(chosen: ChosenTarget, purpose: str, *, may_ask: bool = True) -> Iterator[ActionSession]:
    """Connect like ``open_for_action`` to a target that was already chosen. ``may_ask``: prompt for a password."""
    with connect_target(chosen, purpose, needs_primary=purpose not in _READING_PURPOSES, may_ask=may_ask) as at:
        context = at.operator_context()
        if context.read_only is not None:
            print_note(f"qmon: {context.read_only}")
        yield ActionSession(at, context)
