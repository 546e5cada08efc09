-- The newest messages: how old they seem to be by their push time, and whether their contents are equal.
-- {table}        the queue's table
-- {message_id}   column: the id
-- {enqueued_at?} column: when it was pushed
-- {payload?}     column: the message
-- :after         only ids greater than this one
-- :limit         maximum number of rows
-- > id           the id
-- > age_s        seconds since it was pushed, by its push time; negative if this time is ahead of the clock
-- > fingerprint  a hash of the message; NULL if it is large or empty
SELECT
    n.qmon_id AS id,
    CAST(
        DATEDIFF(DAY, n.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, n.qmon_at, SYSUTCDATETIME()), n.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS age_s,
    CAST(n.qmon_hash AS varchar(64)) AS fingerprint
FROM (
    SELECT TOP (:limit)
        CAST(q.{message_id} AS bigint) AS qmon_id,
        {enqueued_at?!moment} AS qmon_at,
        CASE WHEN DATALENGTH({payload?}) <= 4000
            THEN CONVERT(varchar(64), HASHBYTES('SHA2_256', CONVERT(nvarchar(max), {payload?!read}, 1)), 2)
        END AS qmon_hash
    FROM {table} AS q WITH (FORCESEEK)
    WHERE q.{message_id} > CAST(:after AS bigint)
    ORDER BY q.{message_id} DESC
) AS n
OPTION (MAXDOP 1)
