"""Server health: the log, replicas, tempdb, service limits, jobs and plans. Lines about problems come first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, TypeVar

from qmon.model import formatting
from qmon.model.cost_budget import PollingCost, parse_budget
from qmon.model.probe_table import PROBES
from qmon.model.samples.job_samples import FAILED_OUTCOME, QueueJob
from qmon.model.samples.server_state_samples import (
    LogSample,
    ReplicationSample,
    ServerState,
    ServiceSample,
    TempSessionSample,
    TempSpaceSample,
)
from qmon.model.settings import NOT_REPORTED, Setting, database_card
from qmon.model.statement_use import StatementUse, statement_uses
from qmon.model.verdicts.server_health_verdicts import (
    AT_LIMIT_AT,
    BEHIND_S,
    FILLING,
    FULL,
    LIMITED,
    TEMP_FILLING_AT,
    limits_reached,
    log_share_used,
    missing_log_text,
    replica_text,
    stopped_reason,
    temp_share_used,
)
from qmon.model.view import View
from qmon.texts import Text
from qmon.tui import figures
from qmon.tui.sanitize import clean, shorten
from qmon.tui.screen_texts import ScreenText
from qmon.tui.spans import LABEL_CELLS, Line, LinePart, Span, entry_lines, fit_parts, wrap_parts


class HealthText(Text):
    """The parts of the lines about server health."""

    SUBJECT = "server health"
    READ_UP_TO = "read up to {age} ago"
    COST_OF = "of {budget}"
    BUDGET = "the budget"
    BUDGET_OF = "the budget of {share}"
    BUDGET_SHARE = "{share} ({count} qmons)"
    CLIENT_TIME = "{duration} per poll, measured by qmon"
    SERVER_TIME = "{duration} of server time per poll"
    BUFFERS = "{count} buffers"
    CPU_TIME = "{milliseconds:,} ms of CPU time"
    UNKNOWN = "unknown: {why}"
    AGO = "{duration} ago"
    USED = "used"
    USED_OF = "of {size} used"
    OF_MAXIMUM = "of the {size} maximum"
    NOT_HELD = "not held"
    BEHIND = "{duration} behind"
    NOTHING_UNSENT = "nothing to send or redo"
    BUFFERS_PER_CALL = "buffers per call{plan}"
    BUFFERS_BEFORE = "before{plan}"
    BY_PLAN = " by plan {plan}"
    TIME_BEFORE = ", {duration} before"
    UNEXPLAINED = "another plan, or dead rows"


_V = TypeVar("_V")

# From this number of virtual log files on, recovery and backups take noticeably longer.
_MANY_PIECES: Final = 1_000
# The name of the segments of a log, keyed by engine.
_LOG_PIECES: Final = {"sqlserver": "virtual log files"}
# The label of each line, keyed by the probe that reads it.
_LABELS: Final = {
    name: probe.subject or name.replace("_", " ")
    for name, probe in PROBES.items()
    if name in ServerState.__annotations__ or name in ("plans", "plan_history")
}
# The fields of `ServerState` with lines of their own form.
_OWN_LINES: Final = {
    "log",
    "replication",
    "temp_space",
    "temp_sessions",
    "service",
    "limits",
    "pool_limits",
    "settings",
}


@dataclass(frozen=True, slots=True)
class _Reading:
    """A line of the panel. ``bad``: the line shows a problem. ``statement``: the SQL text of the line."""

    label: str
    parts: tuple[LinePart, ...]
    bad: bool = False
    statement: str = ""

    def to_lines(self, cells: int, *, in_full: bool) -> list[Line]:
        """Return the lines of this reading. ``in_full``: drop no part, and add the text of the statement."""
        tone, room = "alarm" if self.bad else "muted", cells - LABEL_CELLS - 2
        pieces = wrap_parts(self.parts, room) if in_full else [fit_parts(self.parts, room)]
        out: list[Line] = [
            ((f" {self.label if number == 0 else '':<{LABEL_CELLS}}", tone), *piece)
            for number, piece in enumerate(pieces)
        ]
        return out + entry_lines("", " ".join(self.statement.split()), cells, "muted", most=3) if in_full else out


def has_readings(view: View | None) -> bool:
    """Return True if at least one reading of server health exists or has failed."""
    return view is not None and (
        view.server.state is not None or bool(view.server.plans or view.server.jobs or _failures_by_label(view))
    )


def has_bad_reading(view: View | None) -> bool:
    """Return True if a reading shows a problem."""
    return view is not None and any(each.bad for each in _readings(view))


def age_text(view: View | None) -> str:
    """Return a text with the age of the oldest reading of server health."""
    state = view.server.state if view is not None else None
    if view is None or state is None or not state.read_at:
        return ""
    age_s = view.sampled_at - min(state.read_at.values())
    return HealthText.READ_UP_TO.render(age=formatting.whole_seconds(age_s)) if age_s >= 1 else ""


def server_lines(view: View | None, cells: int, rows: int, *, in_full: bool = False) -> list[Line]:
    """Return the panel in at most ``rows`` lines. ``in_full``: include the texts of statements."""
    if view is None:
        return [((f" {ScreenText.NO_FIGURES_YET}", "muted"),)]
    found = sorted(_readings(view), key=lambda each: not each.bad)
    out = [line for each in found for line in each.to_lines(cells, in_full=in_full)]
    if view.server.state is not None:
        out += settings_lines(database_card(view.engine, view.server.state.settings), cells, in_full=in_full)
    for label, words in _failures_by_label(view).items():
        out += entry_lines(label, words, cells, "faint", most=2)
    out = out or [((f" {_unread_text(view)}", "muted"),)]
    return ([*_polling_reading(view).to_lines(cells, in_full=True), *out] if in_full else out)[:rows]


def _failures_by_label(view: View) -> dict[str, str]:
    """Return why lines are missing, keyed by label."""
    return {_LABELS[f.probe]: clean(f.text) for f in view.failures if not f.queue and f.probe in _LABELS}


def _readings(view: View) -> Iterator[_Reading]:
    yield from _state_readings(view)
    for queue in view.server.plans:
        if found := statement_uses(queue.plans):
            yield _plan_reading(queue.queue, found[0])
    for job in view.server.jobs.jobs if view.server.jobs is not None else ():
        yield _job_reading(job)
    if view.server.jobs is not None and view.server.jobs.unread:
        yield _Reading(
            "jobs", (LinePart.from_text(HealthText.UNKNOWN.render(why=clean(view.server.jobs.unread)), "faint"),)
        )
    if view.server.plans and all(queue.unread for queue in view.server.plans):
        yield _Reading("plans", (LinePart.from_text(clean(view.server.plans[0].unread), "faint"),))


def _polling_reading(view: View) -> _Reading:
    """Return a line about the cost of polling: the share of the cost budget, then server time, buffers and CPU time."""
    server, share = view.server, view.server.budget_share
    cost = formatting.UNKNOWN if share is None else formatting.percent(share)
    of = HealthText.COST_OF.render(budget=_budget_text(server.observing))
    parts = [LinePart((("costs ", "muted"), (cost, "text"), (f" {of}", "muted")))]
    if server.server_ms is None:
        client_time = HealthText.CLIENT_TIME.render(duration=formatting.milliseconds(server.client_ms))
        parts.append(LinePart.from_text(client_time, rank=1))
    else:
        expected_ms = server.server_ms if server.observing is None else server.observing.expected_ms
        server_time = HealthText.SERVER_TIME.render(duration=formatting.milliseconds(expected_ms))
        parts.append(LinePart.from_text(server_time, rank=1))
    if server.buffers is not None:
        parts.append(LinePart.from_text(HealthText.BUFFERS.render(count=formatting.count(server.buffers)), "muted", 2))
    if server.cpu_ms is not None:
        parts.append(LinePart.from_text(HealthText.CPU_TIME.render(milliseconds=server.cpu_ms), "muted", 3))
    return _Reading("polling", tuple(parts), bad=share is not None and share > 1)


def _budget_text(observing: PollingCost | None) -> str:
    """Return the cost budget: ``the budget of 1 %``.

    If other qmons poll the database, return this qmon's share of the budget: ``0.33 % (3 qmons)``.
    """
    whole = parse_budget(observing.budget) if observing is not None else None
    if observing is None or whole is None:
        return HealthText.BUDGET
    qmons = observing.qmons or 1
    if qmons < 2:
        return HealthText.BUDGET_OF.render(share=whole.label)
    return HealthText.BUDGET_SHARE.render(share=whole.share_among(qmons).label, count=qmons)


def _job_reading(job: QueueJob) -> _Reading:
    """Return a line about a job step that mentions a queue, with its last result."""
    bad = job.outcome == FAILED_OUTCOME
    parts = [
        LinePart(((shorten(clean(job.job), 40), "strong"), (f" step {job.step}", "muted"))),
        LinePart((("works on ", "muted"), (shorten(clean(job.queue), 20), "text")), 1),
        LinePart.from_text("failed" if bad else "", "alarm"),
        _named_part("last ran ", job.ran_s, _ago_text, 2),
        LinePart.from_text("" if job.enabled else "disabled", "accent"),
    ]
    return _Reading("job", tuple(part for part in parts if part.spans and part.spans[0][0]), bad)


def _state_readings(view: View) -> Iterator[_Reading]:
    state = view.server.state
    if state is None:
        return
    if state.log is not None:
        yield _log_reading(state.log, _LOG_PIECES.get(view.engine, "segments"))
    local, copies = state.local_server, state.replicas
    if local is not None and (copies or local.role):
        yield _local_server_reading(local)
    for copy in copies:
        yield _replica_reading(copy)
    if state.temp_space is not None:
        yield _temp_reading(state.temp_space, state.temp_sessions)
    if state.service is not None:
        yield _service_reading(state.service, state)
    for probe in sorted(state.read_at.keys() - _OWN_LINES):
        found = getattr(state, probe)
        for row in found if isinstance(found, tuple) else [found]:
            yield _plain_reading(_LABELS[probe], row)


def _plain_reading(label: str, row: Any) -> _Reading:
    """Return a line with the values of a row that has no form of its own, named after its fields."""
    shown = ((field.name, getattr(row, field.name)) for field in fields(row))
    parts = (
        _named_part(f"{name.replace('_', ' ')} ", value, _value_text, rank)
        for rank, (name, value) in enumerate(shown)
        if value not in (None, "")
    )
    return _Reading(label, tuple(parts))


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return formatting.number(value) if isinstance(value, int | float) else clean(str(value))


def _log_reading(log: LogSample, pieces: str) -> _Reading:
    used = log_share_used(log)
    bad = used is not None and used >= FILLING
    tone = "text" if used is None else "alarm" if used >= FULL else "accent" if bad else "text"
    parts = [_used_part(log.used, log.total, tone)]
    if used is not None and log.most != log.total:
        of = HealthText.OF_MAXIMUM.render(size=formatting.size(log.most or 0))
        parts.append(LinePart(((formatting.percent(used), tone), (f" {of}", "muted"))))
    elif used is not None:
        parts.append(LinePart.from_text(formatting.percent(used), tone))
    held = (("held by ", "muted"), (clean(log.held_by), tone)) if log.held_by else ((HealthText.NOT_HELD, "muted"),)
    parts.append(LinePart(held))
    parts.append(_named_part("last backup ", log.saved_s, _ago_text, 3))
    many = log.pieces is not None and log.pieces >= _MANY_PIECES
    parts.append(_named_part(f"{pieces} ", log.pieces, formatting.count, 4, "accent" if many else "text"))
    return _Reading("log", tuple(parts), bad)


def _named_part(name: str, value: _V | None, write: Callable[[_V], str], rank: int, tone: str = "text") -> LinePart:
    """Return a value with its name, or no part if the value is unknown."""
    return LinePart(((name, "muted"), (write(value), tone)), rank) if value is not None else LinePart(())


def _ago_text(seconds: float) -> str:
    return HealthText.AGO.render(duration=formatting.duration(seconds))


def _used_part(used: int | None, total: int | None, tone: str) -> LinePart:
    """Return ``700 MB of 4.0 GB used``; no part if the used size is unknown."""
    if used is None:
        return LinePart(())
    of = HealthText.USED if total is None else HealthText.USED_OF.render(size=formatting.size(total))
    return LinePart(((formatting.size(used), tone), (f" {of}", "muted")))


def _temp_reading(temp_space: TempSpaceSample, sessions: tuple[TempSessionSample, ...]) -> _Reading:
    used = temp_share_used(temp_space)
    bad = used is not None and used >= TEMP_FILLING_AT
    tone = "alarm" if bad else "text"
    parts = [_used_part(temp_space.used, temp_space.total, tone)]
    if used is not None:
        of = ""
        if temp_space.most != temp_space.total:
            of = f" {HealthText.OF_MAXIMUM.render(size=formatting.size(temp_space.most or 0))}"
        parts.append(LinePart(((formatting.percent(used), tone), (of, "muted")), 1))
    parts.append(_named_part("row versions ", temp_space.versions, formatting.size, 2))
    parts.append(_named_part("sorts, joins ", temp_space.internal, formatting.size, 3))
    parts.append(_named_part("tables ", temp_space.objects, formatting.size, 4))
    if sessions:
        most = sessions[0]
        who = f" {clean(most.application)}" if most.application else ""
        parts.append(
            LinePart(((f"session {most.session}{who} ", "text"), (formatting.size(most.total_bytes), "strong")), 2)
        )
    return _Reading("tempdb", tuple(parts), bad)


# The limits in display order.
_LIMIT_ORDER: Final = ("cpu", "log_write", "data_io", "workers", "sessions", "storage")


def _service_reading(service: ServiceSample, state: ServerState) -> _Reading:
    limits = state.pool_limits if service.pooled and state.pool_limits is not None else state.limits
    name = service.objective if not service.pooled else f"pool {service.pool}".rstrip()
    parts = [LinePart.from_text(clean(name) or formatting.UNKNOWN, "strong")]
    if service.serverless:
        parts.append(LinePart.from_text("serverless", "text", 1))
    for rank, field in enumerate(_LIMIT_ORDER if limits is not None else ()):
        share = getattr(limits, field)
        full = share is not None and share >= AT_LIMIT_AT
        parts.append(
            _named_part(f"{LIMITED[field]} ", share, formatting.percent, 2 + rank, "alarm" if full else "text")
        )
    return _Reading("service", tuple(parts), bool(limits_reached(limits)))


def _local_server_reading(local: ReplicationSample) -> _Reading:
    spans: list[Span] = [(clean(local.name), "strong")]
    if local.role:
        spans.append((f" {local.role}", "text"))
    parts = [LinePart(tuple(spans)), LinePart.from_text(clean(local.state), "muted", 1)]
    parts.append(_named_part("timeline ", local.timeline, formatting.count, 2))
    if local.host and local.host.casefold() != local.name.casefold():
        parts.append(LinePart(((("on "), "muted"), (clean(local.host), "text")), 2))
    return _Reading("server", tuple(part for part in parts if part.spans and part.spans[0][0]))


def _replica_reading(replica: ReplicationSample) -> _Reading:
    why = stopped_reason(replica)
    late = (replica.behind_s or 0.0) >= BEHIND_S
    state = clean(why or replica.state) or formatting.UNKNOWN
    missing = missing_log_text(replica) or (HealthText.NOTHING_UNSENT if replica.unsent is not None else "")
    parts = [
        LinePart.from_text(clean(replica_text(replica)), "strong"),
        LinePart.from_text(state, "alarm" if why else "text" if replica.healthy is not False else "accent"),
        _named_part(
            "",
            replica.behind_s,
            lambda seconds: HealthText.BEHIND.render(duration=formatting.duration(seconds)),
            1,
            "accent" if late else "text",
        ),
        LinePart.from_text(missing, "accent" if late or why else "muted", 2) if missing else LinePart(()),
    ]
    return _Reading("replica", tuple(parts), bool(why) or late)


def _plan_reading(queue: str, use: StatementUse) -> _Reading:
    """Return a line about the buffers that a queue's most important statement reads per call, now and before."""
    plan, before = use.plan, use.plan_before
    tone = "alarm" if use.is_worse else "text"
    by_plan = HealthText.BY_PLAN.render(plan=clean(plan.plan_id)) if plan.plan_id else ""
    per_call = HealthText.BUFFERS_PER_CALL.render(plan=by_plan)
    parts = [
        LinePart.from_text(shorten(clean(queue), 20), "strong"),
        LinePart(((formatting.number(use.reads or 0.0), tone), (f" {per_call}", "muted"))),
    ]
    if before is not None and use.reads_before is not None:
        by_plan = HealthText.BY_PLAN.render(plan=clean(before.plan_id)) if before.plan_id != plan.plan_id else ""
        then = HealthText.BUFFERS_BEFORE.render(plan=by_plan)
        parts.append(LinePart(((formatting.number(use.reads_before), "text"), (f" {then}", "muted")), 1))
    if use.mean_s is not None:
        took = (("takes ", "muted"), (formatting.milliseconds(use.mean_s * 1000), "text"))
        was = ""
        if use.mean_before_s is not None:
            was = HealthText.TIME_BEFORE.render(duration=formatting.milliseconds(use.mean_before_s * 1000))
        parts.append(LinePart((*took, (was, "muted")), 2))
    if use.is_unexplained:
        parts.append(LinePart.from_text(HealthText.UNEXPLAINED, "accent", 1))
    parts.append(LinePart.from_text("forced" if plan.forced else "", "accent", 3))
    parts.append(LinePart.from_text(clean(plan.routine), "muted", 2))
    return _Reading("plan", tuple(part for part in parts if part.spans[0][0]), use.is_worse, plan.statement)


