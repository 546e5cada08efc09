-- The server's monitors of Service Broker queues in this database, one row each; a queue has a monitor while its
-- activation is on or a session waits for its messages. Needs VIEW SERVER STATE (2022 and later: VIEW SERVER
-- PERFORMANCE STATE).
-- > queue_id    the queue's object id
-- > state       INACTIVE, NOTIFIED (a procedure was started and has not received yet), RECEIVES_OCCURRING
-- > empty_s     seconds since a RECEIVE last found nothing; NULL: not yet
-- > activated_s seconds since a procedure was last started; NULL: not yet
-- > waiting     sessions in a RECEIVE now
-- > tasks       started procedures that run now
SELECT TOP (200)
    CAST(m.queue_id AS bigint) AS queue_id,
    CAST(COALESCE(m.state, N'') AS nvarchar(32)) AS state,
    CAST(
        DATEDIFF(DAY, m.empty_at, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, m.empty_at, GETDATE()), m.empty_at), GETDATE()) / 1000.0
    AS float) AS empty_s,
    CAST(
        DATEDIFF(DAY, m.activated_at, GETDATE()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, m.activated_at, GETDATE()), m.activated_at), GETDATE()) / 1000.0
    AS float) AS activated_s,
    CAST(COALESCE(m.tasks_waiting, 0) AS int) AS waiting,
    CAST(COALESCE(t.running, 0) AS int) AS tasks
FROM (
    SELECT
        q.queue_id,
        q.state,
        q.tasks_waiting,
        NULLIF(q.last_empty_rowset_time, '19000101') AS empty_at,
        NULLIF(q.last_activated_time, '19000101') AS activated_at
    FROM sys.dm_broker_queue_monitors AS q
    WHERE q.database_id = DB_ID()
        AND q.queue_id IS NOT NULL
) AS m
LEFT JOIN (
    SELECT a.queue_id, COUNT(*) AS running
    FROM sys.dm_broker_activated_tasks AS a
    WHERE a.database_id = DB_ID()
    GROUP BY a.queue_id
) AS t ON t.queue_id = m.queue_id
ORDER BY m.queue_id
OPTION (MAXDOP 1)
