"""The wording of errors in the configuration."""

from __future__ import annotations

from typing import Any, Final

from qmon.model.config_reader import KeyText
from qmon.model.formatting import DurationText
from qmon.model.groups.configured_queue import QueueKeyText
from qmon.model.groups.group_parser import GroupText
from qmon.model.layout.layout_io import LayoutText
from qmon.model.layout.requeue_options import RequeueOptionText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    KeyText.DID_YOU_MEAN: ({"word": "orders"}, "; did you mean orders?"),
    KeyText.CHOOSE_FROM: ({"words": "mails, orders"}, "; choose from: mails, orders"),
    KeyText.NOT_A_TABLE: (
        {"path": "/etc/qmon.toml: settings", "kind": "a text"},
        "/etc/qmon.toml: settings: must be a table of keys, not a text",
    ),
    KeyText.NOT_A_TEXT: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].name", "kind": "a whole number"},
        "/etc/qmon.toml: target.shop.queue[1].name: must be a text in quotes, not a whole number",
    ),
    KeyText.EMPTY: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].name"},
        "/etc/qmon.toml: target.shop.queue[1].name: is empty; leave the key out instead",
    ),
    KeyText.MISSING: (
        {"path": "/etc/qmon.toml: target.shop.queue[1]", "name": "table"},
        "/etc/qmon.toml: target.shop.queue[1]: needs table",
    ),
    KeyText.NOT_TEXTS: (
        {"path": "/etc/qmon.toml: fleets.night", "kind": "a text"},
        "/etc/qmon.toml: fleets.night: must be a list of texts, not a text",
    ),
    KeyText.NOT_COLUMNS: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].order"},
        "/etc/qmon.toml: target.shop.queue[1].order: must be a column or a list of different columns",
    ),
    KeyText.NOT_VALUES: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].state.ready"},
        "/etc/qmon.toml: target.shop.queue[1].state.ready: must be a value or a list of values",
    ),
    KeyText.UNKNOWN_VALUE: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].design", "value": "rnig", "hint": "; did you mean ring?"},
        "/etc/qmon.toml: target.shop.queue[1].design: 'rnig' is unknown; did you mean ring?",
    ),
    KeyText.NOT_A_SCALAR: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].state.ready", "kind": "a table of keys"},
        "/etc/qmon.toml: target.shop.queue[1].state.ready: must be a text or a whole number, not a table of keys",
    ),
    KeyText.NOT_A_NUMBER: (
        {"path": "/etc/qmon.toml: settings.budget_percent", "kind": "a text"},
        "/etc/qmon.toml: settings.budget_percent: must be a number, not a text",
    ),
    KeyText.NOT_A_DURATION: (
        {"path": "/etc/qmon.toml: settings.interval", "kind": "a whole number"},
        '/etc/qmon.toml: settings.interval: must be a duration such as "5m", not a whole number',
    ),
    KeyText.NOT_WHOLE: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].max_attempts", "kind": "a text"},
        "/etc/qmon.toml: target.shop.queue[1].max_attempts: must be a whole number, not a text",
    ),
    KeyText.NOT_A_BOOLEAN: (
        {"path": "/etc/qmon.toml: target.shop.read_only", "kind": "a text"},
        "/etc/qmon.toml: target.shop.read_only: must be true or false, not a text",
    ),
    KeyText.NOT_TABLES: (
        {"path": "/etc/qmon.toml: target.shop.queue", "name": "target.shop.queue", "kind": "a table of keys"},
        "/etc/qmon.toml: target.shop.queue: must be written as [[target.shop.queue]], not as a table of keys",
    ),
    KeyText.NOT_A_LIST: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].order", "kind": "true or false"},
        "/etc/qmon.toml: target.shop.queue[1].order: must be a list, not true or false",
    ),
    KeyText.UNKNOWN_KEY: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].tabel", "hint": "; did you mean table?"},
        "/etc/qmon.toml: target.shop.queue[1].tabel: unknown key; did you mean table?",
    ),
    KeyText.OUT_OF_RANGE: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].max_attempts"},
        "/etc/qmon.toml: target.shop.queue[1].max_attempts: is out of range: a number has at most 64 bits",
    ),
    KeyText.TEXT: ({}, "a text"),
    KeyText.BOOLEAN: ({}, "true or false"),
    KeyText.WHOLE_NUMBER: ({}, "a whole number"),
    KeyText.NUMBER: ({}, "a number"),
    KeyText.LIST: ({}, "a list"),
    KeyText.TABLE: ({}, "a table of keys"),
    DurationText.NO_UNIT: ({"text": "7", "number": "7"}, "'7' has no unit: write 7s, 7m or 7h"),
    DurationText.NOT_A_DURATION: ({"text": "soon"}, "'soon' is not a duration: write 90s, 5m or 1h30m"),
    DurationText.DURATION_TOO_LONG: ({"text": "20000d", "days": 10000.0}, "'20000d' is too long: at most 10000d"),
    LayoutText.ID_OR_DESIGN: ({}, "an id, the column that numbers the messages, or a design"),
    LayoutText.TOO_LONG: (
        {"where": "registry of orders", "limit": 262144, "length": 300000},
        "registry of orders: a layout may have at most 262,144 characters, but this layout has 300,000",
    ),
    LayoutText.NOT_JSON: (
        {"where": "registry of orders", "problem": "Expecting value: line 1 column 1 (char 0)"},
        "registry of orders: not JSON: Expecting value: line 1 column 1 (char 0)",
    ),
    LayoutText.NOT_A_TABLE_NAME: (
        {"text": "a.b.c"},
        "'a.b.c' is not a table name: write table, schema.table, or [odd.schema].[odd \"table\"]",
    ),
    LayoutText.NOT_A_TIME_ZONE: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].times", "zone": "Mars", "words": '"utc" nor "local"'},
        '/etc/qmon.toml: target.shop.queue[1].times: \'Mars\' is neither "utc" nor "local" nor a time '
        'zone such as "Europe/Berlin"',
    ),
    LayoutText.NEEDS_READY: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].state"},
        "/etc/qmon.toml: target.shop.queue[1].state: needs ready, the value of ready messages",
    ),
    LayoutText.SAME_VALUE: (
        {
            "where": "/etc/qmon.toml: target.shop.queue[1].state",
            "first": "ready",
            "second": "dead",
            "first_value": "1",
            "second_value": '"1"',
        },
        '/etc/qmon.toml: target.shop.queue[1].state: ready and dead have the same value (1 and "1"); '
        "give each state a different value",
    ),
    LayoutText.RING_NEEDS_SIZE: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].ring"},
        "/etc/qmon.toml: target.shop.queue[1].ring.size: a ring needs its number of slots (at least 1)",
    ),
    RequeueOptionText.ATTEMPTS_OUT_OF_RANGE: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].max_attempts", "limit": 1000000, "value": 0},
        "/etc/qmon.toml: target.shop.queue[1].max_attempts: must be from 1 to 1,000,000, not 0",
    ),
    RequeueOptionText.LISTED_TWICE: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].order", "column": "priority"},
        "/etc/qmon.toml: target.shop.queue[1].order: priority is listed twice",
    ),
    RequeueOptionText.TWO_FRONTS: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].writes", "columns": "priority or run_at"},
        "/etc/qmon.toml: target.shop.queue[1].writes: only one column can be set to front: priority or run_at",
    ),
    RequeueOptionText.NEEDS_NAME: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].writes.ready"},
        "/etc/qmon.toml: target.shop.queue[1].writes.ready: a column needs a name",
    ),
    RequeueOptionText.NEEDS_VALUE: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].writes.ready.note"},
        "/etc/qmon.toml: target.shop.queue[1].writes.ready.note: needs value",
    ),
    RequeueOptionText.NOT_A_WRITE: (
        {
            "path": "/etc/qmon.toml: target.shop.queue[1].writes.ready.note",
            "words": "null, now, front, keep",
            "value": "soon",
        },
        "/etc/qmon.toml: target.shop.queue[1].writes.ready.note: must be null, now, front, keep, a "
        "whole number, or { value = \"…\" }, not 'soon'",
    ),
    RequeueOptionText.NEEDS_A_VALUE: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].writes.ready.note"},
        "/etc/qmon.toml: target.shop.queue[1].writes.ready.note: needs a value",
    ),
    RequeueOptionText.FRONT_OF_READY_ONLY: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].writes.dead.priority"},
        "/etc/qmon.toml: target.shop.queue[1].writes.dead.priority: front is only for ready messages",
    ),
    RequeueOptionText.FRONT_NEEDS_ORDER: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].writes.ready.priority"},
        "/etc/qmon.toml: target.shop.queue[1].writes.ready.priority: front needs a column that is "
        "listed in order and ascending; add the column to order",
    ),
    GroupText.NEEDS_READY: (
        {"where": "/etc/qmon.toml: target.shop.queue[1]"},
        "/etc/qmon.toml: target.shop.queue[1]: needs a `state` table of the kind ready",
    ),
    GroupText.SAME_NAME: (
        {"where": "/etc/qmon.toml: target.shop.queue[1]", "name": "waiting"},
        "/etc/qmon.toml: target.shop.queue[1]: two states have the name 'waiting'",
    ),
    GroupText.SAME_CONDITION: (
        {"where": "/etc/qmon.toml: target.shop.queue[1]", "first": "ready", "second": "dead"},
        "/etc/qmon.toml: target.shop.queue[1]: ready and dead have the same condition; give each state its own",
    ),
    GroupText.NEEDS_KIND: (
        {
            "where": "/etc/qmon.toml: target.shop.queue[1].state[1]",
            "kinds": "ready, scheduled, in_progress, blocked, dead",
            "last": "done",
        },
        "/etc/qmon.toml: target.shop.queue[1].state[1]: needs kind: ready, scheduled, in_progress, "
        "blocked, dead or done",
    ),
    GroupText.NEEDS_WHEN: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].state[1]"},
        "/etc/qmon.toml: target.shop.queue[1].state[1]: needs when, the condition for its rows",
    ),
    GroupText.BLOCKED_ONLY: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].state[1]"},
        "/etc/qmon.toml: target.shop.queue[1].state[1]: only blocked states have blocker and why",
    ),
    GroupText.NEEDS_BLOCKER: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].state[2].blocker"},
        "/etc/qmon.toml: target.shop.queue[1].state[2].blocker: needs name, the column with the name of the blocker",
    ),
    GroupText.NEEDS_STEP: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].steps", "steps": "pushed or popped or completed or failed"},
        "/etc/qmon.toml: target.shop.queue[1].steps: needs pushed or popped or completed or failed",
    ),
    GroupText.NEEDS_ID_OR_TIME: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].steps"},
        "/etc/qmon.toml: target.shop.queue[1].steps: needs id (the column that numbers the rows) or "
        "at (the time of a step)",
    ),
    GroupText.QUEUE_OF_OTHER_TABLE: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].steps"},
        "/etc/qmon.toml: target.shop.queue[1].steps: if `at` is given, `queue` must be a column of the same table",
    ),
    GroupText.NEEDS_ALIVE: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].workers"},
        "/etc/qmon.toml: target.shop.queue[1].workers: needs alive, the condition for workers that are alive",
    ),
    GroupText.EMPTY_CONDITION: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].where"},
        "/etc/qmon.toml: target.shop.queue[1].where: is empty; add a condition",
    ),
    GroupText.NOT_CONDITIONS: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].where.any"},
        "/etc/qmon.toml: target.shop.queue[1].where.any: must be a list of conditions",
    ),
    GroupText.NEEDS_TWO_TIMES: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].values.due.later_of"},
        "/etc/qmon.toml: target.shop.queue[1].values.due.later_of: needs at least two times",
    ),
    GroupText.BAD_PATTERN: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].queue.names.*a*"},
        "/etc/qmon.toml: target.shop.queue[1].queue.names.*a*: a pattern may contain one `*`, and the new name only a"
        " `*` of the pattern",
    ),
    GroupText.NOT_PAIRS: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].owner"},
        "/etc/qmon.toml: target.shop.queue[1].owner: `key` and `by` must have the same number of columns",
    ),
    GroupText.NO_WRITES: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].writes"},
        "/etc/qmon.toml: target.shop.queue[1].writes: needs ready, the columns of messages that become ready, or"
        ' purge = "delete"',
    ),
    GroupText.NEEDS_SET_VALUE: (
        {"where": "/etc/qmon.toml: target.shop.queue[1].writes"},
        '/etc/qmon.toml: target.shop.queue[1].writes: needs a column that is set to a value or to "null", which makes a'
        " message ready",
    ),
    GroupText.NEEDS_TEST: (
        {
            "where": "/etc/qmon.toml: target.shop.queue[1].where.locked_at",
            "tests": "null, not, past, future, below, at_least, plus, advisory_lock",
        },
        "/etc/qmon.toml: target.shop.queue[1].where.locked_at: needs one of null, not, past, future, "
        "below, at_least, plus, advisory_lock",
    ),
    QueueKeyText.NOT_WITH_GROUP: (
        {"path": "/etc/qmon.toml: target.shop.queue[1].payload", "keys": "queue or where"},
        "/etc/qmon.toml: target.shop.queue[1].payload: cannot be combined with queue or where",
    ),
    QueueKeyText.NEEDS_ID: (
        {"where": "/etc/qmon.toml: target.shop.queue[1]"},
        "/etc/qmon.toml: target.shop.queue[1]: needs id, the column that identifies messages",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
