"""What waits mean for a queue kept in a table, and what to do about them, for both engines.

Sources: PostgreSQL ``wait_event_names.txt`` (the source of the wait event tables in its documentation), Microsoft's
documentation of ``sys.dm_os_wait_stats`` and ``sys.dm_os_latch_stats``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from qmon.model.waits.meanings_sqlserver import BENIGN as BENIGN_SQLSERVER
from qmon.model.waits.meanings_sqlserver import MEANINGS as MEANT_SQLSERVER


@dataclass(frozen=True, slots=True)
class Meaning:
    """What is waited for, why that happens in a queue, and what helps."""

    what: str
    why: str
    do: str


_BATCH = "several messages per transaction"
_HOT = Meaning(
    "a page in memory that another session has locked for a moment",
    "hot pages: the last leaf of an index at push, the pages at the head at pop, dead rows between",
    "fewer indexes; partitions by a hash; vacuum more often; messages in batches; fewer workers",
)
_LOG = Meaning(
    "the log to be flushed at commit",
    "one commit a message: the usual ceiling of a queue",
    f"{_BATCH}; a faster disk for the log; synchronous_commit = off only where loss is accepted",
)
_ROW = Meaning(
    "another transaction that holds the row",
    "workers reach for one row: pops without SKIP LOCKED, or long transactions",
    "FOR UPDATE SKIP LOCKED; short transactions; screen 4 names who holds it",
)
_READ = Meaning(
    "pages read from disk",
    "the backlog, or dead rows, are larger than the cache",
    "an index on ready rows only; archive what is done; more shared_buffers",
)
_WRITE = Meaning(
    "pages written to disk",
    "sessions clean the cache themselves",
    "a busier background writer; longer between checkpoints; less bloat",
)
_GROW = Meaning(
    "the table or index to be made longer",
    "many pushes into one table at once",
    "batches; partitions; let vacuum give space back",
)
_WAL_ROOM = Meaning(
    "room in the log's buffers",
    "the log is made faster than it is written: large payloads, many indexes",
    "larger wal_buffers; smaller rows; fewer indexes; checkpoints further apart",
)
_COMMITS = Meaning(
    "the pages of transaction states",
    "very many small transactions, or savepoints beside a long reader",
    f"{_BATCH}; no savepoint or EXCEPTION block a message; end long transactions",
)
_SNAPSHOTS = Meaning(
    "the list of running transactions",
    "very many connections with tiny transactions",
    "a connection pool; fewer polls by consumers",
)
_LOCKS = Meaning(
    "the lock manager's table",
    "many partitions or indexes touched by each call of many workers",
    "fewer indexes; prune partitions; fewer workers",
)
_NOTIFY = Meaning(
    "the queue of NOTIFY, one commit at a time",
    "each push notifies",
    "one NOTIFY a batch, or consumers that poll",
)
_MULTI = Meaning(
    "the lists of transactions that share a row lock",
    "foreign keys to the queue's table",
    "no foreign key on the hot path",
)
_STANDBY = Meaning(
    "a synchronous standby to confirm the commit",
    "each commit waits for the network and the standby's disk",
    f"{_BATCH}; look at the standby; a lower synchronous_commit where loss is accepted",
)
_PARALLEL = Meaning(
    "parallel workers",
    "a pop should never run in parallel: its index is missing",
    "an index in the order of pops; max_parallel_workers_per_gather = 0",
)

# By the event's name in lower case, because spellings and classes differ between versions.
MEANT_POSTGRES: Final[dict[str, Meaning]] = {
    "": Meaning("nothing: it runs on a processor", "work; with many more than processors they queue up", ""),
    "buffercontent": _HOT,
    "buffermapping": Meaning(
        "the table of pages in memory",
        "more is touched than shared_buffers hold, or bloat",
        "larger shared_buffers; less bloat; scan less",
    ),
    "bufferio": _READ,
    "datafileread": _READ,
    "datafilewrite": _WRITE,
    "datafileflush": _WRITE,
    "datafileextend": _GROW,
    "extend": _GROW,
    "walwrite": _LOG,
    "walsync": _LOG,
    "commitdelay": Meaning(
        "other commits, to be flushed with its own",
        "commit_delay is set: it helps many commits at a time and delays few",
        "a smaller commit_delay, or a larger commit_siblings",
    ),
    "walinsert": _WAL_ROOM,
    "walbufmapping": _WAL_ROOM,
    "syncrep": _STANDBY,
    "procarray": _SNAPSHOTS,
    "procarraygroupupdate": _SNAPSHOTS,
    "xidgen": _COMMITS,
    "xactbuffer": _COMMITS,
    "xactslru": _COMMITS,
    "xactgroupupdate": _COMMITS,
    "subtransbuffer": _COMMITS,
    "subtransslru": _COMMITS,
    "multixactgen": _MULTI,
    "multixactoffsetbuffer": _MULTI,
    "multixactmemberbuffer": _MULTI,
    "lockmanager": _LOCKS,
    "lockfastpath": _LOCKS,
    "transactionid": _ROW,
    "tuple": _ROW,
    "relation": Meaning(
        "a lock on the whole table",
        "DDL, TRUNCATE, VACUUM FULL or REINDEX against workers",
        "lock_timeout and try again; CONCURRENTLY; screen 4 names who holds it",
    ),
    "virtualxid": Meaning(
        "a running transaction to end",
        "CREATE INDEX CONCURRENTLY behind a long transaction",
        "end the long transaction",
    ),
    "object": _NOTIFY,
    "notifyqueue": _NOTIFY,
    "notifybuffer": _NOTIFY,
    "advisory": Meaning(
        "a lock of the application's own",
        "workers that guard one resource",
        "pg_try_advisory_xact_lock instead of waiting",
    ),
    "bufferpin": Meaning(
        "all others to leave a page",
        "vacuum behind an open cursor on the page",
        "short reads; close cursors",
    ),
    "vacuumdelay": Meaning(
        "vacuum's own pause",
        "dead rows pile up behind a slowed vacuum",
        "autovacuum_vacuum_cost_delay = 0 on the queue's table",
    ),
    "spindelay": Meaning("a spinlock", "too many sessions at work at once", "a connection pool; fewer workers"),
    "clientwrite": Meaning("the client to take its rows", "a worker works while its result is open", "read all first"),
    "messagequeuereceive": _PARALLEL,
    "messagequeuesend": _PARALLEL,
    "executegather": _PARALLEL,
    "parallelfinish": _PARALLEL,
    "pgsleep": Meaning("pg_sleep", "a poller asleep", "nothing"),
}

_BENIGN_KINDS: Final = frozenset({"Activity", "Extension"})
_BENIGN_POSTGRES: Final = frozenset({"pgsleep", "clientread", "checkpointwritedelay"})

# Waits of a commit for its log, in lower case.
LOG_WAITS: Final = frozenset({"walsync", "walwrite", "commitdelay", "writelog", "syncrep", "hadr_sync_commit"})

# Waits for a latch on a page in memory, in lower case.
PAGE_LATCHES: Final = frozenset({"buffercontent", "buffer_content", "pagelatch_ex", "pagelatch_sh", "pagelatch_up"})


def wait_meaning(kind: str, event: str) -> Meaning | None:
    """Return what a wait means for a queue, ``None`` if qmon does not know it. ``kind`` is its class."""
    name = event.casefold()
    found = MEANT_SQLSERVER.get(f"latch {name}" if kind == "latch" else name)
    if found is not None:
        return Meaning(*found)
    if kind == "wait" and name.startswith("lck_m_r"):
        return Meaning(*MEANT_SQLSERVER["lck_m_r"])
    return MEANT_POSTGRES.get(name.replace("_", ""))


def is_benign(kind: str, event: str) -> bool:
    """Return whether a wait is no sign of a problem: idle background work or sleeping."""
    name = event.casefold()
    if kind in ("wait", "latch"):
        return name in BENIGN_SQLSERVER or name.startswith(
            ("preemptive_xe_", "pwait_", "sleep_", "xe_", "dbcc_", "qds_")
        )
    return kind in _BENIGN_KINDS or name in _BENIGN_POSTGRES
