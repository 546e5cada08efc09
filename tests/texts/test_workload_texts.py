"""The wording of errors of loads, benches and Spark."""

from __future__ import annotations

from typing import Any, Final

from qmon.pipeline.spark_session import SparkText
from qmon.texts import Text
from qmon.workload.bench.bench_plan import BenchPlanText
from qmon.workload.bench.bench_site import SiteText
from qmon.workload.bench.run_bench import RunBenchText
from qmon.workload.committed_counts import CountText
from qmon.workload.counter_slots import SlotText
from qmon.workload.load_driver import LoadText
from qmon.workload.load_plan import LoadPlanText
from qmon.workload.run_load import RunLoadText
from qmon.workload.workload_statements import WorkloadStatementText
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    SparkText.RUNNING: ({}, "this process already runs Spark, so its master cannot be changed; leave out --master"),
    SparkText.NO_CONNECT: ({}, "the pipeline does not support Spark Connect; use --master spark://… or spark-submit"),
    SparkText.CANNOT_START: (
        {"problem": "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number."},
        "cannot start Spark: [JAVA_GATEWAY_EXITED] Java gateway process exited before sending its "
        "port number.; Spark needs Java 17 or later in JAVA_HOME or as `java`",
    ),
    BenchPlanText.NOTHING: ({}, "a bench needs at least one design and one part"),
    BenchPlanText.SESSIONS: (
        {"limit": 500},
        "a bench needs at least 1 producer and 1 consumer, and at most 500 in total",
    ),
    BenchPlanText.SECONDS: ({"seconds": 0}, "a run must last more than 0 seconds and at most one day, not 0 s"),
    BenchPlanText.MESSAGE_BYTES: ({"bytes": 0}, "a message must have 1 to 1,000,000 bytes, not 0"),
    BenchPlanText.BATCH: ({}, "a batch must have 1 to 10,000 messages"),
    BenchPlanText.NO_DESIGN: (
        {"design": "rnig", "designs": "flag, status"},
        "cannot measure the design 'rnig' here; available: flag, status",
    ),
    SiteText.NO_SEQUENCES: (
        {"major": 10, "minor": 50},
        "the bench needs sequences, which SQL Server has since 2012 (version 11), but this server has version"
        " 10.50; nothing was created",
    ),
    RunBenchText.POOLER: ({}, "a bench cannot run through a connection pooler: connect to the server directly"),
    RunBenchText.CONNECTIONS: (
        {"available": 2, "needed": 9},
        "the server allows 2 more connections, but the bench needs 9: use fewer producers and consumers, or raise"
        " the connection limit of the server",
    ),
    CountText.EMPTY_SPAN: (
        {"start": 1.0, "end": 1.0},
        "cannot compute the flow from 1.0 to 1.0: the end must be later than the start",
    ),
    CountText.OUTSIDE: (
        {"queue": "orders", "at": 13.5},
        "no counts of orders at 13.5: this is outside the counted time",
    ),
    SlotText.NO_SLOT: ({"index": 3, "count": 3}, "slot 3 does not exist; there are 3"),
    LoadText.ONE_LOAD: ({}, "each queue can have only one load"),
    LoadText.NO_LOAD: (
        {"queue": "jobs", "queues": "mails, orders"},
        "the queue 'jobs' has no load; queues with a load: mails, orders",
    ),
    LoadPlanText.CLIENTS: ({}, "a queue can have 0 to 200 producers and 0 to 200 consumers"),
    LoadPlanText.SHARE: ({"name": "fail share", "value": 2}, "fail share must be 0 to 1, not 2"),
    LoadPlanText.NEGATIVE: ({"name": "pop rate", "value": -1}, "pop rate must be 0 or more, not -1"),
    LoadPlanText.SIZES: ({}, "a batch must have 1 to 10,000 messages, and a message 1 to 10,000,000 bytes"),
    RunLoadText.SECONDS: ({"seconds": 0}, "a load must last more than 0 seconds and at most seven days, not 0 s"),
    WorkloadStatementText.NOT_INSTALLED: (
        {"queue": "orders"},
        "orders was not installed by qmon, and a load would write to this queue; install a separate queue with:"
        " qmon design install",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
