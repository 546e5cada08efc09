"""Frozen records as JSON and back, by msgspec; no record is known here by name.

A field that has its default is left out; a field that is missing takes its default, and one that is not known is
passed over. So a record may gain fields with defaults; what it must never do is change a default.
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
from qmon.recording.format.frames import Damaged, check_numbers, plain_json

Record = TypeVar("Record")
_STATEMENTS: Final = re.compile(r"statement|query|sql")
# Fields with what a message contains. An error may quote any part of it.
_PAYLOADS: Final = ("payload", "error")
# msgspec examines a type when it is first used. If two threads do that at the same moment, for one type or for two that
# share a third, the process ends with a segmentation fault (msgspec 0.22).
_BUILDING: Final = threading.RLock()
_FINITE: Final = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]


class StatementText(str):
    """A text of a field that is named for a statement: passwords may be in it."""


class PayloadText(str):
    """A text of a field that contains a part of a message."""


# What is written of a `StatementText` or a `PayloadText`.
Cover = Callable[[Any], str | None]


def encode(record: object, cover: Cover = str) -> bytes:
    """The record as JSON. Infinite numbers and halves of characters, which msgspec does not write, come as Python has
    them: ``Infinity`` and ``\\ud800``.
    """
    try:
        return msgspec.json.encode(_stored(record, finite=True), enc_hook=cover)
    except (msgspec.ValidationError, UnicodeEncodeError):
        plain = msgspec.to_builtins(_stored(record, finite=False), enc_hook=cover)
        return json.dumps(plain, separators=(",", ":")).encode("ascii")


def decode(kind: type[Record], text: bytes) -> Record:
    """The record of that type that ``text`` was made from. Raises ``Damaged`` where it is none, with the field."""
    wanted: Any = kind
    try:
        check_numbers(text)
        try:
            found: Record = _decoder(wanted).decode(text)
        except (msgspec.DecodeError, RecursionError):
            found = msgspec.convert(plain_json(text), kind)
    except (ValueError, RecursionError, Damaged) as problem:
        raise Damaged(f"no {kind.__name__}: {problem}") from None
    return found


@functools.cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    with _BUILDING:
        return msgspec.json.Decoder(kind)


def _stored(record: object, *, finite: bool) -> Any:
    kind: Any = type(record)
    return msgspec.convert(record, struct_of(kind, finite), from_attributes=True, dec_hook=_marked)


def _marked(kind: type, value: str) -> object:
    return kind(value)


@functools.cache
def struct_of(kind: Any, finite: bool) -> Any:
    """Return the type that a dataclass is written as. ``finite``: it refuses numbers that JSON does not know."""
    with _BUILDING:
        found = _struct(kind, finite)
        msgspec.json.Decoder(found)  # msgspec examines it now, before another thread can use it
        return found


@functools.cache
def _struct(kind: Any, finite: bool) -> Any:
    def written(hint: Any, text: type) -> Any:
        origin, args = get_origin(hint), get_args(hint)
        if hint is str:
            return text
        if hint is float:
            return _FINITE if finite else float
        if isinstance(hint, type) and is_dataclass(hint):
            return _struct(hint, finite)
        if not args or origin is Literal:
            return hint
        parts = tuple(part if part is Ellipsis else written(part, text) for part in args)
        if origin in (types.UnionType, typing.Union):
            return functools.reduce(operator.or_, parts)
        generic: Any = dict if origin not in (tuple, frozenset) else origin
        return generic[parts]

    parts: list[Any] = [
        (field.name, written(hint, _text(kind, field.name)), *_left_out(field)) for field, hint in typed_fields(kind)
    ]
    return msgspec.defstruct(kind.__name__, parts, omit_defaults=True, kw_only=True)


def _text(kind: type, name: str) -> type:
    """The type of the texts of a field."""
    if kind is Layout:  # the names of columns
        return str
    return PayloadText if name in _PAYLOADS else StatementText if _STATEMENTS.search(name) else str


def _left_out(field: Field[Any]) -> tuple[Any, ...]:
    """The default with which a field is left out; one of another kind is always written."""
    if field.default_factory in (dict, list):
        return (msgspec.field(default_factory=field.default_factory),)
    plain = field.default is None or isinstance(field.default, bool | int | float | str) or field.default == ()
    return (field.default,) if plain else ()


@functools.cache
def typed_fields(kind: type) -> tuple[tuple[Field[Any], Any], ...]:
    """The fields of a record with their types."""
    hints = typing.get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in fields(kind) if field.init)
