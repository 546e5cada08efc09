-- A table of a library: what roles need rights on.
-- {table}      the table
-- > object_id  its id
SELECT o.object_id AS object_id
FROM sys.objects AS o
WHERE o.object_id = OBJECT_ID({table!literal})
