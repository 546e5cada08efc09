-- Makes a table for what requeues change: the columns of the queue's table with their types.
-- {kept}          its name
-- {table}         the queue's table
-- {columns!list}  the id and the columns that change
SELECT CAST('' AS varchar(40)) AS qmon_operation, {columns!list.q}
INTO {kept}
FROM {table} AS q
WHERE 1 = 0
UNION ALL
SELECT CAST('' AS varchar(40)), {columns!list.q}
FROM {table} AS q
WHERE 1 = 0
