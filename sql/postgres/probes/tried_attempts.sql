-- The message with the most pops among the first ready messages, if a column counts pops.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {message_id} column: the id of the message
-- {state}      column: the state
-- {attempts}   column: number of pops
-- {error?}     column: its last error
-- :ready       the state value of a ready message
-- :head        last known head id, NULL at first
-- :limit       number of rows to read
-- > id         id as text
-- > attempts   number of pops
-- > mark       empty
-- > error      the end of its last error
SELECT CAST(h.id AS text) AS id, coalesce(CAST(h.attempts AS int)) AS attempts, CAST('' AS text) AS mark, h.error
FROM (
    SELECT {message_id} AS id, {attempts} AS attempts, CASE WHEN {attempts} > 0 THEN {error?!newest} END AS error
    FROM {table}
    WHERE {state} = :ready
        AND {id} >= coalesce(:head, (SELECT {id} FROM {table} WHERE {state} = :ready ORDER BY {id} LIMIT 1))
    ORDER BY {id}
    LIMIT CAST(:limit AS int)
) AS h
WHERE h.attempts > 0
ORDER BY h.attempts DESC
LIMIT 1
