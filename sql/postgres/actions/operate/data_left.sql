-- How many rows of the second table still belong to messages whose other half was just moved into the trash.
-- {table}      the queue's table
-- {id}         column: the id
-- {data_table} the second table
-- {data_id}    column of the second table: the id
-- :tids        where the rows of the first table lie, an array as text
-- :keys        likewise, and in which partition
-- > done       how many are there
SELECT count(*) AS done
FROM {data_table} AS q
WHERE q.{data_id} IN (
    SELECT m.{id}
    FROM {table} AS m
    WHERE m.ctid = ANY (CAST(:tids AS tid[]))
      AND m.tableoid || CAST(m.ctid AS text) = ANY (CAST(:keys AS text[]))
)
