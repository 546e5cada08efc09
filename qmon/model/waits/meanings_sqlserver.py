"""Meanings of SQL Server's waits and latch classes (resource, cause and fix), and the waits that are ignored."""

from __future__ import annotations

from typing import Final

MeaningText = tuple[str, str, str]

_PAGE_LATCH_EX: Final[MeaningText] = (
    "a page in memory that another session changes",
    "writers share one page: pushes the last of an increasing key, pops the first",
    "spread the key; OPTIMIZE_FOR_SEQUENTIAL_KEY; fewer indexes; batches; fewer consumers",
)
_PAGE_LATCH_SH: Final[MeaningText] = (
    "a page in memory, to read it while another session changes it",
    "pops and index seeks wait for the same hot pages",
    "a filtered index on ready rows; TOP (n); poll less; spread the key",
)
_PAGE_LATCH_UP: Final[MeaningText] = (
    "a page that keeps track of free space",
    "many inserts and deletes, or heavy use of tempdb",
    "more data files of equal size; fewer temporary objects per call",
)
_IO: Final[MeaningText] = (
    "pages read from disk",
    "ready messages, ghost records or finished rows do not fit into memory",
    "an index on ready rows only; archive done messages; more memory; a faster disk if a read takes over 10 ms",
)
_LOG: Final[MeaningText] = (
    "the log to be flushed at commit",
    "one commit per message, the usual limit of a queue",
    "several messages per transaction; a faster disk for the log; delayed durability if you accept losses",
)
_RATE: Final[MeaningText] = (
    "the log rate limit of the service",
    "the service tier allows no higher log rate",
    "batches; smaller rows; a higher tier",
)
_UPDATE_LOCK: Final[MeaningText] = (
    "an update lock on a row or page",
    "consumers try to lock the same row: READPAST or ROWLOCK is missing",
    "WITH (UPDLOCK, READPAST, ROWLOCK), an index in the order of pops; short transactions",
)
_XACT: Final[MeaningText] = (
    "the end of a transaction that has changed the row (optimized locking)",
    "a long transaction, or consumers that change the same rows",
    "short transactions; screen 4 shows the session that holds it",
)
_EXCLUSIVE_LOCK: Final[MeaningText] = (
    "an exclusive lock on a row",
    "a session changes rows that another consumer holds",
    "change rows by primary key; batches below 5,000 locks; screen 4 shows the session that holds it",
)
_SHARED_LOCK: Final[MeaningText] = (
    "a shared lock, to read",
    "a session reads or counts the queue without row versions",
    "READ_COMMITTED_SNAPSHOT; row counts from the system views instead of COUNT(*) in a loop",
)
_INTENT_LOCK: Final[MeaningText] = (
    "the whole table or page, which another session has locked",
    "lock escalation, TABLOCK, a purge, index work",
    "purge in smaller batches; screen 4 shows the session that holds it",
)
_CPU: Final[MeaningText] = (
    "a processor, after it has used up its time slice",
    "scans of large queues or of many ghost records, consumers that poll without a pause",
    "an index on ready rows; fewer polls; more processors if signal waits are also high",
)
_TREE: Final[MeaningText] = (
    "the root of a B-tree",
    "a small tree whose root often splits and shrinks, because rows are inserted and deleted",
    "keep some rows in the table; hash partitions; fewer indexes",
)
_PARALLEL: Final[MeaningText] = (
    "parallel workers",
    "a pop should never run in parallel: its index is missing",
    "an index in the order of pops; MAXDOP 1",
)
_FILE: Final[MeaningText] = (
    "a file to grow",
    "all sessions wait while a data or log file grows",
    "create files large enough; reasonable growth steps; no auto-shrink",
)

