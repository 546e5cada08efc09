"""Asks questions about uncertain tables at a terminal, for ``qmon init``."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

import typer

from qmon.cli.output import clean_text
from qmon.errors import BadInput
from qmon.texts import Text

if TYPE_CHECKING:
    from qmon.cli.target_session import ConnectedTarget
    from qmon.model.layout.layout import ObjectName
    from qmon.monitor.catalog.catalog import Catalog, TableDetails
    from qmon.monitor.catalog.discovery.candidates import Candidate


class AnswerText(Text):
    """Why an answer cannot be used."""

    NOT_A_ZONE = "{answer!r} is not a time zone"
    NO_READY = "no value of {column} means ready; nothing was written"
    NOT_WHOLE = "{value!r} is not a whole number, but the column contains only whole numbers; nothing was written"
    NOT_A_CHOICE = "{answer!r} is not one of the choices"


class QuestionText(Text):
    """Questions about a table."""

    IS_QUEUE = "Is this table a queue, with one row per message?"
    ID = "Which column contains the id of a message?"
    QUEUE = "Which column contains the name of the queue, if the table has several?"
    STATE = "Which column contains the state of a message?"
    DUE_AT = "Which column contains the time when a message is due?"
    STARTED_AT = "Which column contains the time when a message was popped?"
    UNIT = "What is the unit of these numbers?"
    ZONE = "Time zone of {columns}: utc, local (the server's), or a name such as Europe/Berlin? {no_answer} if unknown"
    VALUES = "Which values does {column} have? Separate them with commas."
    MEANS = "{column} = {value} means"


STATE_KINDS: Final = ("ready", "in_progress", "blocked", "dead", "done")
_NO_ANSWER: Final = "-"


@dataclass(slots=True)
class Answers:
    """The answers about one table. ``states``: values of the column ``state`` by kind, as texts or whole numbers."""

    name: str
    table: str
    id: str = ""
    state: str = ""
    states: dict[str, list[str | int]] = field(default_factory=dict)
    due_at: str = ""
    started_at: str = ""
    queue: str = ""
    times: str = ""

    def to_toml(self) -> dict[str, object]:
        """Return the answers as entries of ``qmon.toml``.

        States become conditions if one value per state is not enough.
        """
        out: dict[str, object] = {"name": self.name, "table": self.table, "id": self.id}
        plain = all(len(values) == 1 for values in self.states.values())
        out |= {"queue": self.queue} if self.queue else {}
        if self.state and plain:
            out["state"] = {"column": self.state} | {kind: values[0] for kind, values in self.states.items()}
            out |= {"due_at": self.due_at} if self.due_at else {}
            out |= {"started_at": self.started_at} if self.started_at else {}
        elif self.state:
            out["state"] = list(self._state_conditions())
        elif self.due_at:
            out |= {"due_at": self.due_at, "design": "pending"}
        return out | ({"times": self.times} if self.times else {})

    def _state_conditions(self) -> list[dict[str, object]]:
        out: list[dict[str, object]] = []
        for kind, values in self.states.items():
            of_state: dict[str, object] = {self.state: values[0] if len(values) == 1 else values}
            if kind != "ready" or not self.due_at:
                since = {"since": self.started_at} if kind == "in_progress" and self.started_at else {}
                out.append({"name": kind, "when": of_state, **since})
                continue
            due = [{self.due_at: {"null": True}}, {self.due_at: {"past": True}}]
            out.append({"name": "ready", "when": of_state | {"any": due}, "since": self.due_at})
            later = of_state | {self.due_at: {"future": True}}
            out.append({"name": "scheduled", "when": later, "since": self.due_at})
        return out


def ask_about_tables(connected: ConnectedTarget, findings: Sequence[Candidate]) -> dict[ObjectName, Answers | None]:
    """Ask about each table that may be a queue or has unclear states. ``None`` means that a table is not a queue."""
    from qmon.monitor.catalog.catalog import Catalog
    from qmon.monitor.catalog.discovery.candidates import is_likely
    from qmon.monitor.catalog.state_values import known_values

    catalog = Catalog(connected.connection, connected.engine)
    unsure = {
        finding.layout.table: finding
        for finding in findings
        if finding.locked is None
        and finding.layout.ring is None
        and not (is_likely(finding) and (finding.layout.state or finding.layout.data_table))
    }
    known = catalog.read_details([row for row in catalog.read_tables() if row.name in unsure])
    by_name = {details.table.name: details for details in known.values()}

    def values(table: ObjectName, column: str) -> Sequence[str]:
        return known_values(by_name[table], column, catalog).values

    return {
        name: ask_about_table(catalog, finding, by_name[name], partial(values, name))
        for name, finding in unsure.items()
        if name in by_name
    }


def ask_about_table(
    catalog: Catalog, finding: Candidate, details: TableDetails, values: Callable[[str], Sequence[str]]
) -> Answers | None:
    """Ask about one table. Return ``None`` if it is not a queue. ``values``: returns the known values of a column."""
    from qmon.model.layout.layout_io import table_to_text
    from qmon.model.layout.time_zones import NUMBER_TYPES, NUMBER_ZONES, TIME_TYPES
    from qmon.monitor.catalog.column_names import WHOLE_TYPES
    from qmon.monitor.catalog.newest_times import compare_with_clock

    layout = finding.layout
    typer.echo(f"\n{clean_text(str(layout.table))}: {clean_text(finding.summary)}", err=True)
    if not typer.confirm(QuestionText.IS_QUEUE, default=finding.score >= 0.5, err=True):
        return None
    kinds = {column.column_name: column.type_name for column in details.columns}
    times = [name for name, kind in kinds.items() if kind in TIME_TYPES | NUMBER_TYPES]
    said = Answers(layout.queue, table_to_text(layout.table))
    said.id = _ask_column(QuestionText.ID, list(kinds), layout.id, needed=True)
    said.queue = _ask_column(QuestionText.QUEUE, list(kinds), None)
    state = layout.state.column if layout.state is not None else None
    said.state = _ask_column(QuestionText.STATE, list(kinds), state)
    if said.state:
        number = kinds[said.state] in WHOLE_TYPES
        said.states = _ask_values(said.state, values(said.state), number=number)
    said.due_at = _ask_column(QuestionText.DUE_AT, times, layout.due_at)
    if said.state:
        said.started_at = _ask_column(QuestionText.STARTED_AT, times, layout.started_at)
    of_times = {kinds[name] for name in (said.due_at, said.started_at) if name}
    if of_times & NUMBER_TYPES:
        said.times = _ask_choice(QuestionText.UNIT, list(NUMBER_ZONES))
    elif names := [
        n for n in (said.due_at, said.started_at, layout.enqueued_at or "") if _has_unknown_zone(details, n)
    ]:
        said.times = _ask_zone(names, compare_with_clock(catalog, replace(layout, id=said.id), details, names))
    return said


def ask_times(findings: Sequence[Candidate]) -> list[Candidate]:
    """Ask for the zone of times that have no zone in recognized queues. Return the findings with the answers."""
    from qmon.monitor.catalog.discovery.candidates import is_likely
    from qmon.monitor.catalog.newest_times import columns_of_unknown_zone

    out: list[Candidate] = []
    for finding in findings:
        layout = finding.layout
        names = columns_of_unknown_zone(layout)
        if names and is_likely(finding) and finding.written is None and (layout.state or layout.data_table):
            typer.echo(f"\n{clean_text(str(layout.table))}: {clean_text(finding.summary)}", err=True)
            if times := _ask_zone(names, finding.times):
                finding = replace(finding, layout=replace(layout, times=times, zones=()))
        out.append(finding)
    return out


def _ask_zone(columns: Sequence[str], evidence: Sequence[str]) -> str:
    """Ask for the zone of times that have no zone. Return a value for ``times`` in the configuration; empty if unknown.

    ``evidence``: what the newest rows show about the zone.
    """
    from qmon.model.layout.time_zones import load_zone

    for line in evidence:
        typer.echo(clean_text(line), err=True)
    names = " and ".join(map(clean_text, dict.fromkeys(columns)))
    question = QuestionText.ZONE.render(columns=names, no_answer=_NO_ANSWER)
    while True:
        answer = str(typer.prompt(question, err=True)).strip()
        if answer in ("utc", "local", _NO_ANSWER) or load_zone(answer, time.time()) is not None:
            return "" if answer == _NO_ANSWER else answer
        typer.echo(AnswerText.NOT_A_ZONE.render(answer=clean_text(answer)), err=True)


def _has_unknown_zone(details: TableDetails, name: str) -> bool:
    """Return true if the column exists and the zone of its times is unknown."""
    from qmon.model.layout.time_zones import ZONELESS_TYPES
    from qmon.monitor.catalog.column_zones import zone_in_column_default

    column = details.column(name)
    return (
        column is not None
        and column.type_name in ZONELESS_TYPES
        and zone_in_column_default(details, column) == "unknown"
    )


def _ask_values(column: str, known_values: Sequence[str], *, number: bool) -> dict[str, list[str | int]]:
    from qmon.monitor.catalog.column_names import state_for_value

    out: dict[str, list[str | int]] = {kind: [] for kind in STATE_KINDS}
    if not known_values:
        typed = typer.prompt(QuestionText.VALUES.render(column=clean_text(column)), err=True)
        known_values = [value.strip() for value in str(typed).split(",") if value.strip()]
    for value in known_values:
        question = QuestionText.MEANS.render(column=clean_text(column), value=clean_text(value))
        kind = _ask_choice(question, [*STATE_KINDS, _NO_ANSWER], state_for_value(value))
        if kind != _NO_ANSWER:
            out[kind].append(_parse_whole_number(value) if number else value)
    if not out["ready"]:
        raise BadInput(AnswerText.NO_READY.render(column=column))
    return {kind: values for kind, values in out.items() if values}


def _parse_whole_number(value: str) -> int:
    try:
        return int(value)
    except ValueError:
        raise BadInput(AnswerText.NOT_WHOLE.render(value=value)) from None


def _ask_column(question: str, columns: Sequence[str], guess: str | None, *, needed: bool = False) -> str:
    """Ask for a column. Return an empty text if the answer is ``-``, which means that no such column exists."""
    if not columns:
        return ""
    answer = _ask_choice(
        question, [*columns, *(() if needed else (_NO_ANSWER,))], guess or (None if needed else _NO_ANSWER)
    )
    return "" if answer == _NO_ANSWER and not needed else answer


def _ask_choice(question: str, choices: Sequence[str], default: str | None = None) -> str:
    text = f"{question} ({', '.join(map(clean_text, choices))})"
    while (answer := str(typer.prompt(text, default=default, err=True)).strip()) not in choices:
        typer.echo(AnswerText.NOT_A_CHOICE.render(answer=clean_text(answer)), err=True)
    return answer
