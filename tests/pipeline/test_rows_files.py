"""The files next to segments: the same rows as the segments, and no use of a file that does not match."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from qmon.pipeline.ingest.staged import stage_rows_files
from qmon.pipeline.lake.delta import TableLog, WrittenFiles
from qmon.pipeline.lake.schema import STAGED
from qmon.recording.figure_rows import rows_file
from qmon.recording.figure_rows.line_rows import rows_from_segment
from qmon.recording.figure_rows.rows_file import read_rows, write_rows_file
from qmon.recording.figures_file import read_figures_file
from qmon.recording.read.recording_paths import figures_path, rows_path
from tests.pipeline.comparing import START, compared, run
from tests.pipeline.recordings import Watched, rows, strange_lines

pytestmark = pytest.mark.timeout(1200)


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def damage_page(path: Path) -> None:
    """Change one byte of the data. The footer stays valid."""
    content = bytearray(path.read_bytes())
    content[len(content) // 4] ^= 0xFF
    path.write_bytes(content)


def replace_columns(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(table.drop_columns(["ready"]), path)


def write_older(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows_file, "ROWS_VERSION", rows_file.ROWS_VERSION - 1)
        write_rows_file(path.with_name(path.name.replace(".figures.parquet", ".jsonl.zst")))


UNUSABLE: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "not Parquet": lambda path: path.write_bytes(b"PAR1" * 100),
    "cut short": cut_short,
    "a damaged page": damage_page,
    "other columns": replace_columns,
    "another version": write_older,
}


def by_kind(rows: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the rows of each kind, sorted, without unknown values."""
    kinds: dict[str, list[str]] = {}
    for row in rows:
        kind = row.pop("kind")
        kinds.setdefault(kind, []).append(repr(sorted((k, v) for k, v in row.items() if v is not None)))
    return {kind: sorted(each) for kind, each in kinds.items()}


def test_the_file_has_the_rows_of_the_segment(tmp_path: Path) -> None:
    watched = Watched(tmp_path, "a b/é=1", "aaaaaaaaaaaa", "Europe/Berlin", "prod", queues=("[a]]b].[c d]", "😀"))
    paths = watched.record(START + 600, 600, seed=3, trouble=range(5, 90))  # over midnight
    strange = paths[0].with_name("strange.jsonl.zst")
    strange.write_bytes(strange_lines(START))
    cut = paths[0].with_name("cut.jsonl.zst")
    cut.write_bytes(paths[0].read_bytes()[:-3000])
    for path in (*paths, strange, cut):
        content, name = path.read_bytes(), f"file:{path}"
        write_rows_file(path)
        found = read_rows(path, len(content), name)
        assert found is not None
        read = [row | {"kind": kind} for kind, table in found.items() for row in table.to_pylist()]
        assert by_kind(read) == by_kind(pa.Table.from_batches(rows_from_segment(name, content)).to_pylist())
        assert read_rows(path, len(content) + 1, name) is None


@pytest.mark.parametrize("make_unusable", UNUSABLE.values(), ids=UNUSABLE)
def test_a_file_that_does_not_match_is_not_used(tmp_path: Path, make_unusable: Callable[[Path], object]) -> None:
    """Instead of the Parquet file, the file of figures is used. Without both, the segment is read."""
    watched = Watched(tmp_path / "recordings", "shop", "aaaaaaaaaaaa", rows_files=True)
    good, bad = watched.record(START, 700, seed=1)
    make_unusable(rows_path(bad))
    found = read_rows(bad, bad.stat().st_size, str(bad))
    assert found is not None
    read = [row | {"kind": kind} for kind, table in found.items() for row in table.to_pylist()]
    segment = pa.Table.from_batches(rows_from_segment(str(bad), bad.read_bytes()))
    assert by_kind(read) == by_kind(segment.to_pylist())
    figures_path(bad).unlink()
    segments = {f"file:{path}": path.stat().st_size for path in (good, bad)}
    assert stage_rows_files(segments, tmp_path / "staged") == [f"file:{bad}"]


@pytest.mark.parametrize("way", ["missing", "empty", "not Parquet", "cut short", "a damaged page", "longer"])
def test_a_file_of_figures_that_does_not_match_is_not_used(tmp_path: Path, way: str) -> None:
    (path,) = Watched(tmp_path, "shop", "aaaaaaaaaaaa", rows_files=True).record(START, 100, seed=1)
    size = path.stat().st_size
    rows_path(path).unlink()
    assert read_figures_file(path, size) is not None
    assert read_figures_file(path, size + 1) is None
    ways = UNUSABLE | {"longer": lambda file: file.write_bytes(file.read_bytes()[:-16] * 2 + file.read_bytes()[-16:])}
    ways[way](figures_path(path))
    assert read_figures_file(path, size) is None
    assert read_rows(path, size, str(path)) is None


def test_segments_without_polls_stage_no_rows(tmp_path: Path) -> None:
    paths = Watched(tmp_path / "recordings", "shop", "aaaaaaaaaaaa", rows_files=True).record(START, 0)
    assert len(paths) == 1
    segments = {f"file:{path}": path.stat().st_size for path in paths}
    assert stage_rows_files(segments, tmp_path / "staged" / "now") == []
    assert TableLog(f"file:{tmp_path}/staged", STAGED).written_files("now/kind=poll") == WrittenFiles()


def test_a_lake_is_the_same_with_parquet_files(spark: SparkSession, tmp_path: Path) -> None:
    """A segment is not read if a file matches. Others are read in the same batch, and late rows in the next one."""
    root = tmp_path / "recordings"
    first = Watched(root, "shop", "aaaaaaaaaaaa", "Europe/Berlin", rows_files=True)
    whole, damaged, *_ = first.record(START, 900, seed=1, trouble=range(500, 700))
    shutil.copy(whole, whole.with_name("copy.jsonl.zst"))
    size = whole.stat().st_size
    whole.write_bytes(b"\x00" * size)
    damage_page(rows_path(damaged))
    figures_path(damaged).unlink()
    lake = run(spark, root, tmp_path / "lake")
    assert lake.view().read("bad").collect() == []
    late = Watched(root, "shop", "bbbbbbbbbbbb", "Europe/Berlin", step_s=7.0, rows_files=True)
    late.record(START + 600, 200, seed=3)
    other = Watched(root, "bank", "cccccccccccc", rows_files=True)
    for path in other.record(START, 200, seed=4):
        rows_path(path).unlink()
        path.write_bytes(b"\x00" * path.stat().st_size)  # the file of figures is used
    run(spark, root, tmp_path / "lake")
    compared(lake, [row for each in (first, late, other) for row in rows(each.written)])
    assert lake.view().counts()["duplicates"] == sum(
        1 for row in rows(first.written) if row["sampled_at"] < START + 1200
    )