def _unread_text(view: View) -> str:
    """Return the text for an empty panel."""
    return figures.unread_reason(view, HealthText.SUBJECT, *_LABELS)


class SettingsText(Text):
    """The texts of the card."""

    ONE_HURTS = "1 setting hurts a queue [i]"
    SOME_HURT = "{count} settings hurt a queue [i]"
    HARM = "{setting}: {harm}"
    NOT_REPORTED = "{settings}: {why}"


def settings_lines(settings: Sequence[Setting], cells: int, *, in_full: bool) -> list[Line]:
    """Return the lines of the card. The first line contains the number of settings that hurt a queue.

    If ``in_full``, a line for each of these settings follows.
    """
    hurt = [each for each in settings if each.harm]
    if not in_full:
        told = [_setting_text(each) for each in settings if each.value is not None and not each.harm][:2]
        if hurt:
            told.append(SettingsText.ONE_HURTS if len(hurt) == 1 else SettingsText.SOME_HURT.render(count=len(hurt)))
        return entry_lines("database", "   ".join(told), cells, most=1)
    fine = "   ".join(_setting_text(each) for each in settings if each.value is not None and not each.harm)
    unknown = ", ".join(each.display_name for each in settings if each.value is None)
    out = entry_lines("database", fine, cells, most=4)
    for each in hurt:
        harm = SettingsText.HARM.render(setting=_setting_text(each), harm=each.harm)
        out += entry_lines("hurts", harm, cells, "accent", most=3)
    words = SettingsText.NOT_REPORTED.render(settings=unknown, why=NOT_REPORTED) if unknown else ""
    return out + entry_lines("unknown", words, cells, "faint", most=3)


def _setting_text(setting: Setting) -> str:
    return f"{setting.name} {setting.value}" + (f" ({setting.object})" if setting.object else "")
