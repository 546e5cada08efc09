"""Writes the first lines of a report: a summary in words, and the three things to look at first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal

from qmon.pipeline.report.facts import ReportFacts
from qmon.pipeline.report.period import Key, Row
from qmon.pipeline.report.report_formatting import (
    change_text,
    day_time_text,
    duration_text,
    good_share_text,
    percent_text,
)
from qmon.pipeline.report.tables import outgrown_text
from qmon.texts import Text


class HeadlineText(Text):
    """The first sentences of a report. ``were``: ``was`` or ``were``, as the queues need it."""

    QUEUES = "{count:,} queues"
    NOT_WATCHED = "{queues} {were} not watched for long enough."
    ALWAYS_HEALTHY = "{queues} {were} healthy during all of the time watched."
    HEALTHY_FOR = "{queues} {were} healthy for {share} of the time watched, with {incidents}{longest}."
    ONE_INCIDENT = "one incident"
    INCIDENTS = "{count:,} incidents"
    THE_INCIDENT = ": {queue}, {cause}, for {duration} from {start}"
    LONGEST_INCIDENT = "; the longest incident: {queue}, {cause}, for {duration} from {start}"
    PARTLY_WATCHED = " Only {share} of the period was watched."


class LookText(Text):
    """Things to look at first."""

    MISSED = "{queue}: {goal} was missed: {share}, {over} over the error budget"
    BUDGET_LOW = "{queue}: {goal}: {left} of the error budget is left and lasts {duration} at the last day's rate"
    INCIDENT = "{queue}: {cause} for {duration} from {start}"
    ONE_OF_INCIDENTS = "{incident}, one of {count:,} incidents, {duration} in total"
    OUTGROWN = "{queue}: pushes are growing and reach the pop rate of the best hour {time}"
    WATCHED = "{target} was watched for {share} of the time"
    LONGEST_GAP = "{watched}; the longest gap is {duration} from {start}"
    UNUSUAL = "{queue}: {description}, for {duration} from {start}"
    OLDER = "{queue}: the p95 age is {now}, was {before} before ({change})"


MAX_THINGS: Final = 3

# Maximum number of queues to name. If there are more queues, only the number of queues is given.
_MAX_NAMED: Final = 3
_SOON_DAYS: Final = 60.0

# An error budget that will be used up within this time is listed.
_BUDGET_SHORT_S: Final = 3 * 86_400.0

# A target is listed if it was watched for less than this share of the time.
_WATCHED_SHARE: Final = 0.95
_WORSE_RATIO: Final = 1.5

# Minimum age in seconds. A lower age is not listed, even if it has grown a lot.
_LEAST_AGE_S: Final = 10.0

About = Literal["level", "incident", "capacity", "coverage", "unusual", "change"]


@dataclass(frozen=True, slots=True)
class Thing:
    """Something to look at. ``about``: its kind. ``place``: its index in the list of incidents or levels.

    ``queue``: empty for a thing that concerns a whole target.
    """

    about: About
    text: str
    target: str
    queue: str = ""
    place: int = 0


def healthy_share(facts: ReportFacts) -> float | None:
    """Return the share of the watched time in which there was no incident, over all queues together."""
    if not facts.watched_s:
        return None
    return max(0.0, 1 - sum(each.seconds for each in facts.trouble.values()) / facts.watched_s)


def headline(facts: ReportFacts) -> str:
    """Summarize the period in one or two sentences."""
    count = len(facts.queues) + facts.left_out
    names = [each.queue for each in facts.queues]
    share = healthy_share(facts)
    queues = _joined_names(names) if count <= _MAX_NAMED else HeadlineText.QUEUES.render(count=count)
    were = "was" if count == 1 else "were"
    if share is None:
        return HeadlineText.NOT_WATCHED.render(queues=queues, were=were)
    if not facts.trouble:
        return HeadlineText.ALWAYS_HEALTHY.render(queues=queues, were=were) + _unwatched_text(facts)
    number = sum(each.incidents for each in facts.trouble.values())
    longest = max(facts.incidents, key=lambda row: _lasted_s(facts, row), default=None)
    text = HeadlineText.HEALTHY_FOR.render(
        queues=queues,
        were=were,
        share=good_share_text(share),
        incidents=HeadlineText.ONE_INCIDENT if number == 1 else HeadlineText.INCIDENTS.render(count=number),
        longest=""
        if longest is None
        else (HeadlineText.THE_INCIDENT if number == 1 else HeadlineText.LONGEST_INCIDENT).render(
            queue=queue_name(facts, _queue_key(longest)),
            cause=longest["cause"],
            duration=duration_text(_lasted_s(facts, longest)),
            start=day_time_text(max(longest["start_at"], facts.period.start)),
        ),
    )
    return text + _unwatched_text(facts)


def queue_name(facts: ReportFacts, key: Key) -> str:
    """Return a queue's name, with its target if the report has several targets."""
    target, queue = key
    return queue if len({each.target for each in facts.targets} | {target}) == 1 else f"{target} · {queue}"


