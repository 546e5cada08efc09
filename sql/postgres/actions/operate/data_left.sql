-- The number of rows of the second table that belong to messages whose other half was just moved into the trash.
-- {table}      the queue's table
-- {id}         column: the id
-- {data_table} the second table
-- {data_id}    column of the second table: the id
-- :tids        positions of the rows of the first table, an array as text
-- :keys        the same, with the partition
-- > done       number of them
SELECT count(*) AS done
FROM {data_table} AS q
WHERE q.{data_id} IN (
    SELECT m.{id}
    FROM {table} AS m
    WHERE m.ctid = ANY (CAST(:tids AS tid[]))
      AND m.tableoid || CAST(m.ctid AS text) = ANY (CAST(:keys AS text[]))
)
