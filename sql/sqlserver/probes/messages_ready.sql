-- The first ready messages of a queue that has a state column but no state for messages in progress, for the queue
-- screen. Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}        the queue's table
-- {id}           column: the order of pops
-- {state}        column: the state
-- {called!text}   columns: the name of a message
-- {enqueued_at?} column: when it was pushed
-- {attempts?}    column: number of pops
-- {payload?}     column: the message
-- {error?}       column: its last error
-- {head_index}   the index that gives them in that order
-- :ready         the state value of a ready message
-- :head          last known head id, NULL at first
-- :limit         maximum number of rows
-- > id           id as text
-- > state        ready: a message that is being popped is not visible
-- > age_s        seconds since it was pushed
-- > owner        NULL: a row does not show who holds it
-- > attempts     number of pops
-- > payload      its first characters; only its size if it is large
-- > error        the end of its last error
SELECT
    m.qmon_id AS id,
    CAST('ready' AS varchar(20)) AS state,
    CAST(
        DATEDIFF(DAY, m.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, m.qmon_at, SYSUTCDATETIME()), m.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS age_s,
    CAST(NULL AS nvarchar(128)) AS owner,
    m.qmon_attempts AS attempts,
    CAST(m.qmon_payload AS nvarchar(400)) AS payload,
    CAST(m.qmon_error AS nvarchar(400)) AS error
FROM (
    SELECT COALESCE(
        CAST(:head AS {id!type}(450)),
        (
            SELECT TOP (1) f.{id}
            FROM {table} AS f WITH (INDEX ({head_index}))
            WHERE f.{state} = CAST(:ready AS {state!type}(100))
            ORDER BY f.{id}
        )
    ) AS qmon_from
) AS b
CROSS APPLY (
    SELECT TOP (:limit)
        {called!text.q} AS qmon_id,
        {enqueued_at?!moment} AS qmon_at,
        CAST({attempts?} AS int) AS qmon_attempts,
        CASE
            WHEN DATALENGTH({payload?}) > 65536 THEN CONVERT(nvarchar(20), DATALENGTH({payload?}) / 1024) + N' kB'
            ELSE LEFT(CONVERT(nvarchar(max), {payload?!read}, 1), 200)
        END AS qmon_payload,
        {error?!newest} AS qmon_error,
        ROW_NUMBER() OVER (ORDER BY q.{id}) AS qmon_place
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{state} = CAST(:ready AS {state!type}(100))
        AND q.{id} >= b.qmon_from
    ORDER BY q.{id}
) AS m
ORDER BY m.qmon_place
OPTION (MAXDOP 1{head_index!recompile})
