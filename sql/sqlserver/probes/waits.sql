-- Current waits of active requests; qmon's own and those that sleep on purpose are left out.
-- > kind     class of the wait: Lock, Page latch, IO, Latch, Log, Network, Memory, Replica, CPU (runs or waits to run), Other
-- > event    the server's own name of the wait; empty if the request runs
-- > sessions number of requests
SELECT TOP (50)
    CAST(w.kind AS nvarchar(60)) AS kind,
    CAST(w.event AS nvarchar(60)) AS event,
    CAST(COUNT(*) AS int) AS sessions
FROM (
    SELECT
        COALESCE(r.wait_type, N'') AS event,
        CASE
            WHEN r.wait_type IS NULL OR r.wait_type IN (N'SOS_SCHEDULER_YIELD', N'THREADPOOL') THEN N'CPU'
            WHEN r.wait_type LIKE N'LCK[_]%' THEN N'Lock'
            WHEN r.wait_type LIKE N'PAGELATCH[_]%' THEN N'Page latch'
            WHEN r.wait_type LIKE N'PAGEIOLATCH[_]%' OR r.wait_type IN (N'IO_COMPLETION', N'ASYNC_IO_COMPLETION') THEN N'IO'
            WHEN r.wait_type LIKE N'LATCH[_]%' THEN N'Latch'
            WHEN r.wait_type IN (N'WRITELOG', N'LOGBUFFER', N'LOG_RATE_GOVERNOR', N'POOL_LOG_RATE_GOVERNOR') THEN N'Log'
            WHEN r.wait_type = N'ASYNC_NETWORK_IO' THEN N'Network'
            WHEN r.wait_type LIKE N'RESOURCE[_]SEMAPHORE%' THEN N'Memory'
            WHEN r.wait_type LIKE N'HADR[_]%' THEN N'Replica'
            ELSE N'Other'
        END AS kind
    FROM sys.dm_exec_requests AS r
    JOIN sys.dm_exec_sessions AS s ON s.session_id = r.session_id
    WHERE s.is_user_process = 1
        AND r.database_id = DB_ID()
        AND r.session_id <> @@SPID
        AND (s.program_name NOT LIKE N'qmon %' OR s.program_name = N'qmon load' OR s.program_name IS NULL)
        AND COALESCE(r.wait_type, N'') NOT IN (
            N'WAITFOR', N'BROKER_RECEIVE_WAITFOR', N'TRACEWRITE', N'SP_SERVER_DIAGNOSTICS_SLEEP', N'XE_LIVE_TARGET_TVF'
        )
) AS w
GROUP BY w.kind, w.event
ORDER BY COUNT(*) DESC, w.kind, w.event
