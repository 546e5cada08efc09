"""The wording of errors in the configuration."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.config_reader import KeyText
from qmon.model.formatting import DurationText
from qmon.model.groups.configured_queue import QueueKeyText
from qmon.model.groups.group_parser import GroupText
from qmon.model.layout.layout_io import LayoutText
from qmon.model.layout.requeue_options import RequeueOptionText
from qmon.model.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    KeyText.DID_YOU_MEAN: ({"word": "jobs"}, "; did you mean jobs?"),
    KeyText.CHOOSE_FROM: ({"words": "jobs, mails"}, "; choose from: jobs, mails"),
    KeyText.NOT_A_TABLE: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        "qmon.toml: target.shop: must be a table of keys, not a number",
    ),
    KeyText.NOT_A_TEXT: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        "qmon.toml: target.shop: must be a text in quotes, not a number",
    ),
    KeyText.EMPTY: ({"path": "qmon.toml: target.shop"}, "qmon.toml: target.shop: is empty; leave the key out instead"),
    KeyText.MISSING: ({"path": "qmon.toml: target.shop", "name": "jobs"}, "qmon.toml: target.shop: needs jobs"),
    KeyText.NOT_TEXTS: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        "qmon.toml: target.shop: must be a list of texts, not a number",
    ),
    KeyText.NOT_COLUMNS: (
        {"path": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: must be a column or a list of different columns",
    ),
    KeyText.NOT_VALUES: (
        {"path": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: must be a value or a list of values",
    ),
    KeyText.UNKNOWN_VALUE: (
        {"path": "qmon.toml: target.shop", "value": "soon", "hint": "; did you mean jobs?"},
        "qmon.toml: target.shop: 'soon' is unknown; did you mean jobs?",
    ),
    KeyText.NOT_A_SCALAR: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        "qmon.toml: target.shop: must be a text or a whole number, not a number",
    ),
    KeyText.NOT_A_NUMBER: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        "qmon.toml: target.shop: must be a number, not a number",
    ),
    KeyText.NOT_A_DURATION: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        'qmon.toml: target.shop: must be a duration such as "5m", not a number',
    ),
    KeyText.NOT_WHOLE: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        "qmon.toml: target.shop: must be a whole number, not a number",
    ),
    KeyText.NOT_A_BOOLEAN: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        "qmon.toml: target.shop: must be true or false, not a number",
    ),
    KeyText.NOT_TABLES: (
        {"path": "qmon.toml: target.shop", "name": "jobs", "kind": "a number"},
        "qmon.toml: target.shop: must be written as [[jobs]], not as a number",
    ),
    KeyText.NOT_A_LIST: (
        {"path": "qmon.toml: target.shop", "kind": "a number"},
        "qmon.toml: target.shop: must be a list, not a number",
    ),
    KeyText.UNKNOWN_KEY: (
        {"path": "qmon.toml: target.shop", "hint": "; did you mean jobs?"},
        "qmon.toml: target.shop: unknown key; did you mean jobs?",
    ),
    KeyText.OUT_OF_RANGE: (
        {"path": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: is out of range: a number has at most 64 bits",
    ),
    KeyText.TEXT: ({}, "a text"),
    KeyText.BOOLEAN: ({}, "true or false"),
    KeyText.WHOLE_NUMBER: ({}, "a whole number"),
    KeyText.NUMBER: ({}, "a number"),
    KeyText.LIST: ({}, "a list"),
    KeyText.TABLE: ({}, "a table of keys"),
    DurationText.NO_UNIT: ({"text": "soon", "number": "7"}, "'soon' has no unit: write 7s, 7m or 7h"),
    DurationText.NOT_A_DURATION: ({"text": "soon"}, "'soon' is not a duration: write 90s, 5m or 1h30m"),
    DurationText.DURATION_TOO_LONG: ({"text": "soon", "days": 3650}, "'soon' is too long: at most 3650d"),
    LayoutText.ID_OR_DESIGN: ({}, "an id, the column that numbers the messages, or a design"),
    LayoutText.TOO_LONG: (
        {"where": "qmon.toml: target.shop", "limit": 1000, "length": 2000},
        "qmon.toml: target.shop: a layout may have at most 1,000 characters, but this layout has 2,000",
    ),
    LayoutText.NOT_JSON: (
        {"where": "qmon.toml: target.shop", "problem": "line 1 is wrong"},
        "qmon.toml: target.shop: not JSON: line 1 is wrong",
    ),
    LayoutText.NOT_A_TABLE_NAME: (
        {"text": "soon"},
        "'soon' is not a table name: write table, schema.table, or [odd.schema].[odd \"table\"]",
    ),
    LayoutText.NOT_A_TIME_ZONE: (
        {"path": "qmon.toml: target.shop", "zone": "Mars", "words": "jobs, mails"},
        "qmon.toml: target.shop: 'Mars' is neither jobs, mails nor a time zone such as \"Europe/Berlin\"",
    ),
    LayoutText.NEEDS_READY: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs ready, the value of ready messages",
    ),
    LayoutText.SAME_VALUE: (
        {
            "where": "qmon.toml: target.shop",
            "first": "ready",
            "second": "dead",
            "first_value": "1",
            "second_value": '"1"',
        },
        'qmon.toml: target.shop: ready and dead have the same value (1 and "1"); give each state a different value',
    ),
    LayoutText.RING_NEEDS_SIZE: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop.size: a ring needs its number of slots (at least 1)",
    ),
    RequeueOptionText.ATTEMPTS_OUT_OF_RANGE: (
        {"path": "qmon.toml: target.shop", "limit": 1000, "value": 7},
        "qmon.toml: target.shop: must be from 1 to 1,000, not 7",
    ),
    RequeueOptionText.LISTED_TWICE: (
        {"where": "qmon.toml: target.shop", "column": "status"},
        "qmon.toml: target.shop: status is listed twice",
    ),
    RequeueOptionText.TWO_FRONTS: (
        {"where": "qmon.toml: target.shop", "columns": "a or b"},
        "qmon.toml: target.shop: only one column can be set to front: a or b",
    ),
    RequeueOptionText.NEEDS_NAME: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: a column needs a name",
    ),
    RequeueOptionText.NEEDS_VALUE: ({"path": "qmon.toml: target.shop"}, "qmon.toml: target.shop: needs value"),
    RequeueOptionText.NOT_A_WRITE: (
        {"path": "qmon.toml: target.shop", "words": "jobs, mails", "value": "soon"},
        "qmon.toml: target.shop: must be jobs, mails, a whole number, or { value = \"…\" }, not 'soon'",
    ),
    RequeueOptionText.NEEDS_A_VALUE: ({"path": "qmon.toml: target.shop"}, "qmon.toml: target.shop: needs a value"),
    RequeueOptionText.FRONT_OF_READY_ONLY: (
        {"path": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: front is only for ready messages",
    ),
    RequeueOptionText.FRONT_NEEDS_ORDER: (
        {"path": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: front needs a column that is listed in order and ascending; add the column to order",
    ),
    GroupText.NEEDS_READY: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs a [[state]] of the kind ready",
    ),
    GroupText.SAME_NAME: (
        {"where": "qmon.toml: target.shop", "name": "jobs"},
        "qmon.toml: target.shop: two states have the name 'jobs'",
    ),
    GroupText.SAME_CONDITION: (
        {"where": "qmon.toml: target.shop", "first": "ready", "second": "dead"},
        "qmon.toml: target.shop: ready and dead have the same condition; give each state its own",
    ),
    GroupText.NEEDS_KIND: (
        {"where": "qmon.toml: target.shop", "kinds": "ready, blocked", "last": "done"},
        "qmon.toml: target.shop: needs kind: ready, blocked or done",
    ),
    GroupText.NEEDS_WHEN: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs when, the condition for its rows",
    ),
    GroupText.BLOCKED_ONLY: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: only blocked states have blocker and why",
    ),
    GroupText.NEEDS_BLOCKER: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs name, the column with the name of the blocker",
    ),
    GroupText.NEEDS_STEP: (
        {"where": "qmon.toml: target.shop", "steps": "pushed or popped"},
        "qmon.toml: target.shop: needs pushed or popped",
    ),
    GroupText.NEEDS_ID_OR_TIME: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs id (the column that numbers the rows) or at (the time of a step)",
    ),
    GroupText.QUEUE_OF_OTHER_TABLE: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: if `at` is given, `queue` must be a column of the same table",
    ),
    GroupText.NEEDS_ALIVE: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs alive, the condition for workers that are alive",
    ),
    GroupText.EMPTY_CONDITION: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: is empty; add a condition",
    ),
    GroupText.NOT_CONDITIONS: (
        {"path": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: must be a list of conditions",
    ),
    GroupText.NEEDS_TEST: (
        {"where": "qmon.toml: target.shop", "tests": "null, not"},
        "qmon.toml: target.shop: needs one of null, not",
    ),
    QueueKeyText.NOT_WITH_GROUP: (
        {"path": "qmon.toml: target.shop", "keys": "queue or where"},
        "qmon.toml: target.shop: cannot be combined with queue or where",
    ),
    QueueKeyText.NEEDS_ID: (
        {"where": "qmon.toml: target.shop"},
        "qmon.toml: target.shop: needs id, the column that identifies messages",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
