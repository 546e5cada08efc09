"""Payloads of bytes, for people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qmon.model.payloads import readable


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (None, None),
        ("", ""),
        ("plain", "plain"),
        ("\\x", ""),
        ("\\x7b2261223a317d", '{"a":1}'),
        ("0x7B2261223A317D", '{"a":1}'),
        ("\\x610a62", "a\nb"),
        ("\\x61c3", "a"),  # the server cut a character in two
        ("\\x616", "a"),  # or a byte
        ("\\xff00", "\\xff00"),
        ("\\x1b5b33316d", "\\x1b5b33316d"),
        ("\\xno digits", "\\xno digits"),
        ("0x", ""),
    ],
)
def test_bytes_are_text_where_they_are_text(written: str | None, shown: str | None) -> None:
    assert readable(written) == shown


@given(st.text(st.characters(categories=("L", "N", "P", "S"))), st.integers(0, 200))
def test_any_printable_text_is_read_as_far_as_it_was_sent(text: str, cut: int) -> None:
    shown = readable(("\\x" + text.encode().hex())[: 2 + cut])
    assert shown is not None
    assert text.startswith(shown)
    assert len(shown.encode()) > min(cut // 2, len(text.encode())) - 4
