-- The message with the most pops among the first ready messages, if a column counts pops.
-- Recompiled for each execution if the index is filtered: only then can the statement use that index.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {message_id} column: the id of the message
-- {state}      column: the state
-- {attempts}   column: number of pops
-- {error?}     column: its last error
-- {head_index} the index that gives the ready rows in the order of pops
-- :ready       the state value of a ready message
-- :head        last known head id, NULL at first
-- :limit       number of rows to read
-- > id         id as text
-- > attempts   number of pops
-- > mark       empty
-- > error      the end of its last error
SELECT TOP (1)
    h.qmon_id AS id,
    CAST(h.qmon_attempts AS int) AS attempts,
    CAST('' AS varchar(1)) AS mark,
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
    SELECT TOP (:limit)
        CONVERT(nvarchar(450), q.{message_id}, 126) AS qmon_id,
        q.{attempts} AS qmon_attempts,
        CASE WHEN q.{attempts} > 0 THEN {error?!newest} END AS qmon_error
    FROM {table} AS q WITH (INDEX ({head_index}))
    WHERE q.{state} = CAST(:ready AS {state!type}(100))
        AND q.{id} >= b.qmon_from
    ORDER BY q.{id}
) AS h
WHERE h.qmon_attempts > 0
ORDER BY h.qmon_attempts DESC
OPTION (MAXDOP 1{head_index!recompile})
