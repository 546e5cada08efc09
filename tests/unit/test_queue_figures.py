"""The table of figures matches the view; every figure of a poll has a value or a reason."""

from __future__ import annotations

from dataclasses import fields

from qmon.model.queue_figures import DIRECT_FIGURES, QUEUE_FIGURES
from qmon.model.samples.polled_samples import ValueSample
from qmon.model.view import QueueView
from qmon.monitor.state.sample_figures import FROM_SAMPLES
from qmon.monitor.state.target_history import TargetHistory
from qmon.tui.overview import queue_rows
from tests.tui.scripted import queue
from tests.unit.polls import COUNTERS, fifo, poll

NAMES = frozenset(figure.field for figure in QUEUE_FIGURES)


def test_each_figure_of_a_queue_has_one_row() -> None:
    direct = [figure.field for figure in DIRECT_FIGURES]
    assert sorted(figure.field for figure in QUEUE_FIGURES) == sorted(
        [*direct, *(field.name for field in fields(QueueView) if field.type == "Figure")]
    )


def test_a_figure_without_a_field_has_a_function_or_a_probe() -> None:
    assert {figure.field for figure in DIRECT_FIGURES} <= FROM_SAMPLES.keys()
    assert FROM_SAMPLES.keys() <= NAMES


def test_the_probe_of_a_figure_has_its_name_and_an_index_and_returns_one_value() -> None:
    for figure in QUEUE_FIGURES:
        probe = figure.probe
        if probe is None:
            continue
        assert (probe.name, probe.feeds, probe.record) == (figure.field, (figure.field,), ValueSample)
        assert probe.index, figure.field
        assert probe.subject, figure.field
        assert figure.column_title, figure.field


def test_each_figure_has_a_value_or_says_why_not() -> None:
    (seen,) = TargetHistory().record_snapshot(poll(1, 1000.0, fifo(COUNTERS))).queues
    read = {each.field: each.figure_for(seen) for each in QUEUE_FIGURES}
    assert {name for name, figure in read.items() if figure.value is None and not figure.reason} == set()


def test_each_column_that_can_be_sorted_by_sorts() -> None:
    few, many = (queue(name, ready=ready) for name, ready in (("few", 1), ("many", 9)))
    assert [each.name for each in queue_rows.sort_queues([few, many], "ready", descending=True)] == ["many", "few"]
    for column in queue_rows.COLUMNS:
        if column.sortable:
            assert len(queue_rows.sort_queues([few, many], column.key, descending=False)) == 2
    assert {column.key for column in queue_rows.COLUMNS if column.sortable} - NAMES == {"queue", "design", "verdict"}
