"""Records made from their types alone: a value for every field, whatever the fields are."""

from __future__ import annotations

import random
import types
import typing
from collections.abc import Mapping
from dataclasses import MISSING, Field, is_dataclass
from enum import Enum
from typing import Any, Literal, get_args, get_origin

from qmon.model.layout.designs import TRAITS
from qmon.model.layout.layout import Layout
from qmon.recording.format.codec import typed_fields

SCALARS = (str, int, float, bool, type(None))
TEXTS = ("", "mails", 'a"b\\c\n', "請求書 🎉", "\x00\x1b\u2028\ud800", "null")
NUMBERS = (0.0, 0.1 + 0.2, 1_780_000_000.123457, -1e-9, 1e300, 12_345_678_901_234.5)


def types_in(kind: Any, seen: set[Any] | None = None) -> set[Any]:
    """Return every type that a record of this kind may contain, at any depth."""
    found = set() if seen is None else seen
    if kind in found:
        return found
    found.add(kind)
    if is_dataclass(kind):
        for _, hint in typed_fields(typing.cast(type, kind)):
            types_in(hint, found)
    for part in get_args(kind) if get_origin(kind) is not Literal else ():
        types_in(part, found)
    return found


def made(kind: Any, rng: random.Random, *, depth: int = 0) -> Any:
    """Return a value of that type, with most fields filled."""
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return rng.choice(args)
    if origin in (types.UnionType, typing.Union):
        return made(rng.choice(args), rng, depth=depth)
    if origin is tuple:
        if args[-1] is Ellipsis:
            return tuple(made(args[0], rng, depth=depth + 1) for _ in range(rng.randint(0, 3)))
        return tuple(made(each, rng, depth=depth + 1) for each in args)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {rng.choice(TEXTS): made(args[1], rng, depth=depth + 1) for _ in range(rng.randint(0, 3))}
    if origin is frozenset:
        return frozenset(made(args[0], rng, depth=depth + 1) for _ in range(2))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return rng.choice(list(kind))
    if is_dataclass(kind):
        found = {f.name: made(hint, rng, depth=depth + 1) for f, hint in typed_fields(typing.cast(type, kind))}
        if kind is Layout:
            found["design"] = rng.choice(sorted(TRAITS))  # the fold of a snapshot needs an existing design
        return typing.cast(type, kind)(**found)
    return _scalar(kind, rng)


def _scalar(kind: Any, rng: random.Random) -> Any:
    if kind is str:
        return rng.choice(TEXTS)
    if kind is bool:
        return rng.random() < 0.5
    if kind is int:
        return rng.choice((0, 1, -1, 2**63, rng.randrange(10**9)))
    if kind is float:
        return rng.choice((*NUMBERS, rng.random()))
    assert kind is type(None), f"no value is known for {kind!r}"
    return None


def default_of(field: Field[Any]) -> Any:
    """Return the field's default, ``MISSING`` if it has none."""
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default
