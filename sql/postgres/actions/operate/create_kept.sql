-- Makes a table for what requeues change: the columns of the queue's table with their types.
-- {kept}          its name
-- {table}         the queue's table
-- {columns!list}  its key and the columns that change
CREATE TABLE {kept} AS
SELECT CAST(NULL AS text) AS qmon_operation, {columns!list.q}
FROM {table} AS q
WITH NO DATA
