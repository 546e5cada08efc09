"""What has changed between two plain values, exactly: most of a snapshot is as it was in the one before.

The change of a dictionary or a list is itself a dictionary, of which each part is left out where it is empty:

- ``o``: of a list, where its items were in the one before, -1 for new ones; left out where each is where it was;
- ``-``: the keys that are gone;
- ``i``: by key what was added to a whole number;
- ``~``: by key the change of what is there;
- ``+``: by key what is there instead, whole.

The keys of a list are its places, as texts.
"""

from __future__ import annotations

from itertools import islice
from math import copysign
from typing import Final, TypeAlias

from qmon.recording.format.codec import Damaged, Plain

Change: TypeAlias = dict[str, Plain]
SAME: Final[Change] = {}


def change(before: Plain, now: Plain) -> Change | None:
    """How ``now`` is made from ``before``; empty: it is the same, ``None``: it has to be written whole."""
    if isinstance(before, dict) and isinstance(now, dict):
        gone = [key for key in before if key not in now]
        found = _between({key: (before[key], now[key]) if key in before else (now[key],) for key in now})
        return found | {"-": gone} if gone else found
    if isinstance(before, list) and isinstance(now, list):
        return _of_list(before, now)
    return SAME if _same(before, now) else None


def _of_list(before: list[Plain], now: list[Plain]) -> Change | None:
    """Records are found again by their first fields, such as a session's id, or a queue and a probe."""
    if not now or not before:
        return SAME if now == before else None
    fields = _telling(before)
    names = [_name(item, fields) for item in before]
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    was = []
    for place, item in enumerate(now):
        name = _name(item, fields)
        stayed = place < len(before) and names[place] == name
        was.append(place if stayed else places.get(name, -1))
    found = _between({p: (before[old], now[p]) if old >= 0 else (now[p],) for p, old in enumerate(was)})
    return found if was == list(range(len(before))) else {"o": was, **found}


def _telling(items: list[Plain]) -> int:
    """How many of the first fields tell the records apart; three at most."""
    return next((count for count in (1, 2) if len({_name(item, count) for item in items}) == len(items)), 3)


def _name(item: Plain, fields: int) -> tuple[Plain, ...]:
    """The first fields of a record that are texts or whole numbers; of anything else nothing."""
    first = islice(item.values(), fields) if isinstance(item, dict) else ()
    return tuple(value for value in first if isinstance(value, str | int))


def _between(pairs: dict[Plain, tuple[Plain, ...]]) -> Change:
    new: Change = {}
    added: Change = {}
    within: Change = {}
    for key, pair in pairs.items():
        if len(pair) == 1:
            new[str(key)] = pair[0]
        elif type(pair[0]) is int and type(pair[1]) is int:
            if pair[0] != pair[1]:
                added[str(key)] = pair[1] - pair[0]
        elif (found := change(*pair)) is None:
            new[str(key)] = pair[1]
        elif found:
            within[str(key)] = found
    return {sign: part for sign, part in (("i", added), ("~", within), ("+", new)) if part}


def changed(before: Plain, by: Change) -> Plain:
    """What ``change`` was given as ``now``; what has not changed is shared with ``before``. Raises ``Damaged``."""
    try:
        return _changed(before, by)
    except (KeyError, IndexError, ValueError, TypeError, AttributeError) as problem:
        raise Damaged(f"a change of something else than what is before it: {problem!r}") from None


def _changed(before: Plain, by: Change) -> Plain:
    if isinstance(before, list):
        made: Plain = [before[old] if old >= 0 else None for old in by["o"]] if "o" in by else list(before)
        places: type = int
    else:
        gone = by.get("-", ())
        made = {key: value for key, value in before.items() if key not in gone} if gone else dict(before)
        places = str
    for key, value in by.get("i", SAME).items():
        made[places(key)] += value
    for key, part in by.get("~", SAME).items():
        made[places(key)] = _changed(made[places(key)], part)
    for key, value in by.get("+", SAME).items():
        made[places(key)] = value
    return made


def _same(before: Plain, now: Plain) -> bool:
    """Whether JSON would write the same: 1, 1.0 and true are not, nor are 0.0 and -0.0."""
    if type(before) is not type(now) or before != now:
        return False
    return not (isinstance(now, float) and now == 0.0) or copysign(1.0, before) == copysign(1.0, now)
