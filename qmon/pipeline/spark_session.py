"""The Spark session. The same job runs on a laptop and on a cluster, with all times in UTC."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from qmon.errors import BadInput
from qmon.texts import Text


class SparkText(Text):
    """Why Spark cannot be used."""

    RUNNING = "this process already runs Spark, so its master cannot be changed; leave out --master"
    NO_CONNECT = "the pipeline does not support Spark Connect; use --master spark://… or spark-submit"
    CANNOT_START = "cannot start Spark: {problem}; Spark needs Java 17 or later in JAVA_HOME or as `java`"


LOCAL: Final = "local[*]"
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties").as_uri()
_DEFAULTS: Final = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
    # Merge small shuffle partitions, so that fewer files are written.
    "spark.sql.adaptive.coalescePartitions.parallelismFirst": "false",
    "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",
    # Whole segments go to Python, a few at a time.
    "spark.sql.execution.arrow.maxBytesPerBatch": "16m",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    # Small tasks, so that all processors finish at about the same time.
    "spark.sql.files.maxPartitionBytes": "32m",
    # Many small segments per task: each task writes its own files for each bucket.
    "spark.sql.files.openCostInBytes": "64k",
    # A task writes few days. Writing all days at the same time is cheaper than sorting all rows by day first.
    "spark.sql.maxConcurrentOutputFileWriters": "32",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # The paths of all files are known, so finding the files needs no Spark job.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
    # If the recorder's retention deletes a listed segment, report the segment instead of failing every batch.
    "spark.sql.files.ignoreMissingFiles": "true",
    # A batch generates about 150 classes. With Spark's default of 100, each class is evicted before the next batch uses
    # it again.
    "spark.sql.codegen.cache.maxEntries": "400",
    "spark.ui.enabled": "false",
    # Keep no history for the UI, which is disabled. The history needs 100 MB for a thousand jobs.
    **dict.fromkeys(("spark.ui.retainedJobs", "spark.ui.retainedStages", "spark.sql.ui.retainedExecutions"), "20"),
    "spark.ui.retainedTasks": "1000",
    "spark.ui.showConsoleProgress": "false",
}
_GATEWAY_PORT: Final = "PYSPARK_GATEWAY_PORT"

# Java prints this line at each start of Spark, and has no option against it.
_HARMLESS: Final = "WARNING: Using incubator modules"
_LAST_LINES_S: Final = 5.0
_JAVA_OPTIONS: Final = "spark.driver.extraJavaOptions"

# Prevents Java from creating the folder `hsperfdata_<user>` in /tmp.
_NO_FOLDER: Final = "-XX:-UsePerfData"

# Java options for runs with little data: compile quickly instead of optimizing. In this mode, the default code cache is
# so small that some code would be discarded.
_LITTLE_DATA_OPTIONS: Final = "-XX:ReservedCodeCacheSize=240m -XX:TieredStopAtLevel=1"
_LOCAL_DEFAULTS: Final = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}


@contextlib.contextmanager
def spark_session(
    master: str | None = None, conf: Mapping[str, str] | None = None, *, little_data: bool = False
) -> Iterator[SparkSession]:
    """Provide a session: one that shares the running Spark of this process, or one that is started and then stopped.

    A notebook or another program may have started Spark. Its session keeps its settings and is never stopped. The
    arguments and errors are those of ``start_session``.
    """
    running = SparkSession.getActiveSession()
    if running is None:
        session = start_session(master, conf, little_data=little_data)
        try:
            yield session
        finally:
            stop_session(session)
        return
    if master is not None:
        raise BadInput(SparkText.RUNNING)
    session = running.newSession()
    for name, value in (_DEFAULTS | dict(conf or {})).items():
        if session.conf.isModifiable(name):
            session.conf.set(name, value)
    yield session


def _refuse_connect(master: str | None, conf: Mapping[str, str]) -> None:
    """Raise ``BadInput`` if the settings ask for Spark Connect, whose sessions have no access to files."""
    asked = (master or "").startswith("sc://") or "spark.remote" in conf or conf.get("spark.api.mode") == "connect"
    if asked or (master is None and "SPARK_REMOTE" in os.environ):
        raise BadInput(SparkText.NO_CONNECT)


def start_session(
    master: str | None = None, conf: Mapping[str, str] | None = None, *, little_data: bool = False
) -> SparkSession:
    """Start a session with qmon's settings, on ``master`` or on all processors of this machine.

    Under spark-submit, its master is used unless ``master`` is given. ``conf`` overrides qmon's settings, but Java
    options are appended. ``little_data``: there is so little work that optimizing the compiled code costs more than it
    saves. Raises ``BadInput`` if Java is missing, Spark refuses a setting, or Spark Connect is configured.
    """
    _refuse_connect(master, conf or {})
    builder = SparkSession.builder.appName("qmon pipeline")
    # spark-submit sets this variable on all cluster managers, in client and in cluster mode.
    submitted = _GATEWAY_PORT in os.environ and master is None
    if not submitted:
        builder = builder.master(master or LOCAL)
    local = not submitted and (master or LOCAL).startswith("local")
    if local:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # for workers: Spark would use any python3
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        os.environ.setdefault("SPARK_LAUNCHER_OPTS", _NO_FOLDER)
        if os.environ.get("LC_ALL") in ("C", "POSIX"):  # Java would not find paths with non-ASCII characters
            os.environ["LC_ALL"] = "C.UTF-8"
    settings = _DEFAULTS | (_LOCAL_DEFAULTS if local else {}) | dict(conf or {})
    if local:
        settings[_JAVA_OPTIONS] = java_options(settings.get(_JAVA_OPTIONS, ""), little_data=little_data)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        try:
            if not submitted:
                _start_java(settings | {"spark.master": master or LOCAL})
            session = builder.getOrCreate()
        except (PySparkException, OSError, RuntimeError) as problem:
            raise BadInput(SparkText.CANNOT_START.render(problem=first_error_line(problem))) from None
    return session


def _start_java(settings: Mapping[str, str]) -> None:
    """Start Spark's Java process if none is running. Forward its standard error, except lines that are not errors."""
    if SparkContext._gateway is not None or _GATEWAY_PORT in os.environ:
        return
    reading, writing = os.pipe()
    forwarder = threading.Thread(target=_forward_errors, args=(reading,), name="qmon-spark-stderr", daemon=True)
    forwarder.start()
    try:
        conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        gateway = launch_gateway(conf, {"stderr": writing})  # type: ignore[no-untyped-call]
    except PySparkException:
        os.close(writing)
        forwarder.join(_LAST_LINES_S)  # Java has ended: print its reason before the exception
        raise
    os.close(writing)
    SparkContext._ensure_initialized(gateway=gateway)


