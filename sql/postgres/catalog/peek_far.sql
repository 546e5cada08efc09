-- The states of rows that are due in more than five years, among about 4 MB of the table (see `peek_few`). Such a time
-- means "never" or "no time".
-- {table}    the table
-- {state}    column: the state
-- {due_at}   column: when a message is due
-- :table_id  the table's oid
-- > value    one state as text
SELECT DISTINCT CAST(few.state AS text) AS value
FROM (
    SELECT {state} AS state, {due_at} AS due_at
    FROM {table} TABLESAMPLE SYSTEM (
        least(100, 100 * 4194304.0 / greatest(pg_catalog.pg_relation_size(CAST(:table_id AS oid)), 1))
    ) REPEATABLE (0)
    LIMIT 50000
) AS few
WHERE few.state IS NOT NULL
    AND few.due_at > statement_timestamp() + interval '5 years'
ORDER BY 1
LIMIT 33
