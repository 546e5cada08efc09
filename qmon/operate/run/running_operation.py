"""Applies a prepared plan once: checks the permission, records the start and the end, counts the rows of each batch."""

from __future__ import annotations

import contextlib
import json
import logging
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from qmon.engines.base import Value
from qmon.engines.control_schema import check_trusted
from qmon.errors import BadInput, ConnectionLost, OutcomeUnknown, PermissionMissing, QmonError
from qmon.model.formatting import count_text
from qmon.model.layout.layout import ObjectName
from qmon.model.operation_records import Consent, OperationKind, OperationResult, OperationState, Plan
from qmon.operate.audit import Audit, AuditFailed
from qmon.operate.context import AccessText, OnProgress, OperatorContext, Permission, StopRequested
from qmon.operate.sql import Sql
from qmon.redact import hide_values
from qmon.texts import Text


class ApplyText(Text):
    """Why a plan cannot be applied."""

    APPLIED = "this plan was already applied; plan again; nothing was changed"
    NOTHING_TO_DO = "there is nothing to do"
    UNCHANGED = "{reason}; nothing was changed"


class RunningOperationText(Text):
    """Notes and errors of a running operation."""

    NO_RECORD = "your role may not record operations in this database; nothing was changed; {advice}"
    UNCHANGED = "{reason}; nothing was changed"
    WRONG_NAME = "the queue's name must be typed exactly: {queue}; nothing was changed"
    NO_REASON = "a reason is needed; nothing was changed"
    BATCH_COMMITTED = "batch {batch} ({done:,} done) was committed"
    OTHER_REASONS = "for other reasons"
    END_UNRECORDED = "the database lists the operation as interrupted, because qmon could not record the end: {problem}"
    SEE_OPERATIONS = "when the server answers again, run `qmon operations` to see the recorded result"
    SEE_QUEUE = "this database has no record of operations; check the queue instead"
    UNKNOWN = "it is unknown whether {step}: {problem}"
    MORE = " and {count:,} more"
    REFUSED = "{count:,} refused: {why}: {rows}"
    ALTERED = "{rows} restored, but triggers wrote other values into some columns"
    NOT_RUNNING = "operation {operation} was stopped, because the database no longer records it as running"


_LOG: Final = logging.getLogger(__name__)

# Seconds between two progress lines in the local audit. If a line cannot be written, the operation stops.
PROGRESS_EVERY_S: Final = 1.0

# Audit fields that qmon also writes to the log. These fields must not contain values of rows.
_LOGGED_FIELDS: Final = ("kind", "queue", "planned", "state", "done", "skipped", "changed", "refused", "problem")
_MAX_REASONS: Final = 5

# Maximum number of messages that are named for each reason of a refusal. `_MAX_REASONS` limits the number of reasons.
_MAX_NAMED: Final = 5
_ID_CHARS: Final = "23456789abcdefghjkmnpqrstuvwxyz"
_CONTROL_FILES: Final = tuple(
    f"control/{name}" for name in ("01_schema", "03_operations", "05_store", "06_make_store", "07_put_back")
)


@dataclass(frozen=True, slots=True)
class AuditAccess:
    """Whether operations can be recorded in a database.

    ``recorded``: the tables exist. ``writable``: our role may write the tables. ``can_create``: our role may create the
    tables.
    """

    recorded: bool
    writable: bool
    can_create: bool

    @property
    def can_record(self) -> bool:
        """True if operations can be recorded.

        If ``recorded`` is true and ``writable`` is false, our role lacks a right.
        """
        return self.writable or (not self.recorded and self.can_create)