# Keyed by the wait's name in lower case. Names of latch classes start with `latch`.
MEANINGS: Final[dict[str, MeaningText]] = {
    "pagelatch_ex": _PAGE_LATCH_EX,
    "pagelatch_sh": _PAGE_LATCH_SH,
    "pagelatch_up": _PAGE_LATCH_UP,
    "pageiolatch_sh": _IO,
    "pageiolatch_ex": _IO,
    "pageiolatch_up": _IO,
    "writelog": _LOG,
    "logbuffer": (
        "free space in the log buffer",
        "sessions produce log faster than it is written: large payloads, many indexes",
        "a faster disk for the log; smaller rows; fewer indexes",
    ),
    "hadr_sync_commit": (
        "a synchronous secondary to confirm the commit",
        "each commit waits for the network and the secondary's disk",
        "several messages per transaction; check the send queue of the secondary",
    ),
    "log_rate_governor": _RATE,
    "pool_log_rate_governor": _RATE,
    "hadr_throttle_log_rate_governor": _RATE,
    "lck_m_u": _UPDATE_LOCK,
    "lck_m_s_xact": _XACT,
    "lck_m_s_xact_read": _XACT,
    "lck_m_s_xact_modify": _XACT,
    "lck_m_x": _EXCLUSIVE_LOCK,
    "lck_m_s": _SHARED_LOCK,
    "lck_m_is": _SHARED_LOCK,
    "lck_m_ix": _INTENT_LOCK,
    "lck_m_iu": _INTENT_LOCK,
    "lck_m_six": _INTENT_LOCK,
    "lck_m_sch_m": (
        "all other sessions to stop using the table",
        "DDL waits for all sessions, and new sessions wait for the DDL",
        "change the table when the load is low; WAIT_AT_LOW_PRIORITY; a short lock timeout",
    ),
    "lck_m_sch_s": (
        "DDL to end",
        "sessions wait for DDL that is waiting itself",
        "find the DDL on screen 4 and end its session",
    ),
    "lck_m_r": (
        "a lock on a range of keys",
        "serializable callers: MERGE with HOLDLOCK, TransactionScope's default",
        "read committed; no HOLDLOCK in pushes and pops",
    ),
    "threadpool": (
        "a worker thread",
        "too many blocked or polling sessions",
        "end the head blocker on screen 4; fewer consumers and connections",
    ),
    "sos_scheduler_yield": _CPU,
    "resource_semaphore": (
        "memory for a query",
        "a sort or hash in the pop, or heavy reports at the same time",
        "an index in the order of pops; a smaller TOP; less memory for reports",
    ),
    "resource_semaphore_query_compile": (
        "a free slot to compile a query",
        "pops with literals in their text",
        "parameters",
    ),
    "async_network_io": (
        "the client to fetch its rows",
        "a consumer processes rows before it has fetched all",
        "fetch all rows first",
    ),
    "cxpacket": _PARALLEL,
    "cxconsumer": _PARALLEL,
    "cxsync_port": _PARALLEL,
    "transaction_mutex": ("a transaction shared by sessions", "consumers use MARS or MSDTC", "plain transactions"),
    "broker_receive_waitfor": (
        "a message",
        "idle readers; if messages are ready, readers wait for a locked conversation group",
        "nothing while the queue is empty",
    ),
    "broker_transmission_work": (
        "the transmission queue",
        "messages are sent to another instance or cannot be routed",
        "check transmission_status in sys.transmission_queue",
    ),
    "latch access_methods_hobt_virtual_root": _TREE,
    "latch access_methods_hobt_count": (
        "the counters of rows and pages of a table",
        "very many inserts and deletes in one partition",
        "more partitions; batches",
    ),
    "latch access_methods_dataset_parent": _PARALLEL,
    "latch access_methods_scan_range_generator": _PARALLEL,
    "latch alloc_freespace_cache": (
        "the list of pages with free space",
        "the queue is a heap, or payloads are stored outside the row",
        "a clustered index; partitions; payload in the row",
    ),
    "latch alloc_extent_cache": (
        "extents with free pages",
        "many sessions push into one table",
        "partitions; more files",
    ),
    "latch fgcb_add_remove": _FILE,
    "latch fgcb_alloc": ("the choice of a file for new space", "many pushes", "files of equal size"),
    "latch fcb": _FILE,
    "latch log_manager": _FILE,
    "latch service_broker_waitfor_manager": ("the list of waiting receivers", "too many receivers", "fewer receivers"),
    "latch nesting_transaction_full": _PARALLEL,
    "latch nesting_transaction_readonly": _PARALLEL,
    "latch versioning_transaction_list": (
        "the list of transactions with row versions",
        "row versions are kept for long reads",
        "shorter reads",
    ),
}

_NAMES: Final = """
broker_eventhandler broker_receive_waitfor broker_task_stop broker_to_flush broker_transmitter checkpoint_queue
chkpt clr_auto_event clr_manual_event clr_semaphore dbmirroring_cmd dbmirror_dbm_event dbmirror_dbm_mutex
dbmirror_events_queue dbmirror_worker_queue dirty_page_poll dispatcher_queue_semaphore execsync fsagent
ft_iftshc_mutex ft_ifts_scheduler_idle_wait hadr_clusapi_call hadr_fabric_callback
hadr_filestream_iomgr_iocompletion hadr_logcapture_wait hadr_notification_dequeue hadr_timer_task hadr_work_queue
ksource_wakeup lazywriter_sleep logmgr_queue memory_allocation_ext ondemand_task_queue parallel_redo_drain_worker
parallel_redo_log_cache parallel_redo_tran_list parallel_redo_tran_turn parallel_redo_worker_sync
parallel_redo_worker_wait_work preemptive_hadr_lease_mechanism preemptive_os_flushfilebuffers
preemptive_sp_server_diagnostics pvs_preallocate redo_thread_pending_work request_for_deadlock_search
resource_queue server_idle_check sni_http_accept sos_work_dispatcher sp_server_diagnostics_sleep
sqltrace_buffer_flush sqltrace_incremental_flush_sleep sqltrace_wait_entries startup_dependency_manager
ucs_session_registration vdi_client_other waitfor waitfor_taskshutdown wait_for_results wait_xtp_ckpt_close
wait_xtp_host_wait wait_xtp_offline_ckpt_new_log wait_xtp_recovery buffer trace_controller
"""
# Names in lower case. The latch class `buffer` is the sum of the page waits, which are listed separately.
BENIGN: Final = frozenset(_NAMES.split())
