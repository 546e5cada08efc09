"""Lines as columns without Spark: each line's values, whatever the other lines are, compared with plain JSON."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from qmon.recording.figure_rows.line_rows import rows_from_lines
from qmon.recording.figure_rows.segment_lines import BadLineText, RecordedSession, SegmentLine, parse_segment
from tests.pipeline.comparing import START
from tests.pipeline.recordings import Watched, rows

FILE = "file:/r/target=shop/x.jsonl.zst"


def staged(reads: list[SegmentLine]) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each kind."""
    found: dict[str, list[dict[str, Any]]] = {"poll": [], "sample": [], "operation": [], "bad": []}
    for batch in rows_from_lines(FILE, reads):
        for row in batch.to_pylist():
            found[row["kind"]].append(row | (row.pop("line") or {}))
    return found


def samples(rows: list[dict[str, Any]]) -> dict[tuple[int, str], dict[str, Any]]:
    """Return one row per queue and line, by the line's number and the queue's name, without unknown figures."""
    found = {}
    for row in rows:
        key = row["sequence"], row.pop("queue")
        assert key not in found
        found[key] = {name: value for name, value in row.items() if value is not None}
    return found


def read(*texts: str | bytes) -> list[SegmentLine]:
    """Return lines as read from a segment of the target ``shop``."""
    raw = [text.encode() if isinstance(text, str) else text for text in texts]
    return [SegmentLine(place, RecordedSession("shop"), "figures", text) for place, text in enumerate(raw, 1)]


def line(number: int, **figures: Any) -> str:
    """Return a line about two queues."""
    said = {"sequence": number, "sampled_at": START + number, "queue": ["a", "b"]} | figures
    return json.dumps({"v": 1, "r": "r1", "n": number, "at": START, "k": "figures", "figures": said})


def test_every_sample_of_a_segment_is_there_once(tmp_path: Path) -> None:
    """Over midnight."""
    watched = Watched(tmp_path, "shop", "aaaaaaaaaaaa", "Europe/Berlin")
    paths = watched.record(START + 600, 600, seed=3, trouble=range(5, 90))
    found: dict[tuple[int, str], dict[str, Any]] = {}
    for path in paths:
        found |= samples(staged(list(parse_segment(path.as_uri(), path.read_bytes())))["sample"])
    wanted = {
        (row["sequence"], row["queue"]): {name: value for name, value in row.items() if value is not None}
        for row in rows(watched.written)
    }
    assert found.keys() == wanted.keys()
    assert {str(each["date"]) for each in found.values()} == {"2026-10-24", "2026-10-25"}
    for key, row in wanted.items():
        assert {name: found[key].get(name) for name in row if name != "queue"} == {
            name: value for name, value in row.items() if name != "queue"
        }


NO_LINES = {
    "broken": ('{"k":"figures" broken', BadLineText.NOT_READABLE),
    "two on a line": (f"{line(7)} {line(8)}", BadLineText.NOT_READABLE),
    "half of one": (line(7)[:60], BadLineText.NOT_READABLE),
    "no text": (line(7, ready=["x", "y"]), BadLineText.NOT_READABLE),
    "no number": (line(7).replace('"n": 7', '"n": null'), BadLineText.INCOMPLETE),
    "no time": (line(7, sampled_at=0), BadLineText.INCOMPLETE),
    "not a day": (line(7, sampled_at=1e300), BadLineText.INCOMPLETE),
    "a day too late": (
        line(7, sampled_at=START + 86_401),
        BadLineText.WRONG_CLOCK,
    ),
    "years too early": (
        line(7, sampled_at=86_400.0),
        BadLineText.WRONG_CLOCK,
    ),
    "no time of writing": (
        line(7).replace(f'"at": {START}', '"at": null'),
        BadLineText.INCOMPLETE,
    ),
    "newer": (line(7).replace('"v": 1', '"v": 2'), BadLineText.NEWER.render(version=2)),
    "newer, of another shape": (
        '{"v":4,"r":4,"n":"x","k":"figures","figures":[]}',
        BadLineText.NEWER.render(version=4),
    ),
    "uneven": (line(7, ready=[1.0]), BadLineText.UNEVEN),
    "no UTF-8": (b'{"v":1,"k":"figures\xff"', BadLineText.NOT_READABLE),
}


@pytest.mark.parametrize(("text", "reason"), NO_LINES.values(), ids=NO_LINES)
def test_a_bad_line_costs_no_other(text: str | bytes, reason: str) -> None:
    found = staged(read(line(1, ready=[1.0, None]), line(2), text, line(3, ready=[5, 6])))
    assert [(row["file"], row["place"], row["reason"]) for row in found["bad"]] == [(FILE, 3, reason)]
    assert [row["sequence"] for row in found["poll"]] == [1, 2, 3]
    known = {key: row.get("ready") for key, row in samples(found["sample"]).items()}
    assert known == {(1, "a"): 1.0, (1, "b"): None, (2, "a"): None, (2, "b"): None, (3, "a"): 5.0, (3, "b"): 6.0}


def test_names_that_are_missing_or_said_twice() -> None:
    """A queue without a name is not a queue, and one that a line names twice counts once."""
    found = staged(
        read(line(1, queue=["a", None], ready=[1, 2]), line(2, queue=["b", "b"], ready=[3, 4]), line(3, queue=[]))
    )
    assert {key: row["ready"] for key, row in samples(found["sample"]).items()} == {(1, "a"): 1.0, (2, "b"): 3.0}
    assert [row["queues"] for row in found["poll"]] == [1, 1, 0]


def test_numbers_read_back_exactly() -> None:
    rng = random.Random(5)
    values = [rng.uniform(-1, 1) * 10 ** rng.randint(-300, 300) for _ in range(200)]
    values += [0.1, -0.0, 5e-324, 1.7976931348623157e308, 2**53 + 1.0, float("inf")]
    found = samples(staged(read(*(line(n, oldest_s=[value, None]) for n, value in enumerate(values, 1))))["sample"])
    assert [found[n, "a"]["oldest_s"] for n in range(1, len(values) + 1)] == values
