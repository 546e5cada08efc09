"""Minutes and hours computed from recordings by their documentation alone: FORMAT.md and the page about the lake.

Uses zstandard and json only. This module must not import qmon, so that an error in qmon's reader cannot hide here.
"""

from __future__ import annotations

import io
import json
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import zstandard

Row = dict[str, Any]
Key = tuple[str, str, float]

# A poll covers at most this time, and longer readings of counters are not split.
LONGEST_POLL_S, LONGEST_COUNTERS_S = 150, 600
MEANS = {"ready": "ready", "oldest": "oldest_s", "in_progress": "in_progress"}
MOVED = ("pushed", "popped", "completed")
PER_QUEUE = ("span_s", *MOVED, *MEANS.values(), "dead")


def read_lines(root: Path) -> Iterator[tuple[str, Row, Row]]:
    """Yield the target, the origin and the figures of each line of sealed segments. Each line is yielded once."""
    seen = set()
    for path in sorted(root.glob("target=*/date=*/*.jsonl.zst")):
        if path.name.startswith("_"):
            continue
        target = unquote(path.parts[-3].removeprefix("target="))
        origin: Row = {"zone": "UTC", "environment": None}
        stream = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(path.read_bytes()), read_across_frames=True)
        for text in stream.read().decode("utf-8").splitlines():
            line = json.loads(text)
            if line["k"] == "session":
                origin = {name: line["session"].get(name) or value for name, value in origin.items()}
            elif line["k"] == "figures" and (target, line["r"], line["n"]) not in seen:
                seen.add((target, line["r"], line["n"]))
                yield target, origin, line["figures"] | {"recorder": line["r"]}


def minutes_and_hours(root: Path) -> dict[int, dict[Key, Row]]:
    """Return the rows of the tables ``minutes`` (60) and ``hours`` (3600), by target, queue and start."""
    shares: dict[Key, dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for target, origin, line in read_lines(root):
        for place, queue in enumerate(line.get("queue", ())):
            figures = {name: line[name][place] for name in PER_QUEUE if line.get(name)}
            for start, share in _share_out(line, figures, origin):
                shares[target, queue, start][line["recorder"]].append(share)
    counted = {}
    for key, each in shares.items():
        watched = {recorder: round(sum(share["watched"] for share in rows), 3) for recorder, rows in each.items()}
        counted[key] = each[min(each, key=lambda recorder: (-watched[recorder], recorder))]
    by_hour: dict[Key, list[Row]] = defaultdict(list)
    for (target, queue, start), rows in counted.items():
        by_hour[target, queue, start // 3600 * 3600] += rows
    return {
        60: {key: _add_up(rows) for key, rows in counted.items()},
        3600: {key: _add_up(rows) | _percentiles(rows) for key, rows in by_hour.items()},
    }


def _share_out(line: Row, figures: Row, origin: Row) -> Iterator[tuple[float, Row]]:
    """Yield the part of a sample in each minute that its poll or its counters cover."""
    at, poll_s, span_s = line["sampled_at"], line.get("poll_s") or 0.0, figures.get("span_s") or 0.0
    own = at // 60 * 60
    poll_s = poll_s if 0 < poll_s <= LONGEST_POLL_S else 0.0
    known = span_s > 0 and figures.get("pushed") is not None and figures.get("popped") is not None
    reach = max(poll_s, span_s if known and span_s <= LONGEST_COUNTERS_S else 0.0)
    start = own
    while True:
        # Times relative to the sample lose no digits.
        begin, end = start - at, min(start + 60 - at, 0.0)
        watched = max(0.0, end - max(begin, -poll_s))
        flow_s = max(0.0, end - max(begin, -span_s)) if known else 0.0
        if known and span_s > LONGEST_COUNTERS_S:
            flow_s = span_s if start == own else 0.0
        part = {"at": at, "origin": origin, "ends": start == own, "watched": watched, "flow_s": flow_s}
        part |= {name: figures.get(column) if watched or start == own else None for name, column in MEANS.items()}
        part |= {name: None if not flow_s else _times(figures.get(name), flow_s / span_s) for name in MOVED}
        yield start, part | {"dead": figures.get("dead")}
        if -begin >= reach:
            return
        start -= 60


def _times(value: float | None, share: float) -> float | None:
    return None if value is None else value * share


def _add_up(rows: list[Row]) -> Row:
    found: Row = {
        "samples": sum(row["ends"] for row in rows),
        "seconds": math.fsum(row["watched"] for row in rows),
        "flow_s": math.fsum(row["flow_s"] for row in rows),
    }
    for name in MOVED:
        moved = [row[name] for row in rows if row[name] is not None]
        found[name] = math.fsum(moved) if moved else None
    for name in MEANS:
        known = [(row[name], row["watched"]) for row in rows if row[name] is not None]
        found[f"{name}_s"] = math.fsum(value * watched for value, watched in known) if known else None
        found[f"{name}_known_s"] = math.fsum(watched for _, watched in known) if known else None
        found[f"{name}_max"] = max((value for value, watched in known if watched > 0), default=None)
    for name in ("ready", "dead"):
        last = [(row["at"], row[name]) for row in rows if row["ends"] and row[name] is not None]
        found[f"{name}_last"] = max(last)[1] if last else None
    origin: Row = max(rows, key=lambda row: float(row["at"]))["origin"]
    return found | origin


def _percentiles(rows: list[Row]) -> Row:
    found: Row = {}
    for name in ("ready", "oldest"):
        known = sorted((row[name], row["watched"]) for row in rows if row[name] is not None and row["watched"] > 0)
        whole = math.fsum(watched for _, watched in known)
        for label, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            so_far, found[f"{name}_{label}"] = 0.0, None
            for value, watched in known:
                so_far += watched
                if so_far >= share * whole - 1e-9:
                    found[f"{name}_{label}"] = value
                    break
    return found
