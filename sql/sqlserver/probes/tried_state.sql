-- The oldest message of a queue with a state column but without a count of attempts, and the holder of its lock; see
-- "tried". A message that is being marked as popped is no longer ready, even before the commit.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {state}      column: the state
-- {error?}     column: its last error
-- {head_index} the index that gives the ready rows in the order of pops
-- :ready       the state value of a ready message
-- :head        last known head id, NULL at first
-- > id         id as text
-- > attempts   NULL: no column counts them
-- > mark       the name of its lock; "locks" has the holder
-- > error      the end of its last error
SELECT
    h.qmon_id AS id,
    CAST(NULL AS int) AS attempts,
    CAST(RTRIM(h.qmon_place) AS nvarchar(256)) AS mark,
    CAST(h.qmon_error AS nvarchar(400)) AS error
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
    SELECT TOP (1)
        CONVERT(nvarchar(450), q.{id}, 126) AS qmon_id,
        %%lockres%% AS qmon_place,
        {error?!newest} AS qmon_error
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{state} = CAST(:ready AS {state!type}(100))
        AND q.{id} >= b.qmon_from
    ORDER BY q.{id}
) AS h
OPTION (MAXDOP 1{head_index!recompile})
