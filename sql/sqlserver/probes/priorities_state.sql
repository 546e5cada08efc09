-- The oldest ready message of each priority, if the table has a state column. Uses an index that starts with the
-- priority: one seek per priority, whatever the depth.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}          the queue's table
-- {message_id}     column: the id of the message
-- {id}             column: the order of messages with the same priority
-- {priority}       column: the priority
-- {enqueued_at?}   column: when the message was pushed
-- {state}          column: the state
-- {priority_index} the index that gives them by priority, then in the order of pops
-- :ready           the state value of a ready message
-- :limit           maximum number of priorities
-- > priority       the priority
-- > head_id        id of its oldest ready message
-- > oldest_s       seconds since that was pushed
WITH step AS (
    SELECT a.qmon_priority, 1 AS place
    FROM (
        SELECT TOP (1) CAST(q.{priority} AS bigint) AS qmon_priority
        FROM {table} AS q WITH (INDEX ({priority_index}))
        WHERE q.{state} = CAST(:ready AS {state!type}(100))
        ORDER BY q.{priority}
    ) AS a
    UNION ALL
    SELECT n.qmon_priority, n.place
    FROM (
        SELECT
            CAST(q.{priority} AS bigint) AS qmon_priority,
            s.place + 1 AS place,
            ROW_NUMBER() OVER (ORDER BY q.{priority}) AS qmon_nth
        FROM step AS s
        JOIN {table} AS q WITH (INDEX ({priority_index})) ON q.{priority} > s.qmon_priority
        WHERE s.place < CAST(:limit AS int)
            AND q.{state} = CAST(:ready AS {state!type}(100))
    ) AS n
    WHERE n.qmon_nth = 1
)
SELECT
    s.qmon_priority AS priority,
    h.qmon_id AS head_id,
    CAST(
        DATEDIFF(DAY, h.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, h.qmon_at, SYSUTCDATETIME()), h.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) AS oldest_s
FROM step AS s
CROSS APPLY (
    SELECT TOP (1)
        CONVERT(nvarchar(450), q.{message_id}, 126) AS qmon_id,
        {enqueued_at?!moment} AS qmon_at
    FROM {table} AS q WITH (INDEX ({priority_index}))
    WHERE q.{state} = CAST(:ready AS {state!type}(100))
        AND q.{priority} = s.qmon_priority
    ORDER BY q.{id}
) AS h
OPTION (MAXDOP 1{priority_index!recompile})
