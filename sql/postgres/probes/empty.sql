-- Whether no message is left in a table whose messages only a scan counts. Stops at the first message that is due.
-- Tables of more than :pages pages are not read, because deletes may have left any number of dead rows there.
-- {table}    the queue's table
-- {due_at?}  column: when a message is due
-- :table_id  the table's oid
-- :pages     pages of the table and its partitions up to which rows are looked for
-- > empty    no message is due; NULL if the table is larger, or one of its parts has no pages to measure
WITH RECURSIVE part AS (
    SELECT CAST(:table_id AS oid) AS id
    UNION
    SELECT i.inhrelid
    FROM part AS p
    JOIN pg_inherits AS i ON i.inhparent = p.id
)
SELECT CASE
    WHEN (
        SELECT bool_and(c.relkind IN ('r', 'p', 'm'))
            AND sum(pg_relation_size(c.oid)) <= CAST(:pages AS bigint) * CAST(current_setting('block_size') AS bigint)
        FROM part AS p
        JOIN pg_class AS c ON c.oid = p.id
    ) THEN NOT EXISTS (
        SELECT 1
        FROM {table}
        WHERE coalesce({due_at?!utc} <= statement_timestamp(), true)
    )
END AS empty
