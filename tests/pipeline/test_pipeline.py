"""Recordings through Spark compared with plain Python: every sum, percentile and incident, and the report."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from qmon.config.slo import Objective
from qmon.errors import BadInput
from qmon.pipeline.ingest.segment_intake import SegmentIntake
from qmon.pipeline.lake.lake import Lake
from qmon.pipeline.pipeline_texts import IntakeText, ReportText
from qmon.pipeline.report.facts import ReportFacts, ReportRequest, gather_facts, skip_time_before_data
from qmon.pipeline.report.headline import HeadlineText, headline
from qmon.pipeline.report.html import report_page
from qmon.pipeline.report.period import Period
from qmon.pipeline.report.report_formatting import duration_text, good_share_text, number_text, percent_text
from qmon.recording.figure_rows.segment_lines import BadLineText
from qmon.recording.write.retention import read_lake_marks, unread_bytes
from tests.pipeline import reference
from tests.pipeline.comparing import START, compared, run
from tests.pipeline.pages import Page, incident_cells, queue_cells
from tests.pipeline.recordings import Watched, rows, strange_lines
from tests.wordings import has, pattern

WEEK_S = 7 * 86400
pytestmark = pytest.mark.timeout(1200)  # half a minute if Spark has a processor to itself


def test_recordings_equal_plain_python(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Restarts, copies, an hour without data, two recorders at once, a clock set back, damage, a late segment.

    In two runs: segments that arrive in between belong to finished days. Their days are computed in pieces, as large
    days would be.
    """
    root = tmp_path / "recordings"
    first = Watched(root, "shop", "aaaaaaaaaaaa", "Europe/Berlin")
    (segment, *_) = first.record(START, 900, seed=1, trouble=range(500, 700))
    odd = Watched(
        root, "a b/é=1", "cccccccccccc", environment="prod", queues=("[a]]b].[c d]", "; drop table x; --", "😀")
    )
    odd.record(START, 100, seed=4, trouble=range(0, 3))
    assert unread_bytes(root) == sum(path.stat().st_size for path in root.rglob("*.zst"))
    run(spark, root, tmp_path / "lake")
    assert unread_bytes(root) == 0
    assert sys.platform == "win32" or stat.S_IMODE((tmp_path / "lake").stat().st_mode) == 0o700

    again = Watched(root, "shop", "aaaaaaaaaaab", "Europe/Berlin")  # after an hour without data
    again.record(START + 900 * 2 + 3600, 300, seed=2, steps={100: -50.0, 200: 3600.0})
    second = Watched(root, "shop", "bbbbbbbbbbbb", "Europe/Berlin")
    second.record(START + 600, 300, seed=3, trouble=range(10, 20))
    late = Watched(root, "shop", "dddddddddddd", "Europe/Berlin")
    for path in late.record(START - 7200, 60, seed=5):
        os.utime(path, (time.time() - 3 * WEEK_S,) * 2)
    shutil.copy(segment, segment.with_name("copy.jsonl.zst"))
    segment.with_name("strange.jsonl.zst").write_bytes(strange_lines(START))
    segment.with_name("empty.jsonl.zst").touch()
    segment.with_name("_open.jsonl.zst").write_bytes(b"still written")
    monkeypatch.setattr("qmon.pipeline.ingest.derived_rows.PIECE_ROWS", 1000)
    lake = run(spark, root, tmp_path / "lake")

    expected = [row for each in (first, again, second, late, odd) for row in rows(each.written)]
    compared(lake, expected)
    bad_lines(lake)
    copied = [row for row in expected if row["recorder"] == "aaaaaaaaaaaa" and row["sampled_at"] < START + 1200]
    assert lake.view().counts()["duplicates"] == len(copied)
    (mark,) = read_lake_marks(root)
    assert mark.done == {p.relative_to(root).as_posix() for p in root.rglob("*.zst") if p.name[0] != "_"}
    the_report(lake, expected)


