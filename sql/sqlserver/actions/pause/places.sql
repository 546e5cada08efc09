-- The table that stores the rows: the table itself. A trigger of a partitioned table fires for all its partitions.
-- {table}         the table
-- > place_schema  of one of them
-- > place_name    its name
SELECT CAST(SCHEMA_NAME(o.schema_id) AS nvarchar(128)) AS place_schema, CAST(o.name AS nvarchar(128)) AS place_name
FROM sys.objects AS o
WHERE o.object_id = OBJECT_ID({table!literal})
