"""The wording of errors of an installation."""

from __future__ import annotations

from typing import Any, Final

from qmon.operate.install.control_setup import RoleText
from qmon.operate.install.install_queue import InstallText
from qmon.operate.install.install_script import ScriptText
from qmon.operate.install.object_names import NameText
from qmon.texts import Text
from tests.texts.tables import Wordings, parametrized

WORDINGS: Final[Wordings] = {
    InstallText.NO_DESIGN: (
        {"engine": "postgres", "design": "rnig", "designs": "fifo, flag, heap, ring, status"},
        "postgres has no design 'rnig' to install; choose one of: fifo, flag, heap, ring, status",
    ),
    InstallText.RING_SIZE: ({"limit": 10000000, "size": 1}, "a ring has 2 to 10,000,000 slots, not 1"),
    InstallText.FAILED: (
        {"queue": "orders", "problem": "permission denied for schema public"},
        "cannot install 'orders': permission denied for schema public; nothing was changed",
    ),
    InstallText.NOT_INSTALLED: (
        {"queue": "orders"},
        "qmon has not installed a queue 'orders' in this database; nothing was changed",
    ),
    InstallText.DEPENDENT: (
        {"queue": "orders", "problem": "cannot drop table orders because other objects depend on it"},
        "cannot uninstall 'orders': cannot drop table orders because other objects depend on it; "
        "first drop the dependent object",
    ),
    InstallText.ONE_SUBSCRIBER: (
        {"design": "status"},
        "only a ring can have several subscribers; status has one subscriber",
    ),
    InstallText.SUBSCRIBERS: ({"limit": 16, "subscribers": 17}, "a ring has 1 to 16 subscribers, not 17"),
    InstallText.NO_ATTEMPTS: (
        {"design": "ring"},
        "the design ring does not count attempts, so its messages never become dead",
    ),
    InstallText.ATTEMPTS: ({"limit": 1000000, "attempts": 0}, "a message is dead after 1 to 1,000,000 attempts, not 0"),
    InstallText.NO_SCHEMA: (
        {"schema": "shop"},
        "the schema 'shop' does not exist; create this schema first, or name another one",
    ),
    InstallText.MORE: ({"count": 2}, " (and 2 more)"),
    InstallText.EXISTS: (
        {"queue": "orders", "object": "table public.orders", "more": ""},
        "cannot install 'orders': table public.orders already exists; nothing was changed",
    ),
    InstallText.OTHER_TABLE: (
        {"queue": "orders"},
        "a queue 'orders' on another table is already installed; choose another name or uninstall that queue",
    ),
    ScriptText.LINE_BREAK: (
        {},
        "a script for SQL Server cannot contain a name with a line break; use: qmon design install",
    ),
    NameText.EMPTY: ({}, "a queue needs a name and a schema; neither may be empty"),
    NameText.TAG: (
        {"word": "a$qmon_body$b", "tag": "$qmon_body$"},
        "the name 'a$qmon_body$b' contains '$qmon_body$' or a zero byte; choose another name",
    ),
    NameText.TOO_LONG: (
        {
            "queue": "orders_of_all_customers_of_the_northern_region_of_2026",
            "length": 54,
            "unit": "bytes",
            "design": "ring",
            "limit": 49,
            "appended": 14,
            "server_limit": 63,
        },
        "the queue's name 'orders_of_all_customers_of_the_northern_region_of_2026' is 54 bytes long, "
        "but design ring allows at most 49; choose a shorter name (qmon appends up to 14 bytes for "
        "the design's objects, and the server allows names of 63 bytes)",
    ),
    RoleText.LINE_GO: (
        {},
        "a name that contains a line GO cannot be written to a script for SQL Server; run setup without --print",
    ),
}


@parametrized(WORDINGS)
def test_wording(text: Text, fields: dict[str, Any], sentence: str) -> None:
    assert text.render(**fields) == sentence
