"""The Spark session: the same job on a laptop and on a cluster, with times in UTC everywhere."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from qmon.errors import BadInput

LOCAL: Final = "local[*]"
_QUIET: Final = Path(__file__).with_name("log4j2.properties").as_uri()
_DEFAULTS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
    # Few files: what a shuffle has made small comes together again.
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    # Whole segments go to Python, a few at a time.
    "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    # Small tasks, so that all processors end at about the same time.
    "spark.sql.files.maxPartitionBytes": "32m",
    # Small segments many to a task: each task writes files of its own for each bucket.
    "spark.sql.files.openCostInBytes": "64k",
    # A task writes few days, and those of one come together: sorting all rows by day first would cost more.
    "spark.sql.maxConcurrentOutputFileWriters": "32",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # The files that are read are named one by one: to look them up is no work for a job.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    # A segment that its recorder's retention took away in between is reported, not a reason to stand still for ever.
    "spark.sql.files.ignoreMissingFiles": "true",
    # A batch makes some 150 pieces of code. With Spark's 100 each has fallen out before the next batch wants it again.
    "spark.sql.codegen.cache.maxEntries": "400",
    "spark.ui.enabled": "false",
    # Nor does it remember for pages that nobody sees what it has done: of a thousand jobs that is 100 MB.
    **dict.fromkeys(("spark.ui.retainedJobs", "spark.ui.retainedStages", "spark.sql.ui.retainedExecutions"), "20"),
    "spark.ui.retainedTasks": "1000",
    "spark.ui.showConsoleProgress": "false",
}
_JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"
# Else Java leaves a folder `hsperfdata_<user>` in /tmp.
_NO_FOLDER: Final = "-XX:-UsePerfData"
# Code is compiled fast instead of well; without the room that Java else has for it, some would be thrown away.
_BRIEF: Final = "-XX:ReservedCodeCacheSize=240m -XX:TieredStopAtLevel=1"
_LOCAL_DEFAULTS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}


def start(master: str | None = None, conf: Mapping[str, str] | None = None, *, brief: bool = False) -> SparkSession:
    """A session with qmon's settings, on ``master`` or on every processor of this machine.

    Without ``master`` the one that spark-submit gives is kept. ``conf`` wins over qmon's own settings; options of Java
    are added to them. ``brief``: for so little work that Java would spend more on making it fast.

    Raises ``BadInput`` where Java is missing or Spark refuses a setting.
    """
    builder = SparkSession.builder.appName("qmon pipeline")
    submitted = "SPARK_ENV_LOADED" in os.environ and master is None
    if not submitted:
        builder = builder.master(master or LOCAL)
    local = not submitted and (master or LOCAL).startswith("local")
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the workers': Spark takes whatever python3 is
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("SPARK_LAUNCHER_OPTS", _NO_FOLDER)
        if os.environ.get("LC_ALL") in ("C", "POSIX"):  # then Java finds no path with other letters than ASCII
            os.environ["LC_ALL"] = "C.UTF-8"
    settings = _DEFAULTS | (_LOCAL_DEFAULTS if local else {}) | dict(conf or {})
    if local:
        settings[_JAVA_OPTIONS] = java_options(settings.get(_JAVA_OPTIONS, ""), brief=brief)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            session = builder.getOrCreate()
        except (PySparkException, OSError, RuntimeError) as problem:
            raise BadInput(
                f"Spark does not start: {first_line(problem)}; it needs Java 17 or later, as JAVA_HOME or `java`"
            ) from None
    return session


def java_options(theirs: str = "", *, brief: bool = False) -> str:
    """What Spark's Java on this machine is started with: ours, then theirs, of which the last that is said counts.

    One collector, theirs if they name one.
    """
    # The collector that takes the least time in all: nobody waits for an answer within a batch.
    collector = "" if re.search(r"-XX:\+Use\w+GC\b", theirs) else "-XX:+UseParallelGC"
    ours = (f"-Dlog4j2.configurationFile={_QUIET}", _NO_FOLDER, collector, _BRIEF if brief else "")
    return " ".join(option for option in (*ours, theirs) if option)


def end(session: SparkSession) -> None:
    """Stop it. Its Java may have ended before, by the signal that ends us."""
    with contextlib.suppress(PySparkException, Py4JError, OSError):
        session.stop()


def first_line(problem: BaseException) -> str:
    """The first line of what went wrong, without Java's stack."""
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
