"""A cluster's worker needs only qmon's code as a zip, in addition to Spark, pyarrow and pandas."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.pipeline.cluster import packed, without_qmon
from tests.pipeline.comparing import START
from tests.pipeline.recordings import Watched

READ = """
import sys
sys.path.insert(0, sys.argv[1])
import pyarrow as pa
from qmon.pipeline.ingest.staged import staged_batches
content = open(sys.argv[2], "rb").read()
read = staged_batches([pa.record_batch({"path": [sys.argv[2]], "content": [content]})])
kinds = [kind for batch in read for kind in batch.column("kind").to_pylist()]
import qmon.pipeline.rollup.rollups
print(kinds.count("poll"), "textual" in sys.modules, qmon.pipeline.rollup.rollups.__file__.startswith(sys.argv[1]))
"""


def test_segments_are_read_where_only_the_packed_code_is(tmp_path: Path) -> None:
    (segment,) = Watched(tmp_path / "recordings", "shop", "aaaaaaaaaaaa").record(START, 40)
    python = without_qmon(tmp_path / "python")
    command = [str(python), "-c", READ, str(packed(tmp_path)), str(segment)]
    done = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, timeout=240, check=False)
    assert (done.stdout, done.stderr) == ("40 False True\n", "")
