"""Converts frozen dataclasses to JSON and back with msgspec. Works for any record type.

A field that equals its default is not written. When a record is read, a missing field gets its default, and an unknown
field is ignored. New fields with defaults may therefore be added to a record, but a default must never change.
"""

from __future__ import annotations

import functools
import json
import operator
import re
import sys
import threading
import types
import typing
from collections.abc import Callable
from dataclasses import Field, fields, is_dataclass
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_origin

import msgspec

from qmon.model.layout.layout import Layout
from qmon.recording.format.frames import Damaged, check_integer_range, parse_bounded_json
from qmon.texts import Text


class CodecText(Text):
    """Why a value cannot be decoded."""

    NOT_VALID = "not a valid {kind}: {problem}"


Record = TypeVar("Record")
_STATEMENTS: Final = re.compile(r"statement|query|sql")

# Fields that contain a part of a message. An error may quote any part of the message, and a fingerprint of a message
# shows whether the message is a known text.
_PAYLOADS: Final = ("payload", "error", "fingerprint")

# msgspec builds its description of a type on first use. If two threads build the same type at the same time, the
# process crashes with a segmentation fault (msgspec 0.22). The same happens if they build two types that contain the
# same third type.
_BUILD_LOCK: Final = threading.RLock()
_FINITE: Final = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]


class StatementText(str):
    """The text of a field whose name shows that it contains a statement. Statements may contain passwords."""


class PayloadText(str):
    """The text of a field that contains a part of a message."""


# Returns what to write for a `StatementText` or a `PayloadText`.
Cover = Callable[[Any], str | None]


def encode(record: object, cover: Cover = str) -> bytes:
    """Return the record as JSON.

    msgspec cannot write infinite numbers or lone surrogates. If a record contains any, Python's ``json`` writes it,
    with ``Infinity`` and ``\\ud800``.
    """
    try:
        return msgspec.json.encode(_to_struct(record, finite=True), enc_hook=cover)
    except (msgspec.ValidationError, UnicodeEncodeError):
        plain = msgspec.to_builtins(_to_struct(record, finite=False), enc_hook=cover)
        return json.dumps(plain, separators=(",", ":")).encode("ascii")


def decode(kind: type[Record], text: bytes) -> Record:
    """Decode ``text`` to a record of type ``kind``.

    Raises ``Damaged``, with the name of the field, if ``text`` is not a valid record.
    """
    wanted: Any = kind
    try:
        check_integer_range(text)
        try:
            found: Record = _decoder(wanted).decode(text)
        except (msgspec.DecodeError, RecursionError):
            found = msgspec.convert(parse_bounded_json(text), kind)
    except (ValueError, RecursionError, Damaged) as problem:
        raise Damaged(CodecText.NOT_VALID.render(kind=kind.__name__, problem=problem)) from None
    return found


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    with _BUILD_LOCK:
        return msgspec.json.Decoder(kind)


def _to_struct(record: object, *, finite: bool) -> Any:
    kind: Any = type(record)
    return msgspec.convert(record, struct_of(kind, finite), from_attributes=True, dec_hook=_wrap_text)


def _wrap_text(kind: type, value: str) -> object:
    return kind(value)


@functools.cache
def struct_of(kind: Any, finite: bool) -> Any:
    """Return the msgspec type with which a dataclass is written.

    ``finite``: the type rejects numbers that JSON cannot express.
    """
    with _BUILD_LOCK:
        found = _build_struct(kind, finite)
        msgspec.json.Decoder(found)  # makes msgspec build the type now, before another thread can use the type
        return found


@functools.cache
def _build_struct(kind: Any, finite: bool) -> Any:
    def encoded_type(hint: Any, text: type) -> Any:
        origin, args = get_origin(hint), get_args(hint)
        if hint is str:
            return text
        if hint is float:
            return _FINITE if finite else float
        if isinstance(hint, type) and is_dataclass(hint):
            return _build_struct(hint, finite)
        if not args or origin is Literal:
            return hint
        parts = tuple(part if part is Ellipsis else encoded_type(part, text) for part in args)
        if origin in (types.UnionType, typing.Union):
            return functools.reduce(operator.or_, parts)
        generic: Any = dict if origin not in (tuple, frozenset) else origin
        return generic[parts]

    parts: list[Any] = [
        (field.name, encoded_type(hint, _text_type(kind, field.name)), *_omitted_default(field))
        for field, hint in typed_fields(kind)
    ]
    return msgspec.defstruct(kind.__name__, parts, omit_defaults=True, kw_only=True)


def _text_type(kind: type, name: str) -> type:
    """Return the type for the texts of a field: ``str``, or a type whose text is redacted when it is written."""
    if kind is Layout:  # these fields contain names of columns, not statements
        return str
    return PayloadText if name in _PAYLOADS else StatementText if _STATEMENTS.search(name) else str


def _omitted_default(field: Field[Any]) -> tuple[Any, ...]:
    """Return a tuple with the default that is not written, or an empty tuple if the field is always written."""
    if field.default_factory in (dict, list):
        return (msgspec.field(default_factory=field.default_factory),)
    plain = field.default is None or isinstance(field.default, bool | int | float | str) or field.default == ()
    return (field.default,) if plain else ()


@functools.cache
def typed_fields(kind: type) -> tuple[tuple[Field[Any], Any], ...]:
    """Return the init fields of a record with their resolved types."""
    hints = typing.get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in fields(kind) if field.init)
