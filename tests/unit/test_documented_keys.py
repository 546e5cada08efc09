"""The manual names every key of queues and of libraries' files, and each key that it names exists."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import pytest

from qmon.errors import BadInput
from qmon.libraries.library import library_from_dict
from qmon.model.config_reader import Keys
from qmon.model.groups.configured_queue import queue_from_dict
from tests import manual

SECTION: Final = manual.section(manual.page("libraries"), "A library of your own")
CONFIGURATION: Final = manual.page("configuration")
# Keys that only `qmon init` writes, for queues of installed designs.
UNWRITTEN: Final = {"ring", "data_table", "data_id", "sequence", "routines", "switch"}

Raw = dict[str, Any]
Parse = Callable[[Raw], object]


def read_library(raw: Raw) -> object:
    return library_from_dict(raw, "file")


def read_queue(raw: Raw) -> object:
    return queue_from_dict(raw, where="queue", libraries=("oban",))


def blocks() -> list[Raw]:
    """Return the indented blocks of the section, the whole library first."""
    found = re.findall(r"(?:^    .*\n|^\n(?=    ))+", SECTION, re.MULTILINE)
    return [tomllib.loads(re.sub("^    ", "", block, flags=re.MULTILINE)) for block in found if "=" in block]


def cells(heading: str) -> Iterator[str]:
    """Yield the code in the first column of the table below a bold heading."""
    rows = re.findall(r"^\| (`.*?`) \|", SECTION.split(f"**{heading}", 1)[1].split("\n\n**")[0], re.MULTILINE)
    for row in rows:
        yield from (code for code in re.findall(r"`([^`]+)`", row) if "=" in code)


def examples() -> list[tuple[Parse, Raw]]:
    """Return all that the manual shows, each as something that can be read."""
    first, *others = blocks()
    out: list[tuple[Parse, Raw]] = [(read_library, first)]

    def with_group(change: Mapping[str, object]) -> Raw:
        made = copy.deepcopy(first)
        made["group"][0] |= change
        return made

    def with_ready(text: str) -> Raw:
        return with_group({"state": [tomllib.loads(f'name = "ready"\n{text}')]})

    for block in others:
        group = block.get("group")
        out.append((read_library, block if group is None else with_group(group)))
    for code in cells("Conditions."):
        full = code.replace("{ … }", "{ x = 1 }").replace('"…"', '"t"').replace("= …", '= { table = "t" }')
        test = f"column = {full}" if full.startswith("{") else full
        out.append((read_library, with_ready(f"when = {{ {test} }}")))
    for code in cells("Values."):
        full = code if code.startswith(("column", "later_of")) else f'column = "c", {code}'
        out.append((read_library, with_ready(f"when = {{ a = 1 }}\nsince = {{ {full} }}")))
    lookup = '{ table = "workers", key = "id", by = "worker_id", column = "name", pick = "min", when = { x = 1 } }'
    out.append((read_library, with_ready(f"when = {{ a = 1 }}\nsince = {lookup}")))
    exists = 'exists = { table = "t", key = ["a", "b"], by = ["c", "d"], as_text = true }'
    out.append((read_library, with_ready(f"when = {{ {exists} }}")))
    blocked = '{ name = "blocked", when = { a = 2 }, why = "x", blocker = { name = "l", holder = "h", since = "s" } }'
    more = f"""
overdue = {{ o = {{ past = true }} }}
gone = {{ g = true }}
where = {{ w = 1 }}
times = "unix"
counters = true
error = "e"
state = [{{ name = "ready", when = {{ a = 1 }} }}, {blocked}]
"""
    out.append((read_library, with_group(tomllib.loads(more))))
    whole = {"others": ["x"], "prefixes": ["app_"], "engine": "postgres", "version": "2", "tested": "2.1"}
    out.append((read_library, {**first, **whole, "tables": {"jobs": {"id": ["integer", "bigint"], "state": "text"}}}))
    bus = next(block for block in others if "queue" in block)
    out.append((read_library, {**bus, "queue": [{**bus["queue"][0], "no_gate": "why"}]}))
    for snippet in manual.snippets(CONFIGURATION, "toml"):
        if "[[target.shop.queue]]" in snippet:
            out += [(read_queue, queue) for queue in tomllib.loads(snippet)["target"]["shop"]["queue"]]
    return out


def places(raw: Any) -> Iterator[tuple[Any, str]]:
    """Yield each table within ``raw``, with each of its keys."""
    if isinstance(raw, dict):
        yield from ((raw, key) for key in list(raw))
        for each in raw.values():
            yield from places(each)
    elif isinstance(raw, list):
        for each in raw:
            yield from places(each)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the keys that were asked for although they were missing."""
    found: set[str] = set()
    get = Keys._get

    def noted(keys: Keys, name: str) -> object:
        if name not in keys.raw:
            found.add(name)
        return get(keys, name)

    monkeypatch.setattr(Keys, "_get", noted)
    return found


def test_each_example_of_the_manual_can_be_read() -> None:
    found = examples()
    for parse, raw in found:
        parse(copy.deepcopy(raw))
    assert len(found) > 25


def test_the_manual_names_every_key(asked: set[str]) -> None:
    keys: set[str] = set()
    for parse, raw in examples():
        for number in range(sum(1 for _ in places(raw))):
            for renamed in (False, True):
                made = copy.deepcopy(raw)
                table, key = list(places(made))[number]
                value = table.pop(key)
                if renamed:
                    table["renamed"] = value
                try:
                    parse(made)
                except BadInput:
                    # The user may choose any other name for a column, a state or a value.
                    keys |= {key} if renamed and key.isidentifier() else set()
    fenced = manual.snippets(CONFIGURATION, "toml")
    prose = re.sub(r"^```.*?^```", "", SECTION + CONFIGURATION, flags=re.MULTILINE | re.DOTALL)
    code = [*fenced, *re.findall(r"`([^`]+)`", prose), *re.findall(r"^    (.*)$", prose, re.MULTILINE)]
    named = set(re.findall(r"[a-z_]+", " ".join(code)))
    assert (keys | asked) - UNWRITTEN - named == set()
    assert {
        "when",
        "null",
        "advisory_lock",
        "later_of",
        "exists",
        "as_text",
        "steps",
        "writes",
        "purge",
    } <= keys | asked
