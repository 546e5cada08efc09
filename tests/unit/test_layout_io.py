"""Layouts as dictionaries are parsed unchanged; the error for an invalid one names its path."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.errors import BadInput
from qmon.model.config_reader import KeyText
from qmon.model.formatting import DurationText, format_duration, parse_duration
from qmon.model.layout.layout import Layout, ObjectName, StateColumn
from qmon.model.layout.layout_io import LayoutText, layout_from_dict, layout_to_dict, table_from_text, table_to_text
from qmon.model.layout.requeue_options import RequeueOptionText
from tests.strategies import layouts, tables
from tests.wordings import pattern


@given(layouts)
def test_a_layout_comes_back_as_it_was_even_through_json(layout: Layout) -> None:
    assert layout_from_dict(json.loads(json.dumps(layout_to_dict(layout)))) == layout


@given(tables)
def test_a_table_comes_back_as_it_was(table: ObjectName) -> None:
    assert table_from_text(table_to_text(table)) == table


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("t", ("t",)),
        ("dbo.OrderQueue", ("dbo", "OrderQueue")),
        (" dbo . t ", ("dbo", "t")),
        ("two words.t", ("two words", "t")),
        ("[a]]b].[c d]", ("a]b", "c d")),
        ('"a""b"."c.d"', ('a"b', "c.d")),
        ("dbo.[; drop table x; --]", ("dbo", "; drop table x; --")),
        ("😀.'", ("😀", "'")),
    ],
)
def test_tables_are_read_as_people_write_them(text: str, parts: tuple[str, ...]) -> None:
    assert table_from_text(text).parts == parts


@pytest.mark.parametrize("text", ["", " ", ".", "a.", ".a", "a..b", "a.b.c", "[a", '"a', "[a]b", "[].x", "a]"])
def test_what_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=pattern(LayoutText.NOT_A_TABLE_NAME)):
        table_from_text(text)


def from_toml(text: str) -> Layout:
    return layout_from_dict(tomllib.loads(text), where="q")


def test_three_lines_are_enough() -> None:
    assert from_toml('name = "mails"\ntable = "dbo.Mail"\nid = "Id"') == Layout(
        "mails", "fifo", ObjectName("dbo", "Mail"), id="Id"
    )
    assert from_toml('name = "mails"\ntable = "Mail"\ndesign = "heap"') == Layout(
        "mails", "heap", ObjectName("", "Mail")
    )


@pytest.mark.parametrize(
    ("more", "design", "state"),
    [
        ('state = "S"', "status", StateColumn("S", 1, 2)),
        ('state = "S"\ndesign = "batch_fast"', "batch_fast", StateColumn("S", 0, 1)),
        ('state = "S"\ndesign = "flag"', "flag", StateColumn("S", 0, None, 1)),
        ('state = {column = "S", ready = "new", done = "old"}', "flag", StateColumn("S", "new", None, "old")),
        ('state = {column = "S", ready = false, done = true}', "flag", StateColumn("S", "false", None, "true")),
        ('state = {column = "S", ready = 0, in_progress = 1}', "status", StateColumn("S", 0, 1)),
        ('due_at = "D"', "pending", None),
        ('data_table = "D"', "batch_fast", None),
        ('ring = {size = 8, push_sequence = "a", pop_sequence = "b"}', "ring", None),
    ],
)
def test_what_is_not_said_follows_from_the_rest(more: str, design: str, state: StateColumn | None) -> None:
    layout = from_toml(f'name = "a"\ntable = "b"\nid = "c"\n{more}')
    assert (layout.design, layout.state) == (design, state)


def test_a_pop_may_delete_a_row_that_has_a_state() -> None:
    layout = from_toml('name = "a"\ntable = "b"\nid = "c"\nstate = "S"\npop = "delete"')
    assert (layout.design, layout.pop, layout.deletes_on_pop) == ("status", "delete", True)
    assert layout_from_dict(layout_to_dict(layout)) == layout
    assert not from_toml('name = "a"\ntable = "b"\nid = "c"\nstate = "S"').deletes_on_pop
    with pytest.raises(BadInput, match=pattern(KeyText.UNKNOWN_VALUE, path="q.pop", value="update")):
        from_toml('name = "a"\ntable = "b"\nid = "c"\npop = "update"')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('table = "b"\nid = "c"', pattern(KeyText.MISSING, path="q", name="name")),
        ('name = "a"\nid = "c"', pattern(KeyText.MISSING, path="q", name="table")),
        ('name = "a"\ntable = "b"', pattern(KeyText.MISSING, path="q", name=LayoutText.ID_OR_DESIGN)),
        ('name = "a"\ntable = "b"\nid = 5', pattern(KeyText.NOT_A_TEXT, path="q.id", kind=KeyText.WHOLE_NUMBER)),
        ('name = ""\ntable = "b"\nid = "c"', pattern(KeyText.EMPTY, path="q.name")),
        (
            'name = "a"\ntable = "b"\nid = "c"\npaylod = "d"',
            pattern(KeyText.UNKNOWN_KEY, path="q.paylod", hint=KeyText.DID_YOU_MEAN.render(word="payload")),
        ),
        (
            'name = "a"\ntable = "b"\ndesign = "batchfast"',
            pattern(
                KeyText.UNKNOWN_VALUE,
                path="q.design",
                value="batchfast",
                hint=KeyText.DID_YOU_MEAN.render(word="batch_fast"),
            ),
        ),
        ('name = "a"\ntable = "a.b.c"\nid = "c"', r"q\.table: " + pattern(LayoutText.NOT_A_TABLE_NAME, text="a.b.c")),
        (
            'name = "a"\ntable = "b"\nid = "c"\ntimeout = "5 min"',
            r"q\.timeout: " + pattern(DurationText.NOT_A_DURATION, text="5 min"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\ntimeout = 0',
            r"q\.timeout: " + pattern(DurationText.NOT_A_DURATION, text="0"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nmax_attempts = 0',
            pattern(RequeueOptionText.ATTEMPTS_OUT_OF_RANGE, path="q.max_attempts", limit=1000000, value=0),
        ),
        ('name = "a"\ntable = "b"\nid = "c"\nmax_attempts = 2.5', pattern(KeyText.NOT_WHOLE, path="q.max_attempts")),
        ('name = "a"\ntable = "b"\nid = "c"\nmax_attempts = ""', pattern(KeyText.EMPTY, path="q.max_attempts")),
        (
            'name = "a"\ntable = "b"\nid = "c"\norder = "d"',
            pattern(KeyText.NOT_A_LIST, path="q.order", kind=KeyText.TEXT),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\norder = ["d", "d"]',
            pattern(RequeueOptionText.LISTED_TWICE, where="q.order[2]", column="d"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\norder = [{column = "d", down = true}]',
            pattern(KeyText.UNKNOWN_KEY, path="q.order[1].down"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\norder = [7]',
            pattern(KeyText.NOT_A_TABLE, path="q.order[1]", kind=KeyText.WHOLE_NUMBER),
        ),
        ('name = "a"\ntable = "b"\nid = "c"\nwrites = {done = {}}', pattern(KeyText.UNKNOWN_KEY, path="q.writes.done")),
        (
            'name = "a"\ntable = "b"\nid = "c"\nwrites = {ready = {d = "soon"}}',
            pattern(RequeueOptionText.NOT_A_WRITE, path="q.writes.ready.d", words="null, now, front, keep"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nwrites = {ready = {d = {}}}',
            pattern(RequeueOptionText.NEEDS_VALUE, path="q.writes.ready.d"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nwrites = {ready = {d = 1.5}}',
            pattern(KeyText.NOT_A_SCALAR, path="q.writes.ready.d"),
        ),
        (
            f'name = "a"\ntable = "b"\nid = "c"\nwrites = {{ready = {{d = {2**63}}}}}',
            pattern(KeyText.OUT_OF_RANGE, path="q.writes.ready.d"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nwrites = {ready = {d = "front"}}',
            pattern(RequeueOptionText.FRONT_NEEDS_ORDER, path="q.writes.ready.d"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\norder = ["d"]\nwrites = {dead = {d = "front"}}',
            pattern(RequeueOptionText.FRONT_OF_READY_ONLY, path="q.writes.dead.d"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nstate = {ready = 1}',
            pattern(KeyText.MISSING, path="q.state", name="column"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", done = 1}',
            pattern(LayoutText.NEEDS_READY, where="q.state"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", redy = 1}',
            pattern(KeyText.UNKNOWN_KEY, path="q.state.redy", hint=KeyText.DID_YOU_MEAN.render(word="ready")),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", ready = 1.5}',
            pattern(KeyText.NOT_A_SCALAR, path="q.state.ready"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", ready = 1, in_progress = 2, dead = 2}',
            pattern(
                LayoutText.SAME_VALUE,
                where="q.state",
                first="in_progress",
                second="dead",
                first_value="2",
                second_value="2",
            ),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", ready = "1", done = 1}',
            pattern(
                LayoutText.SAME_VALUE,
                where="q.state",
                first="ready",
                second="done",
                first_value='"1"',
                second_value="1",
            ),
        ),
        ('name = "a"\ntable = "b"\ndesign = "naive"\nstate = "S"', pattern(LayoutText.NEEDS_READY, where="q.state")),
        (
            'name = "a"\ntable = "b"\nid = "c"\nowner = {column = "d", kind = "sesion"}',
            pattern(KeyText.UNKNOWN_VALUE, path="q.owner.kind", value="sesion"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nowner = {column = "d", held_while_working = 1}',
            pattern(KeyText.NOT_A_BOOLEAN, path="q.owner.held_while_working", kind=KeyText.WHOLE_NUMBER),
        ),
        ('name = "a"\ntable = "b"\nring = {size = 0}', pattern(LayoutText.RING_NEEDS_SIZE, where="q.ring")),
        (
            'name = "a"\ntable = "b"\nring = {size = 8, push_sequence = "s"}',
            pattern(KeyText.MISSING, path="q.ring", name="pop_sequence"),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nproducers = "x"',
            pattern(KeyText.NOT_A_TABLE, path="q.producers", kind=KeyText.TEXT),
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nproducers = {app = "x"}',
            pattern(KeyText.UNKNOWN_KEY, path="q.producers.app", hint=KeyText.DID_YOU_MEAN.render(word="application")),
        ),
    ],
)
def test_each_fault_is_named_with_its_path(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        from_toml(text)
    assert re.match(message, str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5m", 300), ("90s", 90), ("1h30m", 5400), ("500ms", 0.5), ("2s", 2), ("1.5s", 1.5), (" 1D 2H ", 93600)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-5m", "5 min", "m", "5mm", "1e3", "nan", "inf", "5m!"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=pattern(DurationText.NOT_A_DURATION)):
        parse_duration(text)


@given(st.floats(1e-9, 8e8) | st.integers(1, 8 * 10**8).map(float))
def test_a_duration_comes_back_as_it_was(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


def test_durations_are_written_short() -> None:
    assert [format_duration(s) for s in (300.0, 90.0, 5400.0, 0.5, 86400.0)] == ["5m", "1m30s", "1h30m", "500ms", "1d"]
