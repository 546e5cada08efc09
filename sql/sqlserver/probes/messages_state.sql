-- Messages in progress for the queue screen, the longest-running first.
-- Reads at most 1,000 messages, in the order of the index (if possible, of start times).
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}          the queue's table
-- {called!text}     columns: the name of a message
-- {state}          column: the state
-- {started_at?}    column: when it was popped
-- {owner?}         column: its consumer
-- {attempts?}      column: number of pops
-- {payload?}       column: the message
-- {error?}         column: its last error
-- {progress_index} the index of the rows in progress
-- :in_progress     the state value of a message in progress
-- :limit           maximum number of rows
-- > id             id as text
-- > state          always in_progress
-- > age_s          seconds since it was popped
-- > owner          its consumer
-- > attempts       number of pops
-- > payload        its first characters; only its size if it is large
-- > error          the end of its last error
SELECT
    m.qmon_id AS id,
    CAST('in_progress' AS varchar(20)) AS state,
    CAST(
        DATEDIFF(DAY, m.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, m.qmon_at, SYSUTCDATETIME()), m.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS age_s,
    m.qmon_owner AS owner,
    m.qmon_attempts AS attempts,
    CAST(m.qmon_payload AS nvarchar(400)) AS payload,
    CAST(m.qmon_error AS nvarchar(400)) AS error
FROM (
    SELECT TOP (:limit) p.*
    FROM (
        SELECT TOP (1000)
            {called!text.q} AS qmon_id,
            {started_at?!moment} AS qmon_at,
            RTRIM(CONVERT(nvarchar(400), {owner?})) AS qmon_owner,
            CAST({attempts?} AS int) AS qmon_attempts,
            CASE
                WHEN DATALENGTH({payload?}) > 65536 THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
                ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200)
            END AS qmon_payload,
            {error?!newest} AS qmon_error
        FROM {table} AS q WITH (INDEX ({progress_index}))
        WHERE q.{state} = CAST(:in_progress AS {state!type}(100))
    ) AS p
    ORDER BY CASE WHEN p.qmon_at IS NULL THEN 1 ELSE 0 END, p.qmon_at
) AS m
ORDER BY CASE WHEN m.qmon_at IS NULL THEN 1 ELSE 0 END, m.qmon_at
OPTION (MAXDOP 1{progress_index!recompile})
