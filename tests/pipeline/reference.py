"""The pipeline in plain Python: the expected content of its tables, computed row by row without Spark."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

Row = dict[str, Any]


def rounded(value: float) -> float:
    """Round a value as histograms do: to seven binary places, half to even."""
    if value <= 0:
        return value
    step = 2.0 ** (math.frexp(value)[1] - 7)
    return round(value / step) * step


def unique(rows: Iterable[Row]) -> list[Row]:
    """Return each queue once for each recorder and number."""
    found = {(row["target"], row["recorder"], row["sequence"], row["queue"]): row for row in rows}
    return [found[key] for key in sorted(found)]


def _pieces(at: float, seconds: float) -> dict[float, float]:
    """Return the parts of the seconds before ``at`` that are in each minute, by the start of the minute."""
    found, end, begin = {}, Fraction(at), Fraction(at) - Fraction(seconds)
    minute = int(begin // 60) * 60
    while minute < end:
        found[float(minute)] = float(min(end, Fraction(minute + 60)) - max(begin, Fraction(minute)))
        minute += 60
    return found


def measured(rows: list[Row]) -> list[Row]:
    """Return a row for each sample and each minute that it covers, with its seconds in this minute.

    If several recorders cover a minute, the one that watched it longest counts. Moved messages are shared out by time.
    """
    watched: dict[tuple[str, str, float], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    out = []
    for row in rows:
        at, span = row["sampled_at"], row.get("poll_s") or 0.0
        spans = _pieces(at, span) if 0 < span <= 150 else {}
        moved = row.get("span_s") or 0.0
        flowing = moved > 0 and row.get("pushed") is not None and row.get("popped") is not None
        own = at // 60 * 60
        flows = {} if not flowing else _pieces(at, moved) if moved <= 600 else {own: moved}
        for minute in sorted({own} | spans.keys() | flows.keys()):
            piece = row | {"span": spans.get(minute, 0.0), "flow": flows.get(minute, 0.0), "minute": minute}
            piece |= {"ends": minute == own, "flowing": minute in flows}
            for name in ("pushed", "popped", "completed"):
                if piece["flowing"] and row.get(name) is not None:
                    piece[name] = row[name] * (piece["flow"] / moved)
            if minute not in spans and minute != own:
                piece |= {"ready": None, "oldest_s": None, "in_progress": None}
            watched[row["target"], row["queue"], minute][row["recorder"]] += piece["span"]
            out.append(piece)
    best = {key: min(each, key=lambda r: (-round(each[r], 3), r)) for key, each in watched.items()}
    return [row for row in out if best[row["target"], row["queue"], row["minute"]] == row["recorder"]]


def percentile(values: list[tuple[float, int]], share: float) -> float | None:
    """Return the weighted percentile: sort the values, repeat each by its weight, and take the first at the rank."""
    ordered = sorted((value, weight) for value, weight in values if weight > 0)
    wanted = math.ceil(share * sum(weight for _, weight in ordered))
    for value, weight in ordered:
        wanted -= weight
        if wanted <= 0:
            return value
    return None


def rollup(rows: list[Row], seconds: int) -> dict[tuple[str, str, float], Row]:
    """Return the sums of each interval, by target, queue and start."""
    stretches: dict[tuple[str, str, float], list[Row]] = defaultdict(list)
    for row in rows:
        stretches[row["target"], row["queue"], row["minute"] // seconds * seconds].append(row)
    return {key: _summed(each, seconds > 60) for key, each in stretches.items()}


def _summed(rows: list[Row], tails: bool) -> Row:
    found: Row = {"samples": sum(row["ends"] for row in rows)}
    found["seconds"] = math.fsum(row["span"] for row in rows)
    found["flow_s"] = math.fsum(row["flow"] for row in rows)
    for name in ("pushed", "popped", "completed"):
        moved = [row[name] for row in rows if row["flowing"] and row.get(name) is not None]
        found[name] = math.fsum(moved) if moved else None
    for name, figure in (("ready", "ready"), ("oldest", "oldest_s"), ("in_progress", "in_progress")):
        known = [(row[figure], row["span"]) for row in rows if row.get(figure) is not None]
        found[f"{name}_s"] = math.fsum(value * span for value, span in known) if known else None
        found[f"{name}_known_s"] = math.fsum(span for _, span in known) if known else None
        found[f"{name}_max"] = max((value for value, span in known if span > 0), default=None)
        if tails and name != "in_progress":
            weighted = [(rounded(value), math.floor(span * 1000 + 0.5)) for value, span in known]
            for share, label in ((0.5, "p50"), (0.95, "p95"), (0.99, "p99")):
                found[f"{name}_{label}"] = percentile(weighted, share)
    for name, figure in (("ready_last", "ready"), ("dead_last", "dead")):
        last = [(row["sampled_at"], row[figure]) for row in rows if row["ends"] and row.get(figure) is not None]
        found[name] = max(last)[1] if last else None
    return found


def incidents(rows: list[Row], gap_s: float = 120.0) -> list[Row]:
    """Return incidents of each queue, of all days together, in order."""
    by_queue: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.get("severity", 0) >= 2:
            by_queue[row["target"], row["queue"]].append(row)
    found = []
    for (target, queue), bad in sorted(by_queue.items()):
        stretches: list[list[Row]] = []
        for row in sorted(bad, key=lambda r: float(r["sampled_at"])):
            if not stretches or row["sampled_at"] - stretches[-1][-1]["sampled_at"] > gap_s:
                stretches.append([])
            stretches[-1].append(row)
        found += [_incident(target, queue, each) for each in stretches]
    return found


def _incident(target: str, queue: str, rows: list[Row]) -> Row:
    seen: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        seen[row["verdict"]].append(row)
    codes = sorted(seen, key=lambda c: (-max(r["severity"] for r in seen[c]), -len(seen[c]), c))
    known = [row for row in rows if row.get("ready") is not None]
    peak = min(known, key=lambda r: (-r["ready"], r["sampled_at"])) if known else None
    return {
        "target": target,
        "queue": queue,
        "cause": codes[0],
        "codes": codes,
        "start_at": min(min(row.get("since_at") or row["sampled_at"], row["sampled_at"]) for row in rows),
        "end_at": max(row["sampled_at"] for row in rows),
        "severity": max(row["severity"] for row in rows),
        "samples": len(rows),
        "proof": min(seen[codes[0]], key=lambda r: float(r["sampled_at"]))["proof"],
        "peak_ready": peak["ready"] if peak else None,
        "peak_at": peak["sampled_at"] if peak else None,
    }


def date(at: float) -> str:
    """Return the day in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d")


