-- What of a purge is in the trash and can be put back: the rows of one operation, frozen.
-- {trash}      the trash of the queue's table
-- {table}      the queue's table
-- {id?}        column: the id
-- :operation   the operation
-- :ids         only these, XML; NULL: all
-- :some        whether :ids are given
-- :limit       so many at most
-- :chunk       rows of the result hold so many each: here always one
-- > what       chosen, or why rows are left out
-- > count      how many
-- > keys       the id of a chosen one
-- > versions   always empty
SET NOCOUNT ON;
DECLARE @ids xml = CAST(CAST(:ids AS nvarchar(max)) AS xml);
DECLARE @operation varchar(40) = :operation, @some bit = :some, @limit bigint = :limit, @chunk int = :chunk;
WITH seen AS (
    SELECT {id?} AS qmon_id
    FROM {trash}
    WHERE qmon_operation = @operation
        AND (@some = 0 OR {id?} IN (SELECT r.n.value('@k', 'nvarchar(450)') FROM @ids.nodes('/r') AS r(n)))
),
told AS (
    SELECT CONVERT(nvarchar(450), s.qmon_id) AS qmon_key, s.qmon_id,
           CASE WHEN EXISTS (SELECT 1 FROM {table} WITH (NOLOCK) WHERE {id?} = s.qmon_id) THEN 'id taken again'
                ELSE 'chosen' END AS what
    FROM seen AS s
),
placed AS (
    SELECT t.what, t.qmon_key, ROW_NUMBER() OVER (PARTITION BY t.what ORDER BY t.qmon_id) AS place,
           COUNT_BIG(*) OVER (PARTITION BY t.what) AS those
    FROM told AS t
)
SELECT p.what, CAST(1 AS bigint) AS count, p.qmon_key AS keys, N'' AS versions
FROM placed AS p
WHERE p.what = 'chosen' AND p.place <= @limit
UNION ALL
SELECT 'beyond the limit', p.those - @limit, NULL, NULL
FROM placed AS p
WHERE p.what = 'chosen' AND p.place = @limit + 1
UNION ALL
SELECT p.what, p.those, NULL, NULL
FROM placed AS p
WHERE p.what <> 'chosen' AND p.place = 1
OPTION (RECOMPILE, MAXDOP 1)
