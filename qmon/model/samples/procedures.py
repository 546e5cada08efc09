"""Samples of the procedures that push into a queue and pop from it (SQL Server): what their calls have read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoutineSample:
    """One row a procedure of an installed queue. ``verb``: push or pop."""

    verb: str
    procedure_id: int


@dataclass(frozen=True, slots=True)
class NamingSample:
    """One row a procedure whose text names a table."""

    table_id: int
    procedure_id: int
    schema: str
    name: str


@dataclass(frozen=True, slots=True)
class ReadsSample:
    """One row a procedure. ``executions`` and ``logical_reads`` (pages) are totals of the plans that are cached now.

    ``plans``: another number means other plans, whose totals have begun anew.
    """

    procedure_id: int
    executions: int
    logical_reads: int
    plans: int


@dataclass(frozen=True, slots=True)
class ProcedureReads:
    """What a procedure of a queue has read so far. ``verb``: push, pop, or empty where its name does not say.

    The rest is as in ``ReadsSample``.
    """

    queue: str
    verb: str
    procedure_id: int
    executions: int
    logical_reads: int
    plans: int
