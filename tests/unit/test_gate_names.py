"""The names of gates."""

from __future__ import annotations

from dataclasses import replace

from qmon.model.layout.layout import Layout, ObjectName, SharedTableQueue
from qmon.operate.actions.pause_switch import gate_trigger

TABLE = Layout("jobs", "fifo", ObjectName("public", "jobs"), id="id")


def test_each_queue_of_a_table_has_a_gate_of_its_own() -> None:
    values = (None, "", "mails", "invoices", '"; drop table x; --', "x" * 300)
    names = [
        gate_trigger(TABLE),
        *(gate_trigger(replace(TABLE, part=SharedTableQueue("jobs", each))) for each in values),
    ]
    assert names[0] == names[1] == "qmon_gate"  # the whole content of the table
    assert len(set(names)) == len(values)
    assert all(name.startswith("qmon_gate") and len(name) <= 63 for name in names)