def bad_lines(lake: Lake) -> None:
    """Damaged lines are stored separately with file, place and reason, and counted; the valid one among them counts."""
    view = lake.view()
    told = {(Path(row.file).name, row.place, row.reason) for row in view.read("bad").collect()}
    assert told == {
        ("strange.jsonl.zst", 1, BadLineText.NEWER.render(version=2)),
        ("strange.jsonl.zst", 2, BadLineText.UNEVEN),
        ("strange.jsonl.zst", 4, BadLineText.NOT_READABLE),
        ("strange.jsonl.zst", 5, BadLineText.WRONG_CLOCK),
        ("strange.jsonl.zst", 6, BadLineText.NOT_A_LINE),
        ("strange.jsonl.zst", 7, BadLineText.NOT_A_LINE),
        ("empty.jsonl.zst", 0, BadLineText.EMPTY),
    }
    assert view.counts()["bad"] == len(told)
    (kept,) = view.read("operations").collect()
    assert (kept.id, kept.queue, kept.state, kept.target) == ("op1", "orders", "done", "shop")


def the_report(lake: Lake, expected: list[dict[str, Any]]) -> None:
    """Check that its figures equal the lake's, which equal those of the reference."""
    period = Period(START, START + 86400).whole_hours()
    objectives = (
        Objective("fresh", "oldest_seconds", 28.0, 0.9, 7 * 86400.0, targets=("shop",)),
        Objective("short", "ready", 960.0, 0.5, 2 * 86400.0, queues=("orders", "😀")),
    )
    facts = gather_facts(lake.view(), period, ReportRequest(objectives=objectives))
    every = reference.measured(reference.unique(expected))
    measured = [row for row in every if period.start <= row["minute"] < period.end]
    wanted = reference.rollup(measured, 10**12)
    assert {(q.target, q.queue) for q in facts.queues} == {(target, queue) for target, queue, _ in wanted}
    text = report_page(facts)
    for row in wanted.values():
        assert f"{number_text(row['pushed'])} pushed, {number_text(row['popped'])} popped" in text
    found = Page(text).tables
    queues, troubles = found["Queues"], found["Incidents"]
    assert {tuple(cells[:9]) for cells in queues[1:]} == {queue_cells(key[1], row) for key, row in wanted.items()}
    spans = {
        (key[1], percent_text(min(1.0, row["flow_s"] / (period.end - period.start)))) for key, row in wanted.items()
    }
    assert {(cells[0], cells[-1]) for cells in queues[1:]} == spans
    told = [each for each in reference.incidents(reference.unique(expected)) if each["end_at"] >= period.start]
    assert sorted(tuple(cells[:6]) for cells in troubles[1:]) == sorted(map(incident_cells, told))
    hours = reference.rollup(measured, 3600)
    first_words(facts, told, wanted)
    standing(facts, expected, hours)
    for each in facts.queues:
        shown = found[f"{each.queue}: Hours with the oldest messages"]
        own = [row for (*key, at), row in hours.items() if key == [each.target, each.queue] and at >= period.start]
        oldest = sorted((row["oldest_p95"] for row in own if row["oldest_p95"] is not None), reverse=True)
        assert [cells[1] for cells in shown[1:]] == [duration_text(age) for age in oldest[:5]]
    incident = next(each for each in facts.incidents if each["queue"] == "orders" and each["operations"])
    assert [each["kind"] for each in incident["operations"]] == ["requeue"]
    told_bad = {(row["reason"], row["lines"], str(row["first_day"]), str(row["last_day"])) for row in facts.bad}
    assert len(told_bad) == 6
    assert (BadLineText.NOT_A_LINE, 2, reference.date(START), reference.date(START)) in told_bad
    assert gather_facts(lake.view(), Period(START + 7200, START + 90000)).bad == ()
    first = min(row["minute"] for row in every) // 3600 * 3600
    assert skip_time_before_data(lake.view(), Period(first - WEEK_S, first + WEEK_S)) == Period(first, first + WEEK_S)
    odd = gather_facts(lake.view(), period, ReportRequest(objectives=objectives, targets=("a b/é=1",)))
    assert gather_facts(lake.view(), period, ReportRequest(objectives=objectives, environments=("x", "prod"))) == odd
    for targets, environment in (((), "staging"), (("shop",), "prod")):
        no_such = pattern(ReportText.NO_SUCH_ENVIRONMENT, environments=environment, known="prod")
        with pytest.raises(BadInput, match=f"{no_such}$"):
            gather_facts(lake.view(), period, ReportRequest(targets=targets, environments=(environment,)))
    names = [{q.target for q in odd.queues}, {each.target for each in odd.levels}, {c.target for c in odd.targets}]
    assert names == [{"a b/é=1"}] * 3
    assert {row["target"] for row in odd.incidents} <= {"a b/é=1"} and not odd.operations and not odd.bad
    later = Period(first + 7200, first + WEEK_S)
    assert skip_time_before_data(lake.view(), later) == later
    assert incident["start_at"] <= START + 1200 <= incident["end_at"]


