-- Of the first ready messages the one that has been popped most often, where a column counts that.
-- {table}      the queue's table
-- {id}         column: the id, in the order of pops
-- {message_id} column: the id of the message
-- {state}      column: the state
-- {attempts}   column: how often it was popped
-- :ready       the state value of a ready message
-- :head        last known head id, NULL at first
-- :limit       look at so many rows
-- > id         id as text
-- > attempts   how often it was popped
-- > mark       empty
SELECT CAST(h.id AS text) AS id, coalesce(CAST(h.attempts AS int)) AS attempts, CAST('' AS text) AS mark
FROM (
    SELECT {message_id} AS id, {attempts} AS attempts
    FROM {table}
    WHERE {state} = :ready
        AND {id} >= coalesce(:head, (SELECT {id} FROM {table} WHERE {state} = :ready ORDER BY {id} LIMIT 1))
    ORDER BY {id}
    LIMIT CAST(:limit AS int)
) AS h
WHERE h.attempts > 0
ORDER BY h.attempts DESC
LIMIT 1
