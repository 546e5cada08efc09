-- Makes a table for purged rows: the columns of the queue's table with their types, and nothing else of it. Computed
-- columns become plain ones that hold the value; the UNION keeps the identity from coming along.
-- {trash}         its name
-- {table}         the queue's table
-- {columns!list}  its columns
SELECT CAST('' AS varchar(40)) AS qmon_operation, CAST(NULL AS datetime2(3)) AS qmon_trashed_at, {columns!list.q}
INTO {trash}
FROM {table} AS q
WHERE 1 = 0
UNION ALL
SELECT CAST('' AS varchar(40)), CAST(NULL AS datetime2(3)), {columns!list.q}
FROM {table} AS q
WHERE 1 = 0
