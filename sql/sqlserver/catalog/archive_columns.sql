-- The columns of an archive; no rows if there is no such table.
-- {archive_log}  the archive
-- > table_id     its object id
-- > column_name  the column's name
-- > is_key       the server numbers each row in it, one after the other
SELECT
    CAST(c.object_id AS bigint) AS table_id,
    CAST(c.name AS nvarchar(128)) AS column_name,
    c.is_identity AS is_key
FROM sys.columns AS c
WHERE c.object_id = OBJECT_ID({archive_log!literal})
ORDER BY c.column_id
