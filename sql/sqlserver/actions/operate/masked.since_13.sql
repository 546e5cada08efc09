-- Columns of a table that have a mask for any login.
-- {table}        the table
-- > column_name  the column
SELECT CAST(c.name AS nvarchar(128)) AS column_name
FROM sys.columns AS c
WHERE c.object_id = OBJECT_ID({table!literal}, N'U') AND c.is_masked = 1
ORDER BY c.column_id
