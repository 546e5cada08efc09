"""Recordings through Spark against plain Python: every sum, percentile and incident, and the report made of them."""

from __future__ import annotations

import json
import os
import shutil
import time
from html import escape
from pathlib import Path
from typing import Any

import pytest
import zstandard
from pyspark.sql import SparkSession

from qmon.errors import BadInput
from qmon.pipeline.ingest.segments import Intake
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.report.facts import Period, gather
from qmon.pipeline.report.html import page
from qmon.pipeline.report.text import number, seconds
from tests.pipeline import reference
from tests.pipeline.comparing import START, compared, run
from tests.pipeline.pages import incident_cells, queue_cells, tables
from tests.pipeline.recordings import Watched, rows

WEEK_S = 7 * 86400
pytestmark = pytest.mark.timeout(1200)  # half a minute where Spark has a processor of its own


def strange_lines() -> bytes:
    """A segment of which only the third line is good: an operation."""
    newer = {"v": 2, "r": "x", "n": 1, "at": 1, "k": "figures", "figures": {"sampled_at": START}}
    uneven = newer | {"v": 1, "figures": {"sampled_at": START, "queue": ["a", "b"], "ready": [1.0]}}
    done = {"v": 1, "r": "aaaaaaaaaaaa", "n": 9999, "at": START, "k": "operation"}
    done["operation"] = {"id": "op1", "kind": "requeue", "queue": "orders", "state": "done", "started_at": START + 1200}
    texts = [json.dumps(each, separators=(",", ":")) for each in (newer, uneven, done)]
    return zstandard.compress("\n".join([*texts, '{"k":"figures" broken', "nothing"]).encode())


def test_recordings_equal_plain_python(spark: SparkSession, tmp_path: Path) -> None:
    """Restarts, copies, an hour without anything, two recorders at once, a clock set back, damage, a late segment.

    In two runs: what comes in between belongs to days that are done.
    """
    root = tmp_path / "recordings"
    first = Watched(root, "shop", "aaaaaaaaaaaa", "Europe/Berlin")
    (segment, *_) = first.record(START, 900, seed=1, trouble=range(500, 700))
    odd = Watched(root, "a b/é=1", "cccccccccccc", queues=("[a]]b].[c d]", "; drop table x; --", "😀"))
    odd.record(START, 100, seed=4, trouble=range(0, 3))
    run(spark, root, tmp_path / "lake")

    again = Watched(root, "shop", "aaaaaaaaaaab", "Europe/Berlin")  # after an hour without anything
    again.record(START + 900 * 2 + 3600, 300, seed=2, steps={100: -50.0, 200: 3600.0})
    second = Watched(root, "shop", "bbbbbbbbbbbb", "Europe/Berlin")
    second.record(START + 600, 300, seed=3, trouble=range(10, 20))
    late = Watched(root, "shop", "dddddddddddd", "Europe/Berlin")
    for path in late.record(START - 7200, 60, seed=5):
        os.utime(path, (time.time() - 3 * WEEK_S,) * 2)
    shutil.copy(segment, segment.with_name("copy.jsonl.zst"))
    segment.with_name("strange.jsonl.zst").write_bytes(strange_lines())
    segment.with_name("empty.jsonl.zst").touch()
    segment.with_name("_open.jsonl.zst").write_bytes(b"still written")
    lake = run(spark, root, tmp_path / "lake")

    expected = [row for each in (first, again, second, late, odd) for row in rows(each.written)]
    compared(lake, expected)
    bad_lines(lake)
    copied = [row for row in expected if row["recorder"] == "aaaaaaaaaaaa" and row["sampled_at"] < START + 1200]
    assert lake.view().counts()["duplicates"] == len(copied)
    done = json.loads((root / ".pipeline.json").read_text())["done"]
    assert set(done) == {p.relative_to(root).as_posix() for p in root.rglob("*.zst") if p.name[0] != "_"}
    the_report(lake, expected)


def bad_lines(lake: Lake) -> None:
    """The damaged ones are kept apart with file, place and reason, and counted; the good one among them counts."""
    view = lake.view()
    told = {(Path(row.file).name, row.place, row.reason) for row in view.read("bad").collect()}
    assert told == {
        ("strange.jsonl.zst", 1, "written by a newer qmon, format 2"),
        ("strange.jsonl.zst", 2, "its figures are not one for each queue"),
        ("strange.jsonl.zst", 4, "not JSON, or values of the wrong kind"),
        ("strange.jsonl.zst", 5, "no line of a recording"),
        ("empty.jsonl.zst", 0, "the file is empty"),
    }
    assert view.counts()["bad"] == len(told)
    (kept,) = view.read("operations").collect()
    assert (kept.id, kept.queue, kept.state, kept.target) == ("op1", "orders", "done", "shop")


def the_report(lake: Lake, expected: list[dict[str, Any]]) -> None:
    """Its figures are the lake's, which are those of the reference."""
    period = Period(START, START + 86400).hours()
    facts = gather(lake.view(), Period(START, START + 86400))
    measured = reference.measured(reference.unique(r for r in expected if period.start <= r["sampled_at"] < period.end))
    wanted = reference.rollup(measured, 10**12)
    assert {(q.target, q.queue) for q in facts.queues} == {(target, queue) for target, queue, _ in wanted}
    text = page(facts)
    for reach in ("http:", "https:", "//", "url(", "src=", "<link", "<script", "@import"):
        assert reach not in text
    for (target, queue, _), row in wanted.items():
        assert f"<h2>{escape(target)} · {escape(queue)}</h2>" in text
        assert f"{number(row['pushed'])} pushed, {number(row['popped'])} popped" in text
    queues, troubles, _waits, *worst = tables(text)
    assert {tuple(cells[:10]) for cells in queues[1:]} == {queue_cells(*key[:2], row) for key, row in wanted.items()}
    told = [each for each in reference.incidents(reference.unique(expected)) if each["end_at"] >= period.start]
    assert sorted(tuple(cells[:6]) for cells in troubles[1:]) == sorted(map(incident_cells, told))
    hours = reference.rollup(measured, 3600)
    for each, shown in zip([each for each in facts.queues if each.worst], worst, strict=True):
        own = [row for (*key, at), row in hours.items() if key == [each.target, each.queue] and at >= period.start]
        oldest = sorted((row["oldest_p95"] for row in own if row["oldest_p95"] is not None), reverse=True)
        assert [cells[1] for cells in shown[1:]] == [seconds(age) for age in oldest[:5]]
    incident = next(each for each in facts.incidents if each["queue"] == "orders" and each["operations"])
    assert [each["kind"] for each in incident["operations"]] == ["requeue"]
    assert incident["start_at"] <= START + 1200 <= incident["end_at"]


def test_a_folder_that_is_not_there_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no folder"):
        Intake(Lake(spark, str(tmp_path / "lake")), str(tmp_path / "nowhere"))
    assert not (tmp_path / "lake").exists()
