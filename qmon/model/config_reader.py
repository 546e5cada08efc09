"""Read an external dictionary key by key. Errors name missing, unknown or mistyped keys by their path."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from types import NoneType
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from qmon.errors import BadInput
from qmon.model.formatting import parse_duration
from qmon.texts import Text


class KeyText(Text):
    """Errors of keys and values."""

    DID_YOU_MEAN = "; did you mean {word}?"
    CHOOSE_FROM = "; choose from: {words}"
    NOT_A_TABLE = "{path}: must be a table of keys, not {kind}"
    NOT_A_TEXT = "{path}: must be a text in quotes, not {kind}"
    EMPTY = "{path}: is empty; leave the key out instead"
    MISSING = "{path}: needs {name}"
    NOT_TEXTS = "{path}: must be a list of texts, not {kind}"
    NOT_VALUES = "{path}: must be a value or a list of values"
    NOT_COLUMNS = "{path}: must be a column or a list of different columns"
    UNKNOWN_VALUE = "{path}: {value!r} is unknown{hint}"
    NOT_A_SCALAR = "{path}: must be a text or a whole number, not {kind}"
    NOT_A_NUMBER = "{path}: must be a number, not {kind}"
    NOT_A_DURATION = '{path}: must be a duration such as "5m", not {kind}'
    NOT_WHOLE = "{path}: must be a whole number, not {kind}"
    NOT_A_BOOLEAN = "{path}: must be true or false, not {kind}"
    NOT_TABLES = "{path}: must be written as [[{name}]], not as {kind}"
    NOT_A_LIST = "{path}: must be a list, not {kind}"
    UNKNOWN_KEY = "{path}: unknown key{hint}"
    OUT_OF_RANGE = "{path}: is out of range: a number has at most 64 bits"
    TEXT = "a text"
    BOOLEAN = "true or false"
    WHOLE_NUMBER = "a whole number"
    NUMBER = "a number"
    LIST = "a list"
    TABLE = "a table of keys"


T = TypeVar("T")
_MAX_INTEGER: Final = 2**63 - 1

# Similarity above which an unknown key counts as a misspelling: `conect`, `tabel`.
_MISSPELLING_RATIO: Final = 0.75


def suggest_nearest(typed: str, known_words: Iterable[str], *, otherwise: str | None = None) -> str:
    """Return the end of an error message: ``; did you mean …?`` or the list of known words.

    ``otherwise``: returned instead of the list if no known word is similar.
    """
    words = {candidate.lower(): candidate for candidate in sorted(known_words)}
    close = difflib.get_close_matches(typed.lower(), words, 1, 0.6)
    close += [candidate for candidate in words if len(typed) > 1 and candidate.startswith(typed.lower())]
    if close:
        return KeyText.DID_YOU_MEAN.render(word=words[close[0]])
    if otherwise is not None:
        return otherwise
    return KeyText.CHOOSE_FROM.render(words=", ".join(words.values())) if words else ""


class Keys:
    """The keys of one table of a configuration. The message of each ``BadInput`` starts with the path of the key."""

    def __init__(self, raw: Mapping[str, object], where: str) -> None:
        if not isinstance(raw, Mapping):
            raise BadInput(KeyText.NOT_A_TABLE.render(path=where, kind=_kind_text(raw)))
        self.raw = raw
        self.where = where
        self._asked: set[str] = set()

    def path(self, name: str) -> str:
        """Return the path of a key for messages."""
        return f"{self.where}{name}" if self.where.endswith(": ") else f"{self.where}.{name}"

    def text(self, name: str) -> str | None:
        """Return a non-empty text, or ``None`` if the key is missing."""
        value = self._get(name)
        if value is None:
            return None
        if not isinstance(value, str):
            raise BadInput(KeyText.NOT_A_TEXT.render(path=self.path(name), kind=_kind_text(value)))
        if not value:
            raise BadInput(KeyText.EMPTY.render(path=self.path(name)))
        return value

    def require_text(self, name: str) -> str:
        """Return a non-empty text. A missing key is an error."""
        value = self.text(name)
        if value is None:
            raise self.missing_key_error(name)
        return value

    def missing_key_error(self, name: str, needed: str = "") -> BadInput:
        """Return the error for a missing required key. The error names an unknown key that looks like a misspelling.

        ``needed``: the keys that the error names instead of ``name``, if ``name`` alone is not enough.
        """
        others = [key for key in self.raw if key not in self._asked]
        for key in difflib.get_close_matches(name, others, 1, _MISSPELLING_RATIO):
            hint = KeyText.DID_YOU_MEAN.render(word=name)
            return BadInput(KeyText.UNKNOWN_KEY.render(path=self.path(key), hint=hint))
        return BadInput(KeyText.MISSING.render(path=self.where, name=needed or name))

    def texts(self, name: str) -> list[str]:
        """Return a list of non-empty texts, or an empty list if the key is missing."""
        value = self._get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            raise BadInput(KeyText.NOT_TEXTS.render(path=self.path(name), kind=_kind_text(value)))
        return value

    def names(self, name: str) -> tuple[str, ...]:
        """Return a text or a list of distinct texts as a tuple, or an empty tuple if the key is missing."""
        if not isinstance(self._get(name), list):
            alone = self.text(name)
            return () if alone is None else (alone,)
        found = tuple(self.texts(name))
        if not found or len(set(found)) < len(found):
            raise BadInput(KeyText.NOT_COLUMNS.render(path=self.path(name)))
        return found

    def choice(self, name: str, choices: Sequence[str]) -> str | None:
        """Return one of the known words, or ``None`` if the key is missing."""
        value = self.text(name)
        if value is not None and value not in choices:
            raise BadInput(
                KeyText.UNKNOWN_VALUE.render(path=self.path(name), value=value, hint=suggest_nearest(value, choices))
            )
        return value

    def scalar(self, name: str) -> str | int | None:
        """Return a column value: text or whole number. A boolean becomes a text that databases read as a boolean."""
        value = self._get(name)
        if isinstance(value, bool):
            return "true" if value else "false"
        if value is None or isinstance(value, int | str):
            return value
        raise BadInput(KeyText.NOT_A_SCALAR.render(path=self.path(name), kind=_kind_text(value)))

    def scalars(self, name: str) -> tuple[str | int, ...]:
        """Return column values: a value, or a list of values. Empty if the key is missing."""
        raw = self.raw.get(name)
        if not isinstance(raw, list):
            value = self.scalar(name)
            return () if value is None else (value,)
        found = [Keys({"value": one}, self.path(name)).scalar("value") for one in self.entries(name)]
        values = tuple(value for value in found if value is not None)
        if not values or len(values) < len(found):
            raise BadInput(KeyText.NOT_VALUES.render(path=self.path(name)))
        return values

    def number(self, name: str) -> float | None:
        """Return a number, or ``None`` if the key is missing."""
        value = self._get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadInput(KeyText.NOT_A_NUMBER.render(path=self.path(name), kind=_kind_text(value)))
        return float(value)

    def seconds(self, name: str) -> float | None:
        """Return a duration such as ``"5m"`` in seconds. A plain number is rejected with a hint."""
        value = self._get(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise BadInput(KeyText.NOT_A_DURATION.render(path=self.path(name), kind=_kind_text(value)))
        try:
            return parse_duration(str(value))
        except BadInput as problem:
            raise BadInput(f"{self.path(name)}: {problem}") from None

    def whole_number(self, name: str) -> int | None:
        """Return a whole number, or ``None`` if the key is missing."""
        value = self._get(name)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise BadInput(KeyText.NOT_WHOLE.render(path=self.path(name), kind=_kind_text(value)))
        return value

    def is_set(self, name: str) -> bool:
        """Return true or false. A missing key is false."""
        value = self._get(name)
        if value is not None and not isinstance(value, bool):
            raise BadInput(KeyText.NOT_A_BOOLEAN.render(path=self.path(name), kind=_kind_text(value)))
        return bool(value)

    def nested_keys(self, name: str, shorthand_key: str | None = None) -> Keys | None:
        """Return a nested table, or ``None`` if the key is missing.

        ``shorthand_key``: if given, the key may also contain a text. The text is read as a table with only this key.
        """
        value = self._get(name)
        if value is None:
            return None
        if isinstance(value, str) and shorthand_key is not None:
            value = {shorthand_key: value}
        if not isinstance(value, Mapping):
            raise BadInput(KeyText.NOT_A_TABLE.render(path=self.path(name), kind=_kind_text(value)))
        return Keys(value, self.path(name))

    def parse_nested(self, name: str, parse: Callable[[Keys], T], shorthand_key: str | None = None) -> T | None:
        """Return a nested table, read with ``parse``, or ``None`` if the key is missing. Unknown keys are errors.

        ``shorthand_key``: as for ``nested_keys``.
        """
        inner = self.nested_keys(name, shorthand_key)
        if inner is None:
            return None
        found = parse(inner)
        inner.reject_unknown_keys()
        return found

    def record(self, kind: type[T], readers: Readers | None = None, **known: object) -> T:
        """Read a dataclass whose fields are the keys of this table. Other keys are errors.

        The types of the fields decide how their keys are read. A number whose field ends in ``_s`` is a duration, and
        its key lacks the ``_s``. A missing key gives the default of its field. A missing key without a default is an
        error, unless the field may be ``None``.

        ``readers``: the functions that read keys of further types. ``known``: the values of fields that are not read.
        """
        hints, found = get_type_hints(kind), dict(known)
        for field in fields(kind):  # type: ignore[arg-type]  # every kind is a dataclass
            if field.name in known:
                continue
            value = self._field_value(field.name, hints[field.name], readers or {})
            if value is not None or (NoneType in get_args(hints[field.name]) and field.default is MISSING):
                found[field.name] = value
            elif field.default is MISSING and field.default_factory is MISSING:
                raise self.missing_key_error(field.name)
        self.reject_unknown_keys()
        return kind(**found)

    def _field_value(self, name: str, hint: Any, readers: Readers) -> object:
        """Return the value of a key according to a type, or ``None`` if the key is missing."""
        if NoneType in get_args(hint):
            hint = Union[tuple(each for each in get_args(hint) if each is not NoneType)]  # noqa: UP007 - made at runtime
        if hint in readers:
            return readers[hint](self, name)
        if get_origin(hint) is Literal:
            return self.choice(name, get_args(hint))
        if hint is bool:
            value = self.is_set(name)
            return value if name in self.raw else None
        if hint is float and name.endswith("_s"):
            return self.seconds(name.removesuffix("_s"))
        read: dict[object, Callable[[str], object]] = {str: self.text, int: self.whole_number, float: self.number}
        return read[hint](name)

    def tables(self, name: str) -> list[Mapping[str, object]]:
        """Return a list of tables, written as ``[[name]]``, or an empty list if the key is missing."""
        value = self._get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise BadInput(
                KeyText.NOT_TABLES.render(
                    path=self.path(name), name=self.path(name).rpartition(": ")[2], kind=_kind_text(value)
                )
            )
        return value

    def entries(self, name: str) -> Sequence[object]:
        """Return a list with elements of any type, or an empty list if the key is missing."""
        value = self._get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            raise BadInput(KeyText.NOT_A_LIST.render(path=self.path(name), kind=_kind_text(value)))
        return value

    def reject_unknown_keys(self, allowed: Iterable[str] = ()) -> None:
        """Raise ``BadInput`` if the table contains a key that was never read and is not in ``allowed``."""
        known = self._asked | set(allowed)
        for name in self.raw:
            if name not in known:
                raise BadInput(KeyText.UNKNOWN_KEY.render(path=self.path(name), hint=suggest_nearest(name, known)))

    def _get(self, name: str) -> object:
        self._asked.add(name)
        value = self.raw.get(name)
        if isinstance(value, int) and not -_MAX_INTEGER <= value <= _MAX_INTEGER:
            raise BadInput(KeyText.OUT_OF_RANGE.render(path=self.path(name)))
        return value


# Functions that read a key, by the type of a field.
Readers = Mapping[Any, Callable[[Keys, str], object]]


def _kind_text(value: object) -> str:
    names = {
        str: KeyText.TEXT,
        bool: KeyText.BOOLEAN,
        int: KeyText.WHOLE_NUMBER,
        float: KeyText.NUMBER,
        list: KeyText.LIST,
    }
    return names.get(type(value), KeyText.TABLE if isinstance(value, Mapping) else type(value).__name__)
