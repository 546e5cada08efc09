"""Which Spark is used: that of spark-submit, the running one of the process, or one of our own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from qmon.errors import BadInput
from qmon.pipeline.spark_session import SparkText, spark_session, start_session
from tests.cli.calling import surroundings
from tests.wordings import pattern

pytestmark = pytest.mark.timeout(1200)
PROGRAM = """
import os
os.environ.pop("SPARK_ENV_LOADED", None)  # as in YARN's cluster mode
from qmon.pipeline.spark_session import spark_session
with spark_session() as session:
    print("master", session.sparkContext.master)
"""


def test_a_running_spark_is_shared_and_never_stopped(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        with spark_session(conf={"spark.sql.shuffle.partitions": "3"}) as session:
            assert session.sparkContext is spark.sparkContext
            assert session.conf.get("spark.sql.session.timeZone") == "UTC"
            assert session.conf.get("spark.sql.shuffle.partitions") == "3"
        assert spark.conf.get("spark.sql.session.timeZone") == "Asia/Tokyo"
        assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
        assert spark.range(3).count() == 3
        with pytest.raises(BadInput, match=pattern(SparkText.RUNNING)), spark_session("local[1]"):
            pass
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")


def test_the_master_of_spark_submit_is_used(tmp_path: Path) -> None:
    """Without the variable of Spark's shell scripts, which a driver on a cluster does not get."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    env = surroundings(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    done = subprocess.run(
        [str(submit), "--master", "local[1]", str(program)],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert "master local[1]" in done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize(
    ("master", "conf", "variable"),
    [
        ("sc://host:15002", {}, ""),
        (None, {"spark.remote": "sc://host"}, ""),
        (None, {"spark.api.mode": "connect"}, ""),
        (None, {}, "sc://host"),
    ],
)
def test_spark_connect_is_refused(
    master: str | None, conf: dict[str, str], variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable:
        monkeypatch.setitem(os.environ, "SPARK_REMOTE", variable)
    with pytest.raises(BadInput, match=pattern(SparkText.NO_CONNECT)):
        start_session(master, conf)
