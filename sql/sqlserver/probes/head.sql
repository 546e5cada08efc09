-- The oldest message of a queue that deletes on pop, starting at the last known oldest message, and a limited count. A
-- row that a consumer has deleted without committing is no longer visible: the probe "held" counts such rows by their
-- locks.
-- {table}        the queue's table
-- {id}           column: the id, in the order of pops
-- {enqueued_at?} column: when it was pushed
-- {head_index}   the index that leads with the id
-- :head          last known head id, NULL at first
-- :limit         maximum number of rows to read
-- > head_id      id of the oldest message
-- > oldest_s     its age in seconds
-- > counted      rows seen, at most :limit
SELECT
    MIN(CASE WHEN s.qmon_place = 1 THEN s.qmon_id END) AS head_id,
    MIN(CASE WHEN s.qmon_place = 1 THEN CAST(
        DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()), s.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) END) AS oldest_s,
    CAST(COUNT(*) AS int) AS counted
FROM (
    SELECT COALESCE(
        CAST(:head AS {id!type}(450)), (SELECT TOP (1) f.{id} FROM {table} AS f WITH (INDEX ({head_index})) ORDER BY f.{id})
    ) AS qmon_from
) AS b
CROSS APPLY (
    SELECT TOP (:limit)
        CONVERT(nvarchar(450), q.{id}, 126) AS qmon_id,
        {enqueued_at?!moment} AS qmon_at,
        ROW_NUMBER() OVER (ORDER BY q.{id}) AS qmon_place
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{id} >= b.qmon_from
    ORDER BY q.{id}
) AS s
OPTION (MAXDOP 1)
