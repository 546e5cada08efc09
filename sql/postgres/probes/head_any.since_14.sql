-- A bounded count of a queue without any order, and its oldest message: both where the table is small, at most 128 pages.
-- Of a larger one no more than those pages are read, and what is found is a lower bound.
-- {table}        the queue's table
-- {enqueued_at?} column: when it was pushed
-- :table_id      the table's oid
-- :limit         look at so many rows at most
-- > place        NULL: nothing leads from one poll to the next
-- > head_id      NULL: no id
-- > oldest_s     age in seconds of the oldest of the rows seen
-- > counted      rows seen, at most :limit
-- > whole        nothing was left out but for what is beyond :limit
WITH seen AS MATERIALIZED (
    SELECT CAST({enqueued_at?} AS timestamptz) AS enqueued_at
    FROM {table}
    WHERE ctid < CAST('(128,0)' AS tid)
    LIMIT :limit
)
SELECT
    CAST(NULL AS text) AS place,
    CAST(NULL AS text) AS head_id,
    CAST(extract(epoch FROM clock_timestamp() - min(s.enqueued_at)) AS float8) AS oldest_s,
    CAST(count(*) AS int) AS counted,
    coalesce(pg_relation_size(CAST(:table_id AS oid)) <= 128 * 8192, false) AS whole
FROM seen AS s
