-- The objects with the names of queues that cannot be watched: if the answer changes, the catalog is read again.
-- :names   names of tables, as XML
-- > found a hash of the tables with these names, and of our login's rights on them
SELECT
    CAST(COALESCE(SUM(
        CAST(o.object_id AS bigint) * 2
            + COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(s.name) + N'.' + QUOTENAME(o.name), N'OBJECT', N'SELECT'), 0)
    ), 0) AS bigint) AS found
FROM (SELECT CAST(:names AS xml) AS list) AS l
CROSS APPLY l.list.nodes('/r') AS v(item)
JOIN sys.objects AS o ON o.name = v.item.value('@k', 'nvarchar(128)')
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