def level(rows: Iterable[Row], figure: str, below: float, since: float, until: float) -> tuple[float, float]:
    """Return the seconds of a queue's samples with a known figure, and those with the figure at the limit.

    Values are rounded as in the lake. An empty queue, whose oldest message is unknown, counts as known.
    """
    counted = bad = 0.0
    for row in rows:
        if not since <= row["minute"] < until:
            continue
        value = row.get(figure)
        counted += row["span"] if value is not None or (figure == "oldest_s" and row.get("ready") == 0) else 0.0
        if value:
            _, exponent = math.frexp(value)
            step = 2.0 ** (exponent - 7)
            bad += row["span"] if round(value / step) * step >= below else 0.0
    return counted, bad


def troubled(found: Iterable[Row], since: float, until: float) -> dict[tuple[str, str], tuple[float, int]]:
    """Return the seconds in incidents and their number, by target and queue. Overlapping seconds count once."""
    spans: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for row in found:
        if row["end_at"] >= since and row["start_at"] < until:
            spans[row["target"], row["queue"]].append((max(since, row["start_at"]), min(until, row["end_at"])))
    out = {}
    for key, each in spans.items():
        edges = sorted({edge for span in each for edge in span})
        inside = [(a, b) for a, b in itertools.pairwise(edges) if any(s <= a and b <= e for s, e in each)]
        out[key] = (math.fsum(b - a for a, b in inside), len(each))
    return out


def watched(hours: dict[tuple[str, str, float], Row], since: float, until: float) -> dict[str, float]:
    """Return the watched seconds of each target: for each hour, those of the queue that was watched longest."""
    longest: dict[tuple[str, float], float] = defaultdict(float)
    for (target, _, at), row in hours.items():
        if since <= at < until:
            longest[target, at] = max(longest[target, at], row["seconds"])
    out: dict[str, float] = defaultdict(float)
    for (target, _), seconds in longest.items():
        out[target] += seconds
    return dict(out)
