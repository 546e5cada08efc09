-- All waits of this database that have ended since the service last moved it, by name, in Azure SQL Database: there the waits
-- of the server are those of other databases too. Latch classes are not counted by database.
-- > kind     always wait
-- > event    the wait's type
-- > waits    number of ended ones
-- > waited_s seconds waited, by all sessions together
-- > signal_s of these, seconds spent waiting for a processor after the wait itself
SELECT
    CAST('wait' AS varchar(10)) AS kind,
    CAST(w.wait_type AS nvarchar(60)) AS event,
    CAST(w.waiting_tasks_count AS bigint) AS waits,
    CAST(w.wait_time_ms / 1000.0 AS float) AS waited_s,
    CAST(w.signal_wait_time_ms / 1000.0 AS float) AS signal_s
FROM sys.dm_db_wait_stats AS w
WHERE w.waiting_tasks_count > 0
