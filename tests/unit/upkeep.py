"""Samples about the upkeep of a table: reads, dead rows, the session that holds the horizon, old statistics."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.figure import Figure
from qmon.model.rates.queue_use import QueueUse
from qmon.model.samples.horizon_samples import HorizonSample, VersionStoreSample
from qmon.model.samples.usage_samples import StatisticsSample, UseSample

HOLDER = HorizonSample(
    "session", 61, "", "700", 120, 40.0, 900.0, "idle in transaction", 39.0, "shop", "app-7", "db1", "shop", "SELECT 1"
)
TABLE = UseSample(1, 0, "t", "table", 0, 0, 100, 0, 0, 8192, ghosts=0)
INDEX = UseSample(1, 9, "t_pkey", "primary", 10, 1000, 50, 0, 0, 8192)
USE = QueueUse(Figure(412.0), Figure(38.0), 1.2, Figure(0.9), 5_361, (), ())
STORE = VersionStoreSample(300 * 2**20, None, whole_server=False)
READS = replace(USE, rows_per_pop=Figure.unknown("not counted"), dead=None, before=12.0, reads_per_pop=Figure(412.0))
STALE = StatisticsSample(1, 12, 40_112, 40_100, 400.0, 3)
ANALYZED = QueueUse(Figure(1.0), Figure(1.0), None, Figure(0.0), 0, (), ())
