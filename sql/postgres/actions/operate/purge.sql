-- Moves rows that we have locked into the trash, in one statement.
-- {table}         the queue's table
-- {trash}         qmon's table for that
-- {columns!list}  all its columns
-- :tids           positions of the rows, an array as text
-- :keys           the same, with the partition
-- :operation      the operation
WITH gone AS (
    DELETE FROM {table} AS q
    WHERE q.ctid = ANY (CAST(:tids AS tid[]))
      AND q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[]))
    RETURNING {columns!list.q}
)
INSERT INTO {trash} (qmon_operation, {columns!list})
SELECT :operation, {columns!list.g}
FROM gone AS g