def first_words(facts: ReportFacts, told: list[dict[str, Any]], whole: dict[tuple[str, str, float], Any]) -> None:
    """The first line contains the share of the watched time without incidents, and names the longest incident."""
    period = facts.period
    lost = reference.troubled(told, period.start, period.end)
    assert {key: each.incidents for key, each in facts.trouble.items()} == {
        key: count for key, (_, count) in lost.items()
    }
    assert {key: each.seconds for key, each in facts.trouble.items()} == pytest.approx(
        {k: s for k, (s, _) in lost.items()}
    )
    share = 1 - sum(seconds for seconds, _ in lost.values()) / sum(row["seconds"] for row in whole.values())
    longest = max(told, key=lambda row: min(row["end_at"], period.end) - max(row["start_at"], period.start))
    text = headline(facts)
    assert has(
        text,
        HeadlineText.HEALTHY_FOR,
        share=good_share_text(share),
        incidents=HeadlineText.INCIDENTS.render(count=len(told)),
    )
    queue = f"{longest['target']} · {longest['queue']}"
    assert has(text, HeadlineText.LONGEST_INCIDENT, queue=queue, cause=longest["cause"])


def standing(facts: ReportFacts, expected: list[dict[str, Any]], hours: dict[tuple[str, str, float], Any]) -> None:
    """Check service levels, the watched time, and the time before."""
    measured, period = reference.measured(reference.unique(expected)), facts.period
    queues = {(row["target"], row["queue"]) for row in measured}
    about = {
        (name, *key)
        for key in queues
        for name in ("fresh", "short")
        if (key[0] == "shop" if name == "fresh" else key[1] in ("orders", "😀"))
    }
    assert {(each.objective.name, each.target, each.queue) for each in facts.levels} == about
    for each in facts.levels:
        asked, figure = each.objective, each.objective.figure.replace("oldest_seconds", "oldest_s")
        own = [row for row in measured if (row["target"], row["queue"]) == (each.target, each.queue)]
        whole = reference.level(own, figure, asked.below, period.end - asked.window_s, period.end)
        last = reference.level(own, figure, asked.below, period.end - 86400, period.end)
        assert (each.counted_s, each.bad_s, each.last_s, each.last_bad_s) == pytest.approx((*whole, *last), abs=0.1)
        assert each.bad_s > 0
    length = period.end - period.start
    shares = {target: each / length for target, each in reference.watched(hours, period.start, period.end).items()}
    assert {each.target: each.share for each in facts.targets} == pytest.approx(shares)
    earlier = [row for row in measured if period.start - length <= row["minute"] < period.start]
    before = {key[:2]: row["pushed"] for key, row in reference.rollup(earlier, 10**12).items()}
    assert {q.key: q.before["pushed"] for q in facts.queues if q.before is not None} == pytest.approx(before)
    assert [each["id"] for each in facts.operations] == ["op1"]


def test_a_folder_that_is_not_there_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=pattern(IntakeText.NO_RECORDINGS, folder=tmp_path / "nowhere")):
        SegmentIntake(Lake(spark, str(tmp_path / "lake")), str(tmp_path / "nowhere"))
    assert not (tmp_path / "lake").exists()
