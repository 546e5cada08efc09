"""Layouts as dictionaries are parsed unchanged; the error for an invalid one names its path."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.errors import BadInput
from qmon.model.formatting import format_duration, parse_duration
from qmon.model.layout.layout import Layout, StateColumn, TableName
from qmon.model.layout.layout_io import layout_from_dict, layout_to_dict, table_from_text, table_to_text
from tests.strategies import layouts, tables


@given(layouts)
def test_a_layout_comes_back_as_it_was_even_through_json(layout: Layout) -> None:
    assert layout_from_dict(json.loads(json.dumps(layout_to_dict(layout)))) == layout


@given(tables)
def test_a_table_comes_back_as_it_was(table: TableName) -> None:
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
    with pytest.raises(BadInput, match="is not a table"):
        table_from_text(text)


def from_toml(text: str) -> Layout:
    return layout_from_dict(tomllib.loads(text), where="q")


def test_three_lines_are_enough() -> None:
    assert from_toml('name = "mails"\ntable = "dbo.Mail"\nid = "Id"') == Layout(
        "mails", "fifo", TableName("dbo", "Mail"), id="Id"
    )
    assert from_toml('name = "mails"\ntable = "Mail"\ndesign = "heap"') == Layout(
        "mails", "heap", TableName("", "Mail")
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
    with pytest.raises(BadInput, match=r"q\.pop: 'update' is unknown"):
        from_toml('name = "a"\ntable = "b"\nid = "c"\npop = "update"')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('table = "b"\nid = "c"', "q: needs name"),
        ('name = "a"\nid = "c"', "q: needs table"),
        ('name = "a"\ntable = "b"', "q: needs an id, the column that numbers the messages, or a design"),
        ('name = "a"\ntable = "b"\nid = 5', "q.id: must be a text in quotes, not a whole number"),
        ('name = ""\ntable = "b"\nid = "c"', "q.name: is empty; leave the key out instead"),
        ('name = "a"\ntable = "b"\nid = "c"\npaylod = "d"', "q.paylod: unknown key; did you mean payload?"),
        ('name = "a"\ntable = "b"\ndesign = "batchfast"', "q.design: 'batchfast' is unknown; did you mean batch_fast?"),
        ('name = "a"\ntable = "a.b.c"\nid = "c"', "q.table: 'a.b.c' is not a table name: "),
        ('name = "a"\ntable = "b"\nid = "c"\ntimeout = "5 min"', "q.timeout: '5 min' is not a duration: "),
        ('name = "a"\ntable = "b"\nid = "c"\ntimeout = 0', "q.timeout: '0' is not a duration: "),
        ('name = "a"\ntable = "b"\nid = "c"\nmax_attempts = 0', "q.max_attempts: must be from 1 to 1,000,000, not 0"),
        ('name = "a"\ntable = "b"\nid = "c"\nmax_attempts = 2.5', "q.max_attempts: must be a whole number"),
        ('name = "a"\ntable = "b"\nid = "c"\nmax_attempts = ""', "q.max_attempts: is empty; leave the key out"),
        ('name = "a"\ntable = "b"\nid = "c"\norder = "d"', "q.order: must be a list, not a text"),
        ('name = "a"\ntable = "b"\nid = "c"\norder = ["d", "d"]', "q.order[2]: d is listed twice"),
        ('name = "a"\ntable = "b"\nid = "c"\norder = [{column = "d", down = true}]', "q.order[1].down: unknown key"),
        ('name = "a"\ntable = "b"\nid = "c"\norder = [7]', "q.order[1]: must be a table of keys, not a whole number"),
        ('name = "a"\ntable = "b"\nid = "c"\nwrites = {done = {}}', "q.writes.done: unknown key"),
        ('name = "a"\ntable = "b"\nid = "c"\nwrites = {ready = {d = "soon"}}', "q.writes.ready.d: must be null, now, "),
        ('name = "a"\ntable = "b"\nid = "c"\nwrites = {ready = {d = {}}}', "q.writes.ready.d: needs value"),
        ('name = "a"\ntable = "b"\nid = "c"\nwrites = {ready = {d = 1.5}}', "q.writes.ready.d: must be a text or "),
        (
            f'name = "a"\ntable = "b"\nid = "c"\nwrites = {{ready = {{d = {2**63}}}}}',
            "q.writes.ready.d: is out of range",
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nwrites = {ready = {d = "front"}}',
            "q.writes.ready.d: front needs a column",
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\norder = ["d"]\nwrites = {dead = {d = "front"}}',
            "q.writes.dead.d: front is only for ready messages",
        ),
        ('name = "a"\ntable = "b"\nid = "c"\nstate = {ready = 1}', "q.state: needs column"),
        ('name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", done = 1}', "q.state: needs ready, "),
        ('name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", redy = 1}', "q.state.redy: unknown key; did you "),
        ('name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", ready = 1.5}', "q.state.ready: must be a text or "),
        (
            'name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", ready = 1, in_progress = 2, dead = 2}',
            "q.state: in_progress and dead have the same value (2 and 2); give each state a different value",
        ),
        (
            'name = "a"\ntable = "b"\nid = "c"\nstate = {column = "d", ready = "1", done = 1}',
            'q.state: ready and done have the same value ("1" and 1); give each state a different value',
        ),
        ('name = "a"\ntable = "b"\ndesign = "naive"\nstate = "S"', "q.state: needs ready, "),
        ('name = "a"\ntable = "b"\nid = "c"\nowner = {column = "d", kind = "sesion"}', "q.owner.kind: 'sesion' is unk"),
        (
            'name = "a"\ntable = "b"\nid = "c"\nowner = {column = "d", held_while_working = 1}',
            "q.owner.held_wh",
        ),
        ('name = "a"\ntable = "b"\nring = {size = 0}', "q.ring.size: a ring needs its number of slots (at least 1)"),
        ('name = "a"\ntable = "b"\nring = {size = 8, push_sequence = "s"}', "q.ring: needs pop_sequence"),
        ('name = "a"\ntable = "b"\nid = "c"\nproducers = "x"', "q.producers: must be a table of keys, not a text"),
        (
            'name = "a"\ntable = "b"\nid = "c"\nproducers = {app = "x"}',
            "q.producers.app: unknown key; did you mean applic",
        ),
    ],
)
def test_each_fault_is_named_with_its_path(text: str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        from_toml(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5m", 300), ("90s", 90), ("1h30m", 5400), ("500ms", 0.5), ("2s", 2), ("1.5s", 1.5), (" 1D 2H ", 93600)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "0s", "-5m", "5 min", "m", "5mm", "1e3", "nan", "inf", "5m!"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="is not a duration"):
        parse_duration(text)


@given(st.floats(1e-9, 8e8) | st.integers(1, 8 * 10**8).map(float))
def test_a_duration_comes_back_as_it_was(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


def test_durations_are_written_short() -> None:
    assert [format_duration(s) for s in (300.0, 90.0, 5400.0, 0.5, 86400.0)] == ["5m", "1m30s", "1h30m", "500ms", "1d"]