def _forward_errors(reading: int) -> None:
    with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not line.startswith(_HARMLESS):
                with contextlib.suppress(ValueError, OSError):  # the standard error of this process is closed
                    sys.stderr.write(line)
                    sys.stderr.flush()


def java_options(user_options: str = "", *, little_data: bool = False) -> str:
    """Return the Java options for Spark on this machine: qmon's options, then the user's, which take precedence.

    If the user chooses a garbage collector, qmon's choice is left out.
    """
    # The garbage collector with the lowest total time. Its pauses do not matter, because nothing waits for an answer
    # during a batch.
    collector = "" if re.search(r"-XX:\+Use\w+GC\b", user_options) else "-XX:+UseParallelGC"
    ours = (
        f"-Dlog4j2.configurationFile={_LOG_SETTINGS}",
        _NO_FOLDER,
        collector,
        _LITTLE_DATA_OPTIONS if little_data else "",
    )
    return " ".join(option for option in (*ours, user_options) if option)


def stop_session(session: SparkSession) -> None:
    """Stop the session. The signal that ends qmon may already have ended the session's Java process."""
    with contextlib.suppress(PySparkException, Py4JError, OSError):
        session.stop()


def first_error_line(problem: BaseException) -> str:
    """Return the first line of an error, without Java's stack trace."""
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
