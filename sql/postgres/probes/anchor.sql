-- Exact count of a whole table that deletes on pop. Reads the table: slow cadence, own connection, own budget.
-- {table}       the queue's table
-- {due_at?}     column: when a message is due
-- > counted_at  server clock as the count began, seconds since the epoch
-- > ready       rows that are due, those held by a popper included
-- > in_progress NULL: held rows are told by their locks
-- > scheduled   not due yet
-- > dead        NULL: no such state
-- > done        NULL: no such state
SELECT
    CAST(extract(epoch FROM statement_timestamp()) AS float8) AS counted_at,
    count(*) FILTER (WHERE coalesce(CAST({due_at?} AS timestamptz) <= statement_timestamp(), true)) AS ready,
    CAST(NULL AS bigint) AS in_progress,
    count(*) FILTER (WHERE CAST({due_at?} AS timestamptz) > statement_timestamp()) AS scheduled,
    CAST(NULL AS bigint) AS dead,
    CAST(NULL AS bigint) AS done
FROM {table}
