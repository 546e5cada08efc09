-- The server's own counters, in Azure SQL Database, which names a database's counters by its physical name; totals since it
-- started: of type 272696576 (or 272696320), "per second", whose value only grows.
-- > commits         transactions of this database that wrote and committed; those that only read are not among them
-- > transactions    transactions of this database that began
-- > deadlocks       deadlocks of the whole server
-- > lock_timeouts   requests for a lock, of the whole server, that ran out of time; those of 0 ms are among them
-- > page_splits     pages split, of the whole server
-- > batches         batches received, by the whole server
-- > log_flush_waits commits of this database that waited for the log to be written
-- > ghosts_skipped  deleted rows that scans stepped over because they are not removed yet, of the whole server
-- > threadless      tasks of the whole server that wait for a worker thread at this moment: they have no request yet
SELECT
    MAX(CASE WHEN c.counter = N'Write Transactions/sec' AND c.own = 1 THEN c.total END) AS commits,
    MAX(CASE WHEN c.counter = N'Transactions/sec' AND c.own = 1 THEN c.total END) AS transactions,
    MAX(CASE WHEN c.counter = N'Number of Deadlocks/sec' THEN c.total END) AS deadlocks,
    MAX(CASE WHEN c.counter = N'Lock Timeouts/sec' THEN c.total END) AS lock_timeouts,
    MAX(CASE WHEN c.counter = N'Page Splits/sec' THEN c.total END) AS page_splits,
    MAX(CASE WHEN c.counter = N'Batch Requests/sec' THEN c.total END) AS batches,
    MAX(CASE WHEN c.counter = N'Log Flush Waits/sec' AND c.own = 1 THEN c.total END) AS log_flush_waits,
    MAX(CASE WHEN c.counter = N'Skipped Ghosted Records/sec' THEN c.total END) AS ghosts_skipped,
    (
        SELECT CAST(COUNT(*) AS int)
        FROM sys.dm_os_waiting_tasks AS w
        WHERE w.wait_type = N'THREADPOOL'
            AND w.session_id IS NULL
    ) AS threadless
FROM (
    SELECT
        RTRIM(p.counter_name) AS counter,
        CASE WHEN RTRIM(p.instance_name) COLLATE Latin1_General_BIN2 = d.physical_database_name COLLATE Latin1_General_BIN2 THEN 1 ELSE 0 END AS own,
        p.cntr_value AS total
    FROM sys.dm_os_performance_counters AS p
    JOIN sys.databases AS d ON d.name = DB_NAME()
    WHERE p.cntr_type IN (272696576, 272696320)
        AND (
            (
                p.object_name LIKE N'%:Databases%'
                AND p.counter_name IN (N'Write Transactions/sec', N'Transactions/sec', N'Log Flush Waits/sec')
                AND p.instance_name COLLATE Latin1_General_BIN2 = d.physical_database_name COLLATE Latin1_General_BIN2
            )
            OR (
                p.object_name LIKE N'%:Locks%'
                AND p.counter_name IN (N'Number of Deadlocks/sec', N'Lock Timeouts/sec')
                AND p.instance_name = N'_Total'
            )
            OR (
                p.object_name LIKE N'%:Access Methods%'
                AND p.counter_name IN (N'Page Splits/sec', N'Skipped Ghosted Records/sec')
            )
            OR (p.object_name LIKE N'%:SQL Statistics%' AND p.counter_name = N'Batch Requests/sec')
        )
) AS c
