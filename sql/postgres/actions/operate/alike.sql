-- The number of messages that could not be distinguished after a requeue: other messages of the requeue have the same
-- values in the columns that identify a message, or one of these columns is NULL.
-- {table}       the queue's table
-- {known!list}  columns: they identify a message, although they are not a key of the table
-- {state}       column: the state
-- :state        the state that they are in
-- :some         whether only some rows are meant
-- :keys         where these lie, and in which partition, an array as text
-- > done        number
SELECT CAST(coalesce(sum(g.qmon_rows), 0) AS bigint) AS done
FROM (
    SELECT count(*) AS qmon_rows, bool_and(ROW({known!list.q}) IS NOT NULL) AS qmon_known
    FROM {table} AS q
    WHERE {state} = :state
      AND (NOT CAST(:some AS boolean) OR q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[])))
    GROUP BY CAST(ROW({known!list.q}) AS text)
) AS g
WHERE g.qmon_rows > 1 OR NOT g.qmon_known
