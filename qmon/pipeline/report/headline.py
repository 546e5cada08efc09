"""The first lines of a report: a summary in words, and the three things to look at first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal

from qmon.pipeline.report.facts import ReportFacts
from qmon.pipeline.report.period import Key, Row
from qmon.pipeline.report.text import change, day_time, good_share, percent, seconds

MOST: Final = 3

# Up to this many queues are named. If there are more, their number is given.
_NAMED: Final = 3
_SOON_DAYS: Final = 60.0

# A budget that will be used up within this time is listed.
_SHORT_S: Final = 3 * 86_400.0

# A target watched for a smaller share than this is listed.
_WATCHED: Final = 0.95
_WORSE: Final = 1.5

# Lower ages are never listed, however much they have grown.
_LEAST_AGE_S: Final = 10.0

About = Literal["level", "incident", "capacity", "coverage", "unusual", "change"]


@dataclass(frozen=True, slots=True)
class Thing:
    """Something to look at. ``about``: its kind. ``place``: the index of an incident or level in its list.

    ``queue``: empty if it concerns a whole target.
    """

    about: About
    text: str
    target: str
    queue: str = ""
    place: int = 0


def healthy(facts: ReportFacts) -> float | None:
    """Return the share of the watched time, summed over all queues, without incidents."""
    if not facts.watched_s:
        return None
    return max(0.0, 1 - sum(each.seconds for each in facts.trouble.values()) / facts.watched_s)


def headline(facts: ReportFacts) -> str:
    """Summarize the period in one or two sentences."""
    count = len(facts.queues) + facts.left_out
    names = [each.queue for each in facts.queues]
    share = healthy(facts)
    who = _listed(names) if count <= _NAMED else f"{count:,} queues"
    be = "was" if count == 1 else "were"
    if share is None:
        return f"{who} {be} not watched for long enough to say anything."
    if not facts.trouble:
        return f"{who} {be} healthy for all of the time watched.{_unwatched(facts)}"
    number = sum(each.incidents for each in facts.trouble.values())
    told = "one incident" if number == 1 else f"{number:,} incidents"
    longest = max(facts.incidents, key=lambda row: _lasted(facts, row), default=None)
    text = f"{who} {be} healthy {good_share(share)} of the time watched, with {told}"
    if longest is not None:
        which = ": " if number == 1 else "; the longest: "
        lasted, at = seconds(_lasted(facts, longest)), day_time(max(longest["start_at"], facts.period.start))
        text += f"{which}{name(facts, _key(longest))}, {longest['cause']}, for {lasted} from {at}"
    return f"{text}.{_unwatched(facts)}"


def name(facts: ReportFacts, key: Key) -> str:
    """Return a queue's name, with its target if the report has several targets."""
    target, queue = key
    return queue if len({each.target for each in facts.targets} | {target}) == 1 else f"{target} · {queue}"


def things(facts: ReportFacts) -> tuple[Thing, ...]:
    """Return what to look at first: the worst of each kind in turn, each queue once while there are others."""
    kinds = (_levels(facts), _incidents(facts), _capacity(facts), _coverage(facts), _unusual(facts), _changes(facts))
    in_turn = [each for turn in zip_longest(*kinds) for each in turn if each is not None]
    first: list[Thing] = []
    again: list[Thing] = []
    for each in in_turn:
        known = {(one.target, one.queue) for one in first}
        (again if (each.target, each.queue) in known else first).append(each)
    return tuple((first + again)[:MOST])


def _levels(facts: ReportFacts) -> Iterator[Thing]:
    for place, each in enumerate(facts.levels):
        left, burn = each.budget_left, each.burn_rate
        who = f"{name(facts, (each.target, each.queue))}: {each.goal}"
        if left is not None and left < 0:
            over = seconds(round(each.bad_s - each.budget_s, 3))
            text = f"{who} was missed: {good_share(each.share)}, {over} more than the budget"
            yield Thing("level", text, each.target, each.queue, place)
        elif left is not None and burn and (lasts_s := left / burn * each.objective.window_s) < _SHORT_S:
            text = f"{who}: {percent(left)} of the budget is left, used up in {seconds(lasts_s)} at the last day's rate"
            yield Thing("level", text, each.target, each.queue, place)