def things_to_look_at(facts: ReportFacts) -> tuple[Thing, ...]:
    """Return what to look at first.

    The list takes the worst item of each kind, then the second worst of each kind, and so on. A queue is listed a
    second time only if no other queue is left.
    """
    kinds = (
        _level_things(facts),
        _incident_things(facts),
        _capacity_things(facts),
        _coverage_things(facts),
        _unusual_things(facts),
        _change_things(facts),
    )
    in_turn = [each for turn in zip_longest(*kinds) for each in turn if each is not None]
    first: list[Thing] = []
    again: list[Thing] = []
    for each in in_turn:
        known = {(one.target, one.queue) for one in first}
        (again if (each.target, each.queue) in known else first).append(each)
    return tuple((first + again)[:MAX_THINGS])


def _level_things(facts: ReportFacts) -> Iterator[Thing]:
    for place, each in enumerate(facts.levels):
        left, burn = each.budget_left, each.burn_rate
        queue = queue_name(facts, (each.target, each.queue))
        if left is not None and left < 0:
            over = duration_text(round(each.bad_s - each.budget_s, 3))
            text = LookText.MISSED.render(queue=queue, goal=each.goal, share=good_share_text(each.share), over=over)
            yield Thing("level", text, each.target, each.queue, place)
        elif left is not None and burn and (lasts_s := left / burn * each.objective.window_s) < _BUDGET_SHORT_S:
            text = LookText.BUDGET_LOW.render(
                queue=queue, goal=each.goal, left=percent_text(left), duration=duration_text(lasts_s)
            )
            yield Thing("level", text, each.target, each.queue, place)


def _incident_things(facts: ReportFacts) -> Iterator[Thing]:
    by_queue: dict[Key, list[tuple[int, Row]]] = defaultdict(list)
    for place, row in enumerate(facts.incidents):
        by_queue[_queue_key(row)].append((place, row))
    worst = sorted(
        by_queue.items(),
        key=lambda each: (-max(row["severity"] for _, row in each[1]), -facts.trouble[each[0]].seconds, each[0]),
    )
    for key, rows in worst:
        place, row = max(rows, key=lambda each: (each[1]["severity"], _lasted_s(facts, each[1])))
        at, lasted = day_time_text(max(row["start_at"], facts.period.start)), duration_text(_lasted_s(facts, row))
        text = LookText.INCIDENT.render(queue=queue_name(facts, key), cause=row["cause"], duration=lasted, start=at)
        if (count := facts.trouble[key].incidents) > 1:
            total = duration_text(facts.trouble[key].seconds)
            text = LookText.ONE_OF_INCIDENTS.render(incident=text, count=count, duration=total)
        yield Thing("incident", text, *key, place)


def _capacity_things(facts: ReportFacts) -> Iterator[Thing]:
    soon = [q for q in facts.queues if q.capacity.outgrown_days is not None and q.capacity.outgrown_days <= _SOON_DAYS]
    for q in sorted(soon, key=lambda queue: (queue.capacity.outgrown_days or 0.0, queue.key)):
        text = LookText.OUTGROWN.render(queue=queue_name(facts, q.key), time=outgrown_text(q))
        yield Thing("capacity", text, *q.key)


def _coverage_things(facts: ReportFacts) -> Iterator[Thing]:
    for each in facts.targets:
        if each.share < _WATCHED_SHARE:
            text = LookText.WATCHED.render(target=each.target, share=good_share_text(each.share))
            if each.gap_at is not None:
                text = LookText.LONGEST_GAP.render(
                    watched=text, duration=duration_text(each.gap_s), start=day_time_text(each.gap_at)
                )
            yield Thing("coverage", text, each.target)


def _unusual_things(facts: ReportFacts) -> Iterator[Thing]:
    found = [q.unusual[0] for q in facts.queues if q.unusual]
    for each in sorted(found, key=lambda each: (-each.distance, each.target, each.queue)):
        text = LookText.UNUSUAL.render(
            queue=queue_name(facts, (each.target, each.queue)),
            description=each.description,
            duration=duration_text(each.end - each.start),
            start=day_time_text(each.start),
        )
        yield Thing("unusual", text, each.target, each.queue)


def _change_things(facts: ReportFacts) -> Iterator[Thing]:
    ages = [
        (q.whole["oldest_p95"] / q.before["oldest_p95"], q)
        for q in facts.queues
        if q.before is not None and q.before["oldest_p95"] and (q.whole["oldest_p95"] or 0.0) >= _LEAST_AGE_S
    ]
    for ratio, q in sorted(ages, key=lambda each: (-each[0], each[1].key)):
        if ratio >= _WORSE_RATIO and q.before is not None:
            now, then = q.whole["oldest_p95"], q.before["oldest_p95"]
            text = LookText.OLDER.render(
                queue=queue_name(facts, q.key),
                now=duration_text(now),
                before=duration_text(then),
                change=change_text(now, then),
            )
            yield Thing("change", text, *q.key)


def _unwatched_text(facts: ReportFacts) -> str:
    """Return a sentence about the share of time watched, or an empty text if nearly all of the time was watched."""
    length = (facts.period.end - facts.period.start) * len(facts.targets)
    share = sum(each.seconds for each in facts.targets) / length if length else 1.0
    return HeadlineText.PARTLY_WATCHED.render(share=good_share_text(share)) if share < _WATCHED_SHARE else ""


def _lasted_s(facts: ReportFacts, row: Row) -> float:
    """Return for how many seconds of the period an incident lasted."""
    return float(min(row["end_at"], facts.period.end) - max(row["start_at"], facts.period.start))


def _queue_key(row: Row) -> Key:
    return row["target"], row["queue"]


def _joined_names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
