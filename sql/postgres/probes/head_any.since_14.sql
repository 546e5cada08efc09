-- A limited count of a queue without any order, and its oldest message, if the table (or each partition) has at most
-- 128 pages.
-- Of a larger table, only 128 pages are read, and the result is a lower bound.
-- {table}        the queue's table
-- {enqueued_at?} column: when it was pushed
-- :table_id      the table's oid
-- :limit         maximum number of rows to read
-- > place        NULL: nothing leads from one poll to the next
-- > head_id      NULL: no id
-- > oldest_s     age in seconds of the oldest of the rows seen
-- > counted      rows seen, at most :limit
-- > whole        true: only rows beyond :limit were left out
WITH RECURSIVE part AS (
    SELECT CAST(:table_id AS oid) AS id
    UNION ALL
    SELECT i.inhrelid
    FROM part AS p
    JOIN pg_inherits AS i ON i.inhparent = p.id
),
seen AS MATERIALIZED (
    SELECT {enqueued_at?!moment} AS enqueued_at
    FROM {table}
    WHERE ctid < CAST('(128,0)' AS tid)
    LIMIT :limit
)
SELECT
    CAST(NULL AS text) AS place,
    CAST(NULL AS text) AS head_id,
    CAST(extract(epoch FROM clock_timestamp() - min(s.enqueued_at)) AS float8) AS oldest_s,
    CAST(count(*) AS int) AS counted,
    (SELECT coalesce(bool_and(pg_relation_size(p.id) <= 128 * 8192), false) FROM part AS p) AS whole
FROM seen AS s
