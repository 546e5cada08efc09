"""Provides the dashboard's actions as commands: ``qmon requeue``, ``purge``, ``pause``, ``repair``, ``undo``, …"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import completion, options
from qmon.errors import BadInput
from qmon.model.operation_records import Side
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.model.operation_records import Choice, OwnerState, RedriveLimits


class ActText(Text):
    """Faults of the options of actions."""

    NOT_WHOLE = "--stop-after: {text!r} is not a whole number"
    NEEDS_DEAD = "--rate and --stop-after need --state dead"
    NOT_A_NUMBER = "{option}: {text!r} is neither a number nor none"
    EMPTY_ID = "--ids: an id is empty; write --ids 17,18,21"
    UNKNOWN_OWNER = "--owners: {word!r} is unknown{nearest}"


_EXAMPLES: Final = {
    "requeue": "qmon requeue orders-prod invoices --older-than 10m --dry-run",
    "purge": "qmon purge orders-prod mails --state dead --reason 'ticket 4711'",
    "pause": "qmon pause orders-prod orders --for 30m --reason 'mailer is down'",
    "resume": "qmon resume orders-prod orders",
    "repair": "qmon repair orders-prod ring",
    "undo": "qmon undo orders-prod 261121-071402-k7qd",
    "end-session": "qmon end-session orders-prod 61",
}


def register_commands(app: typer.Typer) -> None:
    commands: tuple[Callable[..., None], ...] = (requeue, purge, pause, resume, repair, undo, end_session)
    for name, command in zip(_EXAMPLES, commands, strict=True):
        app.command(name, epilog=f"Example: {_EXAMPLES[name]}")(options.expand_options(command))


class StateChoice(StrEnum):
    """The state of the messages to act on."""

    READY = "ready"
    SCHEDULED = "scheduled"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    DEAD = "dead"


Queue = Annotated[
    str | None,
    typer.Argument(
        metavar="[QUEUE]",
        help="Name of the queue. Not needed if the target has only one queue.",
        show_default=False,
        autocompletion=completion.complete_queues,
    ),
]
_IDS: Final = (
    "Only messages with these ids, written as on the screens. If an id has several columns, write a/b,a/c. "
    r"Write a comma, / or \ in an id as \, \/ \\. Repeatable."
)
Ids = Annotated[list[str] | None, typer.Option("--ids", metavar="ID,ID…", help=_IDS)]
OlderThan = Annotated[
    float | None,
    options.duration_option("--older-than", help="Only messages of this age or older: 90s, 5m, 2h."),
]
Max = Annotated[
    int | None, typer.Option("--max", metavar="N", min=1, max=1_000_000_000, help="Maximum number of messages.")
]
WhichSide = Annotated[Side, typer.Option("--side", help="Side to pause.")]


NewerThan = Annotated[
    float | None,
    options.duration_option("--newer-than", help="Only messages younger than this: 90s, 5m, 2h."),
]
Error = Annotated[
    str | None,
    typer.Option("--error", metavar="TEXT", help="Only messages whose last error contains this text. Ignores case."),
]
Payload = Annotated[
    str | None,
    typer.Option("--payload", metavar="TEXT", help="Only messages whose payload contains this text. Ignores case."),
]


@dataclass(frozen=True)
class ContentSelection:
    """Options that select messages by age, error or payload."""

    newer_than: NewerThan = None
    error: Error = None
    payload: Payload = None


@dataclass(frozen=True)
class RedriveOptions:
    """Options for the speed of a redrive and the number of failures that stops it."""

    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            metavar="N",
            help="Maximum retries per second; none: no limit. Needs --state dead. Default: 10/s.",
            show_default=False,
        ),
    ] = None
    stop_after: Annotated[
        str | None,
        typer.Option(
            "--stop-after",
            metavar="N",
            help="Stop after this many messages failed again; none: never. Needs --state dead. Default: 5.",
            show_default=False,
        ),
    ] = None

    def to_limits(self) -> RedriveLimits:
        """Return the limits as ``Operator`` needs them. Raises ``BadInput`` if a value is not a number."""
        from qmon.model.operation_records import DEFAULT_FAILURES, DEFAULT_RATE, RedriveLimits

        rate = DEFAULT_RATE if self.rate is None else _parse_number("--rate", self.rate)
        failures = DEFAULT_FAILURES if self.stop_after is None else _parse_number("--stop-after", self.stop_after)
        if failures is not None and not float(failures).is_integer():
            raise BadInput(ActText.NOT_WHOLE.render(text=self.stop_after))
        return RedriveLimits(rate, None if failures is None else int(failures))

    def refuse_limits(self) -> None:
        """Raise ``BadInput`` if a limit was given for messages that are not dead."""
        if self.rate is not None or self.stop_after is not None:
            raise BadInput(ActText.NEEDS_DEAD)


def _parse_number(option: str, text: str) -> float | None:
    """Parse a number with or without ``/s``. Return ``None`` for ``none``. Raises ``BadInput``."""
    if text == "none":
        return None
    try:
        found = float(text.removesuffix("/s"))
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise BadInput(ActText.NOT_A_NUMBER.render(option=option, text=text))
    return found


@dataclass(frozen=True)
class MessageSelection:
    """Options that select messages by id, age, state or owner."""

    ids: Ids = None
    older_than: OlderThan = None
    state: Annotated[
        StateChoice | None,
        typer.Option("--state", help="Only messages in this state. Default: in_progress for requeue, dead for purge."),
    ] = None
    owner: Annotated[
        str | None, typer.Option("--owner", metavar="TEXT", help="Only messages of exactly this owner.")
    ] = None
    owners: Annotated[
        str,
        typer.Option("--owners", metavar="LIST", help="Only messages of owners in these states: dead, unknown, alive."),
    ] = "dead"
    limit: Max = None

    def to_choice(self, texts: ContentSelection) -> Choice:
        """Return the selection as a ``Choice``. Raises ``BadInput`` for a bad list of owners or ids."""
        from qmon.model.operation_records import Choice

        return Choice(
            parse_ids(self.ids),
            self.state,
            self.older_than,
            self.owner,
            _parse_owner_states(self.owners),
            self.limit,
            newer_than_s=texts.newer_than,
            error=texts.error,
            payload=texts.payload,
        )


def parse_ids(texts: list[str] | None) -> tuple[str, ...]:
    """Return the ids given with ``--ids``, without duplicates. Raises ``BadInput`` for an empty id."""
    from qmon.model.layout.message_ids import split_ids

    found = [part for text in texts or () for part in split_ids(text)]
    if not all(found):
        raise BadInput(ActText.EMPTY_ID)
    return tuple(dict.fromkeys(found))


def _parse_owner_states(text: str) -> frozenset[OwnerState]:
    from qmon.model.config_reader import suggest_nearest
    from qmon.model.operation_records import OwnerState

    known = {state.value: state for state in (OwnerState.DEAD, OwnerState.UNKNOWN, OwnerState.ALIVE)}
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in known:
            raise BadInput(ActText.UNKNOWN_OWNER.render(word=word, nearest=suggest_nearest(word, known)))
    return frozenset(known[word] for word in words)


def requeue(
    context: typer.Context,
    target: options.Target,
    queue: Queue = None,
    *,
    which: MessageSelection,
    texts: ContentSelection,
    pace: RedriveOptions,
    confirmation: options.ActionOptions,
) -> None:
    """Make stuck messages ready again, or retry dead messages.

    Without options, qmon selects messages in progress whose owner is gone. With --state dead, qmon resets the attempt
    counter of dead messages, limits the rate, and stops if too many messages fail again.
    """
    from qmon.cli.commands.act.run_action import act_on_queue
    from qmon.model.operation_records import OperationKind

    config = options.config_path(context)
    choice = which.to_choice(texts)
    if which.state is StateChoice.DEAD:
        limits = pace.to_limits()
        act_on_queue(
            target,
            config,
            queue,
            OperationKind.REDRIVE,
            lambda at, layout: at.redrive(layout, choice, limits),
            confirmation,
        )
        return
    pace.refuse_limits()
    act_on_queue(
        target,
        config,
        queue,
        OperationKind.REQUEUE,
        lambda operator, layout: operator.requeue(layout, choice),
        confirmation,
    )


def purge(
    context: typer.Context,
    target: options.Target,
    queue: Queue = None,
    *,
    which: MessageSelection,
    texts: ContentSelection,
    confirmation: options.ActionOptions,
) -> None:
    """Move messages to the trash, by default dead messages.

    `qmon undo` restores the messages.
    """
    from qmon.cli.commands.act.run_action import act_on_queue
    from qmon.model.operation_records import OperationKind

    config = options.config_path(context)
    choice = which.to_choice(texts)
    act_on_queue(
        target,
        config,
        queue,
        OperationKind.PURGE,
        lambda operator, layout: operator.purge(layout, choice),
        confirmation,
    )


def pause(
    context: typer.Context,
    target: options.Target,
    queue: Queue = None,
    side: WhichSide = Side.PRODUCERS,
    length: Annotated[float, options.duration_option("--for", help="Length of the pause.", default="15m")] = 900.0,
    *,
    confirmation: options.ActionOptions,
) -> None:
    """Pause the producers or consumers of a queue for some time.

    The pause ends by itself, even if qmon is not running.
    """
    from qmon.cli.commands.act.run_action import act_on_queue
    from qmon.model.operation_records import OperationKind

    config = options.config_path(context)
    act_on_queue(
        target,
        config,
        queue,
        OperationKind.PAUSE,
        lambda operator, layout: operator.pause(layout, side, for_s=length),
        confirmation,
    )


def resume(
    context: typer.Context,
    target: options.Target,
    queue: Queue = None,
    side: WhichSide = Side.PRODUCERS,
    *,
    confirmation: options.ActionOptions,
) -> None:
    """End a pause now."""
    from qmon.cli.commands.act.run_action import act_on_queue
    from qmon.model.operation_records import OperationKind

    config = options.config_path(context)
    act_on_queue(
        target,
        config,
        queue,
        OperationKind.RESUME,
        lambda operator, layout: operator.resume(layout, Side(side.value)),
        confirmation,
    )


def repair(
    context: typer.Context,
    target: options.Target,
    queue: Queue = None,
    *,
    confirmation: options.ActionOptions,
) -> None:
    """Repair a ring queue: fill holes and requeue orphaned messages."""
    from qmon.cli.commands.act.run_action import act_on_queue
    from qmon.model.operation_records import OperationKind

    config = options.config_path(context)
    act_on_queue(
        target, config, queue, OperationKind.REPAIR, lambda operator, layout: operator.repair(layout), confirmation
    )


def undo(
    context: typer.Context,
    target: options.Target,
    operation: Annotated[
        str, typer.Argument(metavar="OPERATION", help="Operation to undo, as listed by `qmon operations`.")
    ],
    ids: Ids = None,
    limit: Max = None,
    *,
    confirmation: options.ActionOptions,
) -> None:
    """Undo an operation. With --ids, undo a part of the operation."""
    from qmon.cli.commands.act.run_action import run_action
    from qmon.cli.target_session import open_for_action
    from qmon.model.operation_records import Choice

    config = options.config_path(context)
    choice = Choice(parse_ids(ids), limit=limit)
    with open_for_action(target, config, "undo") as at:
        run_action(lambda: at.create_operator().undo(operation, choice), at.connections, confirmation)


def end_session(
    context: typer.Context,
    target: options.Target,
    session: Annotated[
        int,
        typer.Argument(
            metavar="SESSION",
            min=0,
            max=2**31 - 1,
            help="Number of the session that blocks other sessions. 0 means a prepared transaction.",
        ),
    ],
    *,
    confirmation: options.ActionOptions,
) -> None:
    """End a session that blocks a queue.

    qmon ends only the session that the plan shows.
    """
    from qmon.cli.commands.act.run_action import run_action
    from qmon.cli.target_session import open_for_action

    config = options.config_path(context)
    with open_for_action(target, config, "end-session") as at:
        run_action(lambda: at.create_operator().end_session(session, None), at.connections, confirmation)