@dataclass(frozen=True, slots=True)
class OperationRecord:
    """The part of an operation's record that is not in the operation's plan.

    - ``about``: the table, slot or session that the operation changes.
    - ``frozen``: the values that the plan froze, without secrets and payloads.
    - ``undo_of``: the operation that this operation undoes.
    - ``undoable``: the data for an undo is stored.
    - ``tables``: the tables whose rows the operation changes. Triggers may need the schema of these tables.
    """

    about: str = ""
    frozen: Mapping[str, object] = field(default_factory=dict)
    undo_of: str | None = None
    undoable: bool = False
    tables: tuple[ObjectName, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a row was not changed. Rows with the same ``kind`` are counted together."""

    why: str
    kind: str

    @classmethod
    def by_server(cls, message: str) -> Refusal:
        """Return the refusal with a message of the server. Messages of a trigger may differ only in numbers."""
        return cls(message, re.sub(r"\d+", "…", message))

    @classmethod
    def by_qmon(cls, why: str) -> Refusal:
        """Return the refusal with one of qmon's texts."""
        return cls(why, why)


@dataclass(slots=True)
class Tally:
    """Counts of one batch; see ``OperationResult``."""

    done: int = 0
    skipped: int = 0
    changed: int = 0
    refused: int = 0


def read_audit_access(sql: Sql) -> AuditAccess:
    """Read whether operations can be recorded in this database."""
    return sql.fetch(AuditAccess, "control/operations_access", {})[0]


def ensure_operation_tables(sql: Sql) -> bool:
    """Create qmon's operation tables if they are missing. Return false if our role may not create the tables.

    Raises ``AuditFailed`` if the tables exist but our role may not write to the tables.
    """
    found = read_audit_access(sql)
    if found.writable:
        return True
    if found.recorded:
        raise AuditFailed(RunningOperationText.NO_RECORD.render(advice=AccessText.SETUP_ADVICE))
    if not found.can_create:
        return False
    try:
        with sql.connection.transaction():
            for name in _CONTROL_FILES:
                if sql.has_statement(name):
                    sql.execute(name, {})
                if name == _CONTROL_FILES[0]:  # another role may have created the schema in the meantime
                    check_trusted(sql.connection, sql.engine)
    except PermissionMissing:
        return False
    return True


def new_operation_id() -> str:
    """Return a new id such as ``261121-071402-k7qd``. An id begins with the time in UTC, so ids sort by time."""
    return f"{datetime.now(UTC):%y%m%d-%H%M%S}-" + "".join(secrets.choice(_ID_CHARS) for _ in range(4))


def check_permission(context: OperatorContext, plan: Plan, permission: Permission) -> None:
    """Raise ``ReadOnly`` or ``BadInput`` unless this plan may be applied with this permission."""
    context.check_writable()
    if plan.refused is not None:
        raise BadInput(RunningOperationText.UNCHANGED.render(reason=plan.refused))
    if plan.consent is Consent.TYPED and permission.typed != plan.queue:
        raise BadInput(RunningOperationText.WRONG_NAME.render(queue=plan.queue))
    if plan.needs_reason and not permission.reason.strip():
        raise BadInput(RunningOperationText.NO_REASON)


@contextlib.contextmanager
def run_operation(
    context: OperatorContext, sql: Sql, plan: Plan, permission: Permission, record: OperationRecord | None = None
) -> Iterator[RunningOperation]:
    """Check an operation and record its start. Run the block, and record the end in every case.

    Raises the errors of ``check_permission``. Raises ``AuditFailed`` before anything is changed. Records any error of
    the block and raises it again. After an error, the operation counts as interrupted, or as failed if it had changed
    nothing. If the connection is lost while a step takes effect, nothing is raised, and the result has the state
    unknown.
    """
    check_permission(context, plan, permission)
    work = RunningOperation(context, sql, plan, permission, record or OperationRecord())
    work.record_begin()
    try:
        yield work
    except BaseException as problem:
        if isinstance(problem, OutcomeUnknown) and work.unsure_step:
            work.record_unknown(problem)
            return
        work.record_failure(problem)
        raise
    work.record_end()


class RunningOperation:
    """An operation in progress. Use it only from the thread of its connection."""

    def __init__(
        self, context: OperatorContext, sql: Sql, plan: Plan, permission: Permission, record: OperationRecord
    ) -> None:
        self.id = new_operation_id()
        self.total = Tally()
        # True if the database has a row for this operation. Otherwise the local audit is the only record.
        self.recorded = False
        # The reason that the operator gave.
        self.reason = permission.reason
        self._context, self._sql, self._plan = context, sql, plan
        self._record = record
        self._audit = Audit(context.audit)
        self._notes: list[str] = []
        self._refusals: dict[str, tuple[str, list[str]]] = {}
        self._altered = 0
        self._batches = 0
        # The step whose outcome is unknown; empty if every outcome is known.
        self.unsure_step = ""
        self._state = OperationState.DONE
        self._reported_at = 0.0

    def record_begin(self) -> None:
        """Record the start, first in the local audit, then in the database."""
        plan, record = self._plan, self._record
        given: dict[str, Value] = {
            "kind": str(plan.kind),
            "queue": plan.queue,
            "about": record.about,
            "by": self._context.who,
            "reason": self.reason,
            "predicate": plan.predicate,
            "planned": plan.count,
            "undo_of": record.undo_of,
        }
        self._write_audit("begin", {**given, "frozen": dict(record.frozen)})
        self._reported_at = time.monotonic()
        try:
            self.recorded = ensure_operation_tables(self._sql)
            if self.recorded:
                frozen = json.dumps(dict(record.frozen), ensure_ascii=False)
                self._execute_control(
                    "operation_begin", given | {"frozen": frozen, "id": self.id, "undoable": record.undoable}
                )
        except BaseException as problem:
            self._write_failure(OperationState.FAILED, problem)
            raise

    @contextlib.contextmanager
    def batch(self) -> Iterator[Tally]:
        """Run the block in one transaction and add its counts.

        The transaction also updates the operation's row in the database. The counts of this object are updated after
        the commit.
        """
        if time.monotonic() - self._reported_at >= PROGRESS_EVERY_S:
            self._write_audit("progress", self._counts())
            self._reported_at = time.monotonic()
        tally = Tally()
        begun = time.monotonic()
        self._batches += 1
        try:
            with self._sql.connection.transaction():
                for table in self._record.tables if self._sql.has_statement("trigger_path") else ():
                    self._sql.execute("trigger_path", {"table": table.parts})
                yield tally
                if self.recorded:
                    self._record_counts(tally, time.monotonic() - begun)
                    if self._sql.has_statement("report_counters"):
                        self._sql.execute("report_counters", {})
        except OutcomeUnknown:
            self.unsure_step = RunningOperationText.BATCH_COMMITTED.render(batch=self._batches, done=tally.done)
            raise
        self.total.done += tally.done
        self.total.skipped += tally.skipped
        self.total.changed += tally.changed
        self.total.refused += tally.refused

    @contextlib.contextmanager
    def immediate_step(self, step: str) -> Iterator[None]:
        """Run a statement that takes effect at once, outside of a batch. ``step``: a description like "X was ended".

        Raises ``OutcomeUnknown`` if the connection is lost during the statement.
        """
        try:
            yield
        except ConnectionLost as problem:
            self.unsure_step = step
            raise OutcomeUnknown(str(problem)) from problem

    def add_note(self, text: str) -> None:
        """Add a note for the operator to the result."""
        self._notes.append(text)

    def record_refusal(self, refusal: Refusal, name: str) -> None:
        """Record that a row was not changed because the server refused it. ``name``: the readable name of the row."""
        kind, why = refusal.kind, refusal.why
        if kind not in self._refusals and len(self._refusals) >= _MAX_REASONS:
            kind = why = RunningOperationText.OTHER_REASONS
        reason, names = self._refusals.get(kind, (why, []))
        names.append(name)
        self._refusals[kind] = (reason if reason == why else kind, names)

    def record_altered(self, count: int) -> None:
        """Count rows in which triggers changed written values, if the queue does not depend on the changed columns."""
        self._altered += count

    def mark_cancelled(self) -> None:
        """Record that the operator stopped the operation."""
        self._state = OperationState.CANCELLED

    def record_end(self) -> None:
        """Record the end, first in the database, then in the local audit."""
        self._add_summary_notes()
        try:
            self._end_in_database(self._state)
        except ConnectionLost as problem:
            self._notes.append(RunningOperationText.END_UNRECORDED.render(problem=problem))
        self._write_audit("end", {**self._counts(), "state": str(self._state), "notes": self._notes})

    def record_failure(self, problem: BaseException) -> None:
        """Record the failure as far as possible. Never raises."""
        some = self.total.done > 0
        state = OperationState.INTERRUPTED if some or not isinstance(problem, QmonError) else OperationState.FAILED
        self._add_summary_notes()
        self._notes.append(_describe_error(problem))
        with contextlib.suppress(QmonError):
            self._end_in_database(state)
        self._write_failure(state, problem)

    def record_unknown(self, problem: OutcomeUnknown) -> None:
        """Record that the outcome of the last step is unknown. Raises ``AuditFailed``."""
        self._state = OperationState.UNKNOWN
        self._add_summary_notes()
        later = RunningOperationText.SEE_OPERATIONS if self.recorded else RunningOperationText.SEE_QUEUE
        self._notes.append(RunningOperationText.UNKNOWN.render(step=self.unsure_step, problem=problem)[:500])
        self._notes.append(later)
        self._write_audit("end", {**self._counts(), "state": str(self._state), "notes": self._notes})

    def result(self) -> OperationResult:
        """Return the result so far."""
        plan, total = self._plan, self.total
        return OperationResult(
            operation=self.id,
            kind=plan.kind,
            queue=plan.queue,
            state=self._state,
            done=total.done,
            skipped=total.skipped,
            changed=total.changed,
            refused=total.refused,
            notes=tuple(self._notes),
        )

    def _add_summary_notes(self) -> None:
        """Add notes about refused rows, with the reasons, and about altered rows."""
        for why, names in self._refusals.values():
            which = ", ".join(names[:_MAX_NAMED]) + (
                RunningOperationText.MORE.render(count=len(names) - _MAX_NAMED) if len(names) > _MAX_NAMED else ""
            )
            self._notes.append(RunningOperationText.REFUSED.render(count=len(names), why=why, rows=which)[:500])
        if self._altered:
            self._notes.append(RunningOperationText.ALTERED.render(rows=count_text(self._altered, "row")))

    def _end_in_database(self, state: OperationState) -> None:
        if self.recorded:
            notes = json.dumps(self._notes, ensure_ascii=False)
            self._execute_control("operation_end", {"state": str(state), "notes": notes, "id": self.id})

    def _write_failure(self, state: OperationState, problem: BaseException) -> None:
        with contextlib.suppress(AuditFailed):
            self._write_audit("end", {**self._counts(), "state": str(state), "problem": _describe_error(problem)})

    def _counts(self) -> dict[str, object]:
        total = self.total
        return {"done": total.done, "skipped": total.skipped, "changed": total.changed, "refused": total.refused}

    def _record_counts(self, tally: Tally, busy_s: float) -> None:
        values: dict[str, Value] = {"done": tally.done, "skipped": tally.skipped, "changed": tally.changed}
        values |= {"refused": tally.refused, "busy_s": busy_s, "id": self.id}
        if self._execute_control("operation_count", values) == 0:
            raise AuditFailed(RunningOperationText.NOT_RUNNING.render(operation=self.id))

    def _write_audit(self, event: str, entry: Mapping[str, object]) -> None:
        if event != "progress":
            text = ", ".join(f"{name} {entry[name]}" for name in _LOGGED_FIELDS if name in entry)
            _LOG.info("operation %s on %s: %s, %s", self.id, self._context.target.name, event, text)
        self._audit.write(event, {"operation": self.id, "target": self._context.target.name, **entry})

    def _execute_control(self, name: str, values: Mapping[str, Value]) -> int:
        return self._sql.execute(f"control/{name}", {}, values)


def _describe_error(problem: BaseException) -> str:
    """Describe an error for notes and audit. Python's own errors may quote values, so qmon hides their texts."""
    text = str(problem) if isinstance(problem, QmonError) else hide_values(str(problem))
    return f"{type(problem).__name__}: {text}"[:500]


# Runs an operation after its start is recorded and before its end is recorded.
Work = Callable[[Sql, RunningOperation, OnProgress, StopRequested], None]


class PreparedAction:
    """A plan made from the state of the server. An operator can apply the plan once, or discard it.

    ``work``: the function that runs the operation; ``None`` if the plan is refused. ``record``: the part of the record
    that is not in the plan. ``ensure``: creates missing tables before the operation starts. If qmon is read-only, every
    plan is refused.
    """

    def __init__(
        self,
        context: OperatorContext,
        plan: Plan,
        work: Work | None = None,
        record: OperationRecord | None = None,
        ensure: Callable[[Sql], None] | None = None,
    ) -> None:
        self.plan = plan if context.read_only is None else replace(plan, refused=context.read_only)
        self._context, self._work, self._record, self._ensure = context, work, record, ensure
        self._applied = False

    def apply(self, permission: Permission, on_progress: OnProgress, stopped: StopRequested) -> OperationResult:
        """Run the plan in batches until it is done or ``stopped()`` is true. Writes the audit before and after.

        Raises ``BadInput``, with nothing changed, if the permission does not suffice or the plan cannot be applied.
        Also raises ``ReadOnly``, ``AuditFailed``, ``ConnectionLost`` and other server errors. After an error, committed
        batches remain, and the operation counts as interrupted. A new plan covers the remaining messages. If the
        connection is lost during a commit, the result has the state unknown and names the batch. A plan cannot be
        applied twice, because the first application changes the database.
        """
        if self._applied:
            raise BadInput(ApplyText.APPLIED)
        check_permission(self._context, self.plan, permission)
        if self._work is None:
            raise BadInput(ApplyText.UNCHANGED.render(reason=self.plan.refused or ApplyText.NOTHING_TO_DO))
        with self._context.open_sql(str(self.plan.kind)) as sql:
            if self._ensure is not None:
                self._ensure(sql)
            with run_operation(self._context, sql, self.plan, permission, self._record) as operation:
                self._applied = True
                self._work(sql, operation, on_progress, stopped)
            return operation.result()


def refused_action(context: OperatorContext, kind: OperationKind, queue: str, title: str, why: str) -> PreparedAction:
    """Return a refused plan, which only contains the reason."""
    return PreparedAction(context, Plan(kind, context.target.name, queue, title, refused=why))
