"""Texts with any bytes are shown so that no two look the same, and each can be sent back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.engines.odbc import bytes_from_text, text_from_bytes
from qmon.model.layout.message_ids import split_id, split_ids

PIECES = st.sampled_from(
    [b"<", b">", b"E9", b"<E9>", b"3C", b"<3C>", b"\xe9", b"\xc3", b"\xa9", b"\\", b"/", b",", b"a"]
)
RAW = st.one_of(st.binary(), st.lists(PIECES).map(b"".join))


@given(RAW)
def test_what_is_written_is_read_back_as_the_same_bytes(raw: bytes) -> None:
    text = text_from_bytes(raw)
    assert bytes_from_text(text) == raw
    text.encode()


@given(st.lists(RAW, min_size=2, max_size=3))
def test_parts_of_an_id_are_the_same_bytes_again(parts: list[bytes]) -> None:
    joined = b"/".join(part.replace(b"\\", b"\\\\").replace(b"/", b"\\/") for part in parts)
    assert [bytes_from_text(part) for part in split_id(text_from_bytes(joined), len(parts))] == parts


@pytest.mark.parametrize("text", ["caf\u00e9", "<B>1</B>", "<e9>", "\\xe9"])
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert text_from_bytes(text.encode()) == text


def test_bytes_that_are_not_utf_8_are_written_by_their_value() -> None:
    assert text_from_bytes(b"caf\xe9") == "caf<E9>"
    assert text_from_bytes(b"caf<E9>") == "caf<3C>E9>"


def test_a_list_of_ids_keeps_written_bytes() -> None:
    assert split_ids("caf<E9>,a\\,<E9>") == ("caf<E9>", "a,<E9>")


def test_bytes_that_the_command_line_could_not_decode_are_sent_as_they_were_typed() -> None:
    assert bytes_from_text("caf\udce9") == b"caf\xe9"
