-- Moves the other half of split messages into the trash: the rows of the second table that belong to rows of the first
-- table.
-- {table}         the queue's table
-- {id}            column: the id
-- {data_table}    the second table
-- {data_id}       column of the second table: the id
-- {trash}         qmon's table for that
-- {columns!list}  all columns of the second table
-- :tids           positions of the rows of the first table, an array as text
-- :keys           the same, with the partition
-- :operation      the operation
WITH gone AS (
    DELETE FROM {data_table} AS q
    WHERE q.{data_id} IN (
        SELECT m.{id}
        FROM {table} AS m
        WHERE m.ctid = ANY (CAST(:tids AS tid[]))
          AND m.tableoid || CAST(m.ctid AS text) = ANY (CAST(:keys AS text[]))
    )
    RETURNING {columns!list.q}
)
INSERT INTO {trash} (qmon_operation, {columns!list})
SELECT :operation, {columns!list.g}
FROM gone AS g
