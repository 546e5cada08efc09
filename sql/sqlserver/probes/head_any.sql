-- A limited count of a queue without any order, and its oldest message, if the table has at most 128 pages. A larger
-- table is not read: a heap keeps the pages that deletes have emptied, and rows may come after all of these pages.
-- {table}        the queue's table
-- {enqueued_at?} column: when it was pushed
-- :table_id      the table's object id
-- :limit         maximum number of rows to read
-- > place        NULL: nothing leads from one poll to the next
-- > head_id      NULL: no id
-- > oldest_s     age in seconds of the oldest of the rows seen
-- > counted      rows seen, at most :limit
-- > whole        true: only rows beyond :limit were left out
SELECT
    CAST(NULL AS nvarchar(450)) AS place,
    CAST(NULL AS nvarchar(450)) AS head_id,
    MAX(CAST(
        DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()), s.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float)) AS oldest_s,
    CAST(COUNT(s.qmon_row) AS int) AS counted,
    CAST(MAX(p.small) AS bit) AS whole
FROM (
    SELECT CASE WHEN SUM(a.total_pages) <= 128 THEN 1 ELSE 0 END AS small
    FROM sys.partitions AS r
    JOIN sys.allocation_units AS a ON a.container_id = r.hobt_id AND a.type IN (1, 3)
    WHERE r.object_id = CAST(:table_id AS int)
        AND r.index_id IN (0, 1)
) AS p
OUTER APPLY (
    SELECT TOP (CASE p.small WHEN 1 THEN CAST(:limit AS int) ELSE 0 END)
        1 AS qmon_row,
        {enqueued_at?!moment} AS qmon_at
    FROM {table}
) AS s
OPTION (MAXDOP 1)
