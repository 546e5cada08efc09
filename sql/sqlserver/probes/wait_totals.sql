-- All waits and latches that have ended since the server started, by name; totals of the whole server, whose
-- differences give the waits between two polls. Waits that have not ended are left out. The latch class BUFFER is also
-- left out: its waits are the PAGELATCH and PAGEIOLATCH waits.
-- > kind     wait or latch
-- > event    the wait's type, or the latch's class
-- > waits    number of ended ones
-- > waited_s seconds waited, by all sessions together
-- > signal_s of these, seconds spent waiting for a processor after the wait itself; NULL for latches
SELECT
    CAST('wait' AS varchar(10)) AS kind,
    CAST(w.wait_type AS nvarchar(60)) AS event,
    CAST(w.waiting_tasks_count AS bigint) AS waits,
    CAST(w.wait_time_ms / 1000.0 AS float) AS waited_s,
    CAST(w.signal_wait_time_ms / 1000.0 AS float) AS signal_s
FROM sys.dm_os_wait_stats AS w
WHERE w.waiting_tasks_count > 0
UNION ALL
SELECT
    CAST('latch' AS varchar(10)),
    CAST(h.latch_class AS nvarchar(60)),
    CAST(h.waiting_requests_count AS bigint),
    CAST(h.wait_time_ms / 1000.0 AS float),
    CAST(NULL AS float)
FROM sys.dm_os_latch_stats AS h
WHERE h.waiting_requests_count > 0
    AND h.latch_class <> N'BUFFER'
