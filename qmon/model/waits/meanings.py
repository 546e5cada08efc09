"""Meanings of waits: the cause of each wait in a queue, and how to fix it, for both engines.

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
    """The resource of a wait, its cause in a queue, and its fix."""

    waits_for: str
    cause: str
    fix: str


_BATCH = "several messages per transaction"
_HOT = Meaning(
    "a page in memory that another session has briefly locked",
    "hot pages: pushes share the last leaf of an index, pops share the first pages and step over dead rows",
    "fewer indexes; hash partitions; vacuum more often; messages in batches; fewer consumers",
)
_LOG = Meaning(
    "the log to be flushed at commit",
    "one commit per message, the usual limit of a queue",
    f"{_BATCH}; a faster disk for the log; synchronous_commit = off if you accept losses",
)
_ROW = Meaning(
    "another transaction that holds the row",
    "consumers try to lock the same row: pops without SKIP LOCKED, or long transactions",
    "FOR UPDATE SKIP LOCKED; short transactions; screen 4 shows the session that holds it",
)
_READ = Meaning(
    "pages read from disk",
    "ready messages or dead rows do not fit into the cache",
    "an index on ready rows only; archive done messages; more shared_buffers",
)
_WRITE = Meaning(
    "pages written to disk",
    "sessions must write out changed pages themselves to make room in the cache",
    "a more active background writer; fewer checkpoints; less bloat",
)
_GROW = Meaning(
    "a table or index to be extended",
    "many sessions push into one table at the same time",
    "batches; partitions; vacuum, so that free space is used again",
)
_WAL_ROOM = Meaning(
    "free space in the log buffers",
    "sessions produce log faster than it is written: large payloads, many indexes",
    "larger wal_buffers; smaller rows; fewer indexes; fewer checkpoints",
)
_COMMITS = Meaning(
    "the pages with the states of transactions",
    "very many small transactions, or savepoints while another session reads for a long time",
    f"{_BATCH}; no savepoint or EXCEPTION block per message; end long transactions",
)
_SNAPSHOTS = Meaning(
    "the list of running transactions",
    "very many connections with tiny transactions",
    "a connection pool; fewer polls by consumers",
)
_LOCKS = Meaning(
    "the lock manager's table",
    "many consumers, each of whose statements locks many partitions or indexes",
    "fewer indexes; prune partitions; fewer consumers",
)
_NOTIFY = Meaning(
    "the queue of NOTIFY, which takes one commit at a time",
    "each push sends a NOTIFY",
    "one NOTIFY per batch, or consumers that poll",
)
_MULTI = Meaning(
    "the lists of transactions that share a row lock",
    "foreign keys to the queue's table",
    "no foreign key on the hot path",
)
_STANDBY = Meaning(
    "a synchronous standby to confirm the commit",
    "each commit waits for the network and the standby's disk",
    f"{_BATCH}; check the standby; a lower synchronous_commit if you accept losses",
)
_PARALLEL = Meaning(
    "parallel workers",
    "a pop should never run in parallel: its index is missing",
    "an index in the order of pops; max_parallel_workers_per_gather = 0",
)

# Keyed by the event's name in lower case, because spellings and classes differ between versions.
MEANT_POSTGRES: Final[dict[str, Meaning]] = {
    "": Meaning(
        "nothing: it is running", "statements at work; if they outnumber the processors, they wait for each other", ""
    ),
    "buffercontent": _HOT,
    "buffermapping": Meaning(
        "the list of pages in memory",
        "statements use more pages than fit into shared_buffers, or bloat",
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
        "other commits, to flush them together",
        "commit_delay is set: it speeds up many simultaneous commits and delays single ones",
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
        "DDL, TRUNCATE, VACUUM FULL or REINDEX while consumers are working",
        "set lock_timeout and retry; CONCURRENTLY; screen 4 shows the session that holds it",
    ),
    "virtualxid": Meaning(
        "a running transaction to end",
        "CREATE INDEX CONCURRENTLY waits for a long transaction",
        "end the long transaction",
    ),
    "object": _NOTIFY,
    "notifyqueue": _NOTIFY,
    "notifybuffer": _NOTIFY,
    "advisory": Meaning(
        "an advisory lock of the application",
        "consumers that lock the same resource",
        "pg_try_advisory_xact_lock instead of waiting",
    ),
    "bufferpin": Meaning(
        "all other sessions to release a page",
        "vacuum waits for an open cursor on the page",
        "short reads; close cursors",
    ),
    "vacuumdelay": Meaning(
        "nothing: vacuum pauses",
        "vacuum is throttled, and dead rows accumulate",
        "autovacuum_vacuum_cost_delay = 0 on the queue's table",
    ),
    "spindelay": Meaning("a spinlock", "too many active sessions", "a connection pool; fewer consumers"),
    "clientwrite": Meaning(
        "the client to fetch its rows", "a consumer processes rows before it has fetched all", "fetch all rows first"
    ),
    "messagequeuereceive": _PARALLEL,
    "messagequeuesend": _PARALLEL,
    "executegather": _PARALLEL,
    "parallelfinish": _PARALLEL,
    "pgsleep": Meaning("pg_sleep", "a consumer sleeps between polls", "nothing"),
}

_BENIGN_KINDS: Final = frozenset({"Activity", "Extension"})
_BENIGN_POSTGRES: Final = frozenset({"pgsleep", "clientread", "checkpointwritedelay"})

# Names, in lower case, of the waits of a commit for its log.
LOG_WAITS: Final = frozenset({"walsync", "walwrite", "commitdelay", "writelog", "syncrep", "hadr_sync_commit"})

# Names, in lower case, of the waits for a latch on a page in memory.
PAGE_LATCHES: Final = frozenset({"buffercontent", "buffer_content", "pagelatch_ex", "pagelatch_sh", "pagelatch_up"})


def wait_meaning(kind: str, event: str) -> Meaning | None:
    """Return the meaning of a wait, or ``None`` if qmon does not know the wait. ``kind``: class of the wait."""
    name = event.casefold()
    found = MEANT_SQLSERVER.get(f"latch {name}" if kind == "latch" else name)
    if found is not None:
        return Meaning(*found)
    if kind == "wait" and name.startswith("lck_m_r"):
        return Meaning(*MEANT_SQLSERVER["lck_m_r"])
    return MEANT_POSTGRES.get(name.replace("_", ""))


def is_benign(kind: str, event: str) -> bool:
    """Return whether a wait is harmless, because it is idle background work or sleeping."""
    name = event.casefold()
    if kind in ("wait", "latch"):
        return name in BENIGN_SQLSERVER or name.startswith(
            ("preemptive_xe_", "pwait_", "sleep_", "xe_", "dbcc_", "qds_")
        )
    return kind in _BENIGN_KINDS or name in _BENIGN_POSTGRES