def _incidents(facts: ReportFacts) -> Iterator[Thing]:
    by_queue: dict[Key, list[tuple[int, Row]]] = defaultdict(list)
    for place, row in enumerate(facts.incidents):
        by_queue[_key(row)].append((place, row))
    worst = sorted(
        by_queue.items(),
        key=lambda each: (-max(row["severity"] for _, row in each[1]), -facts.trouble[each[0]].seconds, each[0]),
    )
    for key, rows in worst:
        place, row = max(rows, key=lambda each: (each[1]["severity"], _lasted(facts, each[1])))
        at, lasted = day_time(max(row["start_at"], facts.period.start)), seconds(_lasted(facts, row))
        text = f"{name(facts, key)}: {row['cause']} for {lasted} from {at}"
        if (count := facts.trouble[key].incidents) > 1:
            text += f", one of {count:,} incidents of {seconds(facts.trouble[key].seconds)} in all"
        yield Thing("incident", text, *key, place)


def _capacity(facts: ReportFacts) -> Iterator[Thing]:
    soon = [q for q in facts.queues if q.capacity.outgrown_days is not None and q.capacity.outgrown_days <= _SOON_DAYS]
    for q in sorted(soon, key=lambda q: (q.capacity.outgrown_days or 0.0, q.key)):
        can = q.capacity
        when = f"in {can.outgrown_days:,.0f} days ({can.earliest_days:,.0f} to {can.latest_days:,.0f})"
        text = f"{name(facts, q.key)}: pushes grow, and reach what its best hour popped"
        text += f" {when}" if can.outgrown_days else " now"
        yield Thing("capacity", text, *q.key)


def _coverage(facts: ReportFacts) -> Iterator[Thing]:
    for each in facts.targets:
        if each.share < _WATCHED:
            text = f"{each.target} was watched {good_share(each.share)} of the time"
            if each.gap_at is not None:
                text += f"; nothing for {seconds(each.gap_s)} from {day_time(each.gap_at)}"
            yield Thing("coverage", text, each.target)


def _unusual(facts: ReportFacts) -> Iterator[Thing]:
    found = [q.unusual[0] for q in facts.queues if q.unusual]
    for each in sorted(found, key=lambda each: (-each.distance, each.target, each.queue)):
        who, lasted = name(facts, (each.target, each.queue)), seconds(each.end - each.start)
        text = f"{who}: {each.words}, for {lasted} from {day_time(each.start)}"
        yield Thing("unusual", text, each.target, each.queue)


def _changes(facts: ReportFacts) -> Iterator[Thing]:
    ages = [
        (q.whole["oldest_p95"] / q.before["oldest_p95"], q)
        for q in facts.queues
        if q.before is not None and q.before["oldest_p95"] and (q.whole["oldest_p95"] or 0.0) >= _LEAST_AGE_S
    ]
    for ratio, q in sorted(ages, key=lambda each: (-each[0], each[1].key)):
        if ratio >= _WORSE and q.before is not None:
            now, then = q.whole["oldest_p95"], q.before["oldest_p95"]
            text = f"{name(facts, q.key)}: p95 of the age {seconds(now)}, before {seconds(then)} ({change(now, then)})"
            yield Thing("change", text, *q.key)


def _unwatched(facts: ReportFacts) -> str:
    """Return a sentence about the share of time watched, or empty if it is nearly all."""
    length = (facts.period.end - facts.period.start) * len(facts.targets)
    share = sum(each.seconds for each in facts.targets) / length if length else 1.0
    return f" Only {good_share(share)} of the time was watched." if share < _WATCHED else ""


def _lasted(facts: ReportFacts, row: Row) -> float:
    """Return the seconds of an incident within the period."""
    return float(min(row["end_at"], facts.period.end) - max(row["start_at"], facts.period.start))


def _key(row: Row) -> Key:
    return row["target"], row["queue"]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
