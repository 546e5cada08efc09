"""Sizes of tables are read separately and expire: a session that locks a table prevents its size from being read."""

from __future__ import annotations

from qmon.engines.registry import engine_named
from qmon.model.samples.polled_samples import ServerSample
from qmon.model.samples.usage_samples import SizeSample, UseSample
from qmon.monitor.poll.server_probes import ServerProbes
from qmon.monitor.probes.own_reads import OwnUses
from qmon.monitor.probes.probe_statements import StatementCache
from qmon.monitor.probes.target_probes import TargetProbes

TABLE = 7


def test_a_size_stays_with_the_time_of_its_reading_and_is_read_at_once_for_a_new_table() -> None:
    statements = StatementCache(engine_named("postgres"), (18, 0))
    probes = ServerProbes(statements, TargetProbes(statements), None, OwnUses())
    use = UseSample(TABLE, 0, "orders", "table", 1, 1, 1, 0, 0, None)

    def size(at: float, *read: SizeSample) -> int | None:
        server = ServerSample(at, 500.0, 400.0, False, 5, 100, 0, 0)
        found = probes.record_results({("", "uses"): (use,), ("", "sizes"): read}, server, one_trip=True)
        assert found.uses is not None
        return found.uses[0].bytes

    def asked(now: float, *tables: int) -> list[str]:
        return [each.part for each in probes.statements_for_poll(now, tables) if each.probe == "sizes"]

    assert asked(0.0, TABLE) == ["7"]
    assert size(1_000.0) is None
    assert size(1_001.0, SizeSample(TABLE, 0, 8192), SizeSample(TABLE, 9, 1)) == 8192
    assert asked(1.0, TABLE) == []
    assert size(1_121.0) == 8192
    assert probes.sized_at((TABLE, 8)) == 1_001.0
    assert probes.sized_at((8,)) is None
    assert asked(2.0, TABLE, 8) == ["7", "8"]
