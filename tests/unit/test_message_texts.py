"""Statements that read one message, for columns of every type, and the display of payloads; without a server."""

from __future__ import annotations

import json

from qmon.engines.postgres.postgres_engine import Postgres
from qmon.engines.sqlserver.sqlserver_engine import SqlServer
from qmon.tui.message.payload import payload_text
from tests.unit.sent_tsql import message_row


def test_an_index_serves_a_key_of_any_type() -> None:
    """Text is compared as the column's own type of text, bytes as bytes; PostgreSQL uses the column's own type."""
    assert "q.[]]varchar]]] = CAST(? AS varchar(450))" in message_row(SqlServer(), "varchar", "int")
    assert "q.[]]varbinary]]] = CONVERT(varbinary(900), ?, 1)" in message_row(SqlServer(), "varbinary", "int")
    assert 'q."]uuid]" = CAST(? AS uuid)' in message_row(Postgres(), "uuid", "int")


def test_nothing_but_blanks_is_changed_in_json() -> None:
    text = '{"a": 1.10, "a": [1e400, {}, []], "b":"\\u0041 , {\\"", "n" :123456789012345678901234567890}'
    shown = payload_text(text)
    assert shown.kind == "JSON"
    assert shown.lines == (
        "{",
        '  "a": 1.10,',
        '  "a": [',
        "    1e400,",
        "    {},",
        "    []",
        "  ],",
        '  "b": "\\u0041 , {\\"",',
        '  "n": 123456789012345678901234567890',
        "}",
    )
    assert json.loads("".join(shown.lines)) == json.loads(text)


def test_what_only_looks_like_json_or_xml_is_text() -> None:
    for text in ('{"a": }', "[1, 2", "<a><b></a>", "< 3", "[" * 100_000, "{" * 5 + "}" * 5):
        assert payload_text(text) == payload_text(text.replace("\r", ""))
        assert payload_text(text).kind == "text"
        assert "".join(payload_text(text).lines) == text


def test_what_is_cut_is_indented_as_far_as_it_goes() -> None:
    shown = payload_text('{"a": [1, {"b": "half a te', cut=True)
    assert shown.lines == ("{", '  "a": [', "    1,", "    {", '      "b": "half a te')
    assert payload_text("<a><b>x</b><c d='", cut=True).lines[:2] == ("<a>", "  <b>x</b>")


def test_xml_is_indented_and_no_entity_expanded() -> None:
    text = "<?xml version='1.0'?><a b='>'><!-- <c> --><d>x &amp; &#112;</d><e/><f><![CDATA[<g>]]></f></a>"
    shown = payload_text(text)
    assert shown.kind == "XML"
    assert shown.lines == (
        "<?xml version='1.0'?>",
        "<a b='>'>",
        "  <!-- <c> -->",
        "  <d>x &amp; &#112;</d>",
        "  <e/>",
        "  <f>",
        "    <![CDATA[<g>]]>",
        "  </f>",
        "</a>",
    )
    bomb = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    assert payload_text(bomb) == payload_text(bomb, cut=False)
    assert payload_text(bomb).kind == "text"
    assert "".join(payload_text(bomb).lines) == bomb


def test_no_nesting_makes_it_larger_than_it_may_get() -> None:
    deep = payload_text("[" * 50_000, cut=True)
    assert max(map(len, deep.lines)) <= 100
    many = payload_text("[" + "0," * 400_000, cut=True)
    assert (many.kind, len(many.lines)) == ("text", 1)
    for unclosed in ("<a>" + "<!--" * 250_000, "<![CDATA[" * 100_000, "<?" * 500_000, "<a '\"" * 200_000):
        assert "".join(payload_text(unclosed, cut=True).lines).replace(" ", "") == unclosed.replace(" ", "")


def test_controls_of_a_terminal_are_symbols_in_every_kind() -> None:
    for text in ("\x1b[31m\x00\x07", '{"a": "\x9b\u202e"}', "<a>\x1b</a>"):
        for cut in (False, True):
            shown = "".join(payload_text(text, cut=cut).lines)
            assert shown.isprintable(), ascii(shown)
    assert payload_text(bytes(range(256))).lines[0] == f"00000000  {bytes(range(16)).hex(' ')}  {'.' * 16}"
    assert payload_text("a\tb\r\nc\rd\n\n").lines == ("a   b", "c", "d", "", "")
