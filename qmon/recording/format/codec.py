"""From frozen records to plain JSON values and back, compiled from their types: no record is known here by name.

A field that has its default is left out; a field that is missing takes its default, and one that is not known is
passed over. So a record may gain fields with defaults for ever; what it must never do is change a default.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, Literal, TypeAlias, get_args, get_origin

from qmon.errors import QmonError

Plain: TypeAlias = Any
"""What ``json`` writes: numbers, texts, lists and dictionaries of them."""
Apart: TypeAlias = Mapping[type, Callable[[Any], Any]]
"""What becomes of records of these types instead, such as a reference to one that is written once."""
Change: TypeAlias = Callable[[str], Callable[[Any], Any] | None]

_SCALARS: Final = (str, int, float, bool, type(None))


class Unsupported(QmonError):
    """A type that the codec cannot write; a record must not have such a field."""


class Damaged(QmonError):
    """Values that are not what a record needs; the message says which field of which record."""


class Codec:
    """Writes and reads records.

    Args:
        write: how records of some types are written instead of field by field.
        read: the same the other way.
        change: by the name of a record's field, what becomes of its value before it is written; ``None``: nothing.
    """

    def __init__(self, write: Apart | None = None, read: Apart | None = None, change: Change | None = None) -> None:
        self._change = change or (lambda name: None)
        self._write = dict(write or {})
        self._read = dict(read or {})
        self._writers: dict[Any, Callable[[Any], Plain] | None] = {}
        self._readers: dict[Any, Callable[[Plain], Any] | None] = {}

    def encode(self, record: Any) -> Plain:
        """The record as plain values. Raises ``Unsupported`` for a type that has no such form."""
        writer = self._writer(type(record))
        return record if writer is None else writer(record)

    def decode(self, kind: type, value: Plain) -> Any:
        """The record of that type that ``value`` was made from. Raises ``Damaged`` where it is none."""
        reader = self._reader(kind)
        return value if reader is None else reader(value)

    # ------------------------------------------------------------------------------------------------- writing

    def _writer(self, kind: Any) -> Callable[[Any], Plain] | None:
        """How a type is written; ``None``: as it is."""
        if kind not in self._writers:
            self._writers[kind] = self._make_writer(kind)
        return self._writers[kind]

    def _make_writer(self, kind: Any) -> Callable[[Any], Plain] | None:
        if kind in self._write:
            return self._write[kind]
        if kind in _SCALARS or get_origin(kind) is Literal:
            return None
        if isinstance(kind, type) and issubclass(kind, Enum):
            return lambda value: value.value
        if is_dataclass(kind):
            return self._record_writer(typing.cast(type, kind))
        if (arm := optional(kind)) is not None:
            inner = self._writer(arm)
            return None if inner is None else _unless_none(inner)
        if _all_plain(kind):
            return None
        return self._container_writer(kind)

    def _container_writer(self, kind: Any) -> Callable[[Any], Plain]:
        origin, args = get_origin(kind), get_args(kind)
        if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
            inner = self._writer(args[0])
            return list if inner is None else _each(inner, list)
        if origin is tuple:
            parts = [self._writer(each) for each in args]
            return lambda value: [e if w is None else w(e) for w, e in zip(parts, value, strict=True)]
        if origin is frozenset:
            inner = self._writer(args[0])
            return lambda value: sorted(each if inner is None else inner(each) for each in value)
        if isinstance(origin, type) and issubclass(origin, Mapping) and args[0] is str:
            inner = self._writer(args[1])
            return dict if inner is None else _each_value(inner)
        raise Unsupported(f"a recording cannot hold {kind!r}")

    def _record_writer(self, kind: type) -> Callable[[Any], Plain]:
        parts: list[tuple[str, Any, Callable[[Any], Plain] | None]] = []

        def write(record: Any) -> Plain:
            found = {}
            for name, default, writer in parts:
                value = getattr(record, name)
                if value is default or value == default:
                    continue
                found[name] = value if writer is None else writer(value)
            return found

        self._writers[kind] = write  # a record may hold records of its own kind
        for field, hint in typed_fields(kind):
            writer, change = self._writer(hint), self._change(field.name)
            parts.append((field.name, default_of(field), writer if change is None else _after(change, writer)))
        return write

    # ------------------------------------------------------------------------------------------------- reading

    def _reader(self, kind: Any) -> Callable[[Plain], Any] | None:
        if kind not in self._readers:
            self._readers[kind] = self._make_reader(kind)
        return self._readers[kind]

    def _make_reader(self, kind: Any) -> Callable[[Plain], Any] | None:
        if kind in self._read:
            return self._read[kind]
        if kind in _SCALARS or get_origin(kind) is Literal:
            return None
        if isinstance(kind, type) and issubclass(kind, Enum):
            return kind
        if is_dataclass(kind):
            return self._record_reader(typing.cast(type, kind))
        if (arm := optional(kind)) is not None:
            inner = self._reader(arm)
            return None if inner is None else _unless_none(inner)
        if _all_plain(kind):
            return None
        return self._container_reader(kind)

    def _container_reader(self, kind: Any) -> Callable[[Plain], Any]:
        origin, args = get_origin(kind), get_args(kind)
        if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
            inner = self._reader(args[0])
            return tuple if inner is None else _each(inner, tuple)
        if origin is tuple:
            parts = [self._reader(each) for each in args]
            return lambda value: tuple(e if r is None else r(e) for r, e in zip(parts, value, strict=True))
        if origin is frozenset:
            inner = self._reader(args[0])
            return lambda value: frozenset(each if inner is None else inner(each) for each in value)
        if isinstance(origin, type) and issubclass(origin, Mapping) and args[0] is str:
            inner = self._reader(args[1])
            return dict if inner is None else _each_value(inner)
        raise Unsupported(f"a recording cannot hold {kind!r}")

    def _record_reader(self, kind: type) -> Callable[[Plain], Any]:
        readers: dict[str, Callable[[Plain], Any] | None] = {}

        def read(value: Plain) -> Any:
            given = {}
            try:
                for name, each in value.items():
                    if name in readers:
                        reader = readers[name]
                        given[name] = each if reader is None else reader(each)
                return kind(**given)
            except (TypeError, ValueError, AttributeError, KeyError) as problem:
                raise Damaged(f"no {kind.__name__}: {problem}") from None

        self._readers[kind] = read
        for field, hint in typed_fields(kind):
            readers[field.name] = self._reader(hint)
        return read


@cache
def typed_fields(kind: type) -> tuple[tuple[Field[Any], Any], ...]:
    """The fields of a record with their types."""
    hints = typing.get_type_hints(kind)
    return tuple((field, hints[field.name]) for field in fields(kind) if field.init)


def default_of(field: Field[Any]) -> Any:
    """What the field is where nothing is given; ``MISSING`` where it must be."""
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default


def optional(kind: Any) -> Any:
    """The type that may be ``None`` in ``X | None``, where ``X`` is not plain; else ``None``."""
    if get_origin(kind) not in (types.UnionType, typing.Union):
        return None
    arms = [arm for arm in get_args(kind) if arm is not type(None)]
    return arms[0] if len(arms) == 1 else None


def _after(change: Callable[[Any], Any], write: Callable[[Any], Any] | None) -> Callable[[Any], Any]:
    return change if write is None else (lambda value: write(change(value)))


def _unless_none(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else change(value)


def _each(change: Callable[[Any], Any], box: type) -> Callable[[Any], Any]:
    return lambda value: box([change(each) for each in value])


def _each_value(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: {key: change(each) for key, each in value.items()}


def _all_plain(kind: Any) -> bool:
    """Whether it is a union of texts and numbers, which JSON tells apart by itself."""
    return get_origin(kind) in (types.UnionType, typing.Union) and all(arm in _SCALARS for arm in get_args(kind))
