-- Puts rows of the trash that we have locked back into a queue without ids, and takes them out of the trash.
-- {table}         the queue's table
-- {trash}         qmon's table for that
-- {columns!list}  the columns that can be written
-- :tids           where the rows lie in the trash, an array as text
-- > done          how many were put back
WITH emptied AS (
    DELETE FROM {trash} AS q
    WHERE q.ctid = ANY (CAST(:tids AS tid[]))
    RETURNING {columns!list.q}
),
back AS (
    INSERT INTO {table} ({columns!list}) OVERRIDING SYSTEM VALUE
    SELECT {columns!list.e}
    FROM emptied AS e
    RETURNING 1
)
SELECT count(*) AS done
FROM back
