"""The parameters that the commands which act share."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from qmon.cli import options
from qmon.errors import BadInput

if TYPE_CHECKING:
    from qmon.model.operations import Choice


@dataclass(frozen=True, slots=True)
class Given:
    """How a plan is to be confirmed, as the command line says."""

    dry_run: bool
    yes: bool
    reason: str
    confirm: str | None
    json: bool


class StateChoice(StrEnum):
    """The state of the messages that are meant."""

    READY = "ready"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    DEAD = "dead"


class SideChoice(StrEnum):
    """Whom a pause stops."""

    PUSHERS = "pushers"
    POPPERS = "poppers"


Queue = Annotated[
    str | None,
    typer.Argument(metavar="[QUEUE]", help="The queue. May be left out where there is only one.", show_default=False),
]
_IDS: Final = (
    "These messages only, as plans and screens call them; where several columns know one: a/b,a/c. "
    r"A comma, / or \ within a part is written \, \/ \\. May be given several times."
)
Ids = Annotated[list[str] | None, typer.Option("--ids", metavar="ID,ID…", help=_IDS)]
OlderThan = Annotated[
    float | None,
    typer.Option("--older-than", parser=options.seconds, metavar="TIME", help="Of this age or more: 90s, 5m, 2h."),
]
State = Annotated[StateChoice | None, typer.Option("--state", help="In this state only.")]
Owner = Annotated[str | None, typer.Option("--owner", metavar="TEXT", help="Held by exactly this owner.")]
Owners = Annotated[
    str,
    typer.Option("--owners", metavar="LIST", help="Of owners that are: dead, unknown, alive; separated by commas."),
]
Max = Annotated[
    int | None, typer.Option("--max", metavar="N", min=1, max=1_000_000_000, help="So many messages at most.")
]
Side = Annotated[SideChoice, typer.Option("--side", help="Whom it is about.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; goes into the audit.")]
Confirm = Annotated[
    str | None,
    typer.Option("--confirm", metavar="NAME", help="The queue's name, for plans that ask for it to be typed."),
]


def choice(
    ids: list[str] | None = None,
    older_than: float | None = None,
    state: StateChoice | None = None,
    owner: str | None = None,
    owners: str = "dead",
    limit: int | None = None,
) -> Choice:
    """The choice that these options make; ``BadInput`` for a list of owners or ids that is none."""
    from qmon.model.operations import Choice

    return Choice(_ids(ids or []), state, older_than, owner, _owner_states(owners), limit)


def _ids(texts: list[str]) -> tuple[str, ...]:
    from qmon.model.layout.ids import split_ids

    found = [part for text in texts for part in split_ids(text)]
    if not all(found):
        raise BadInput("--ids: an id is empty; write --ids 17,18,21")
    return tuple(dict.fromkeys(found))


def _owner_states(text: str) -> frozenset[OwnerState]:
    from qmon.model.config_reader import nearest
    from qmon.model.operations import OwnerState

    known = {state.value: state for state in (OwnerState.DEAD, OwnerState.UNKNOWN, OwnerState.ALIVE)}
    words = [word.strip() for word in text.split(",")]
    for word in words:
        if word not in known:
            raise BadInput(f"--owners: {word!r} is unknown{nearest(word, known)}")
    return frozenset(known[word] for word in words)


if TYPE_CHECKING:
    from qmon.model.operations import OwnerState
