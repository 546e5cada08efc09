-- Whether our role may read these tables. Used only for tables that our role could not read, until it may read them.
-- :tables    table ids, separated by commas
-- > table_id as asked
-- > readable the role may read all of it
SELECT
    CAST(o.object_id AS bigint) AS table_id,
    CAST(COALESCE(HAS_PERMS_BY_NAME(QUOTENAME(s.name) + N'.' + QUOTENAME(o.name), N'OBJECT', N'SELECT'), 0) AS bit) AS readable
FROM (
    SELECT CAST(N'<i>' + REPLACE(CAST(:tables AS nvarchar(max)), N',', N'</i><i>') + N'</i>' AS xml) AS list
) AS l
CROSS APPLY l.list.nodes('/i') AS v(item)
JOIN sys.objects AS o ON o.object_id = v.item.value('.', 'int')
JOIN sys.schemas AS s ON s.schema_id = o.schema_id
