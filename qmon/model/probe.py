"""The properties of one probe. ``qmon.model.probe_table`` lists all probes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from qmon.model.cost_budget import Rank


class Scope(Enum):
    """What one statement of a probe reads."""

    # One queue.
    QUEUE = "queue"
    # The tables of all queues that a poll reads, in one statement or in one statement per table.
    TABLES = "tables"
    # One group of queues.
    GROUP = "group"
    # The whole target. With an interval, polls read the probe by themselves and keep its last rows.
    TARGET = "target"
    # Something that only some targets have, or that is read only in some polls or between polls.
    OCCASIONAL = "occasional"


@dataclass(frozen=True, slots=True)
class Probe:
    """One probe.

    Attributes:
        record: the type of its rows.
        variants: names of other probes of its family that return the same rows.
            If a variant is named ``…_state``, it is for tables with a state column.
        family: the family to which it belongs, if it is not the first probe of its family. All other properties are
            those of the family.
        query: the name of its SQL file, if it is not its own name.
        index: the purpose of the index that it needs. Polls read a probe of a queue with this property by themselves,
            from each table that has this index and all columns in the SQL file. They keep the last row.
        state: the kind of state whose value is bound as ``:value``.
        feeds: the fields of ``QueueView``, ``QueueEvidence`` and ``RuleInput`` that need it, and ``rates``.
        rank: the importance when polls are throttled; ``None``: as its scope and the queue require.
        every_s: seconds between two readings; 0: read in each poll. A probe with an interval that depends on its
            results has 0.
        in_turns_s: the same if queues are read in turns, because there are many.
        kept_s: for how many seconds the rows of a probe of the target are shown if it cannot be read again; 0: for
            three intervals.
        subject: what is unknown if it fails, as the queue screen and the panel of server health name it.
        values: the values that a poll binds by default.
        ids: the name of the value for the ids of tables or procedures. ``qmon doctor`` uses the id 0, which does not
            exist.
        only_if: read the probe only if this other probe returned rows (``broker_queues``), or if this field of its
            first row is true (``service.pooled``).
    """

    name: str
    record: type
    scope: Scope
    variants: tuple[str, ...] = ()
    family: str = ""
    query: str = ""
    index: str = ""
    state: str = ""
    feeds: tuple[str, ...] = ()
    rank: Rank | None = None
    every_s: float = 0.0
    in_turns_s: float = 0.0
    kept_s: float = 0.0
    subject: str = ""
    values: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)
    ids: str = ""
    only_if: str = ""
