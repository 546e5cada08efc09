-- Puts rows of the trash that we have locked back into the queue, under their own ids, and takes them out of the trash.
-- One that meets a row which took its place (an id, or whatever else is unique) stays in the trash.
-- {table}         the queue's table
-- {trash}         qmon's table for that
-- {id}            column: the id
-- {columns!list}  the columns that can be written
-- :tids           where the rows lie in the trash, an array as text
-- > done          how many were put back
WITH back AS (
    INSERT INTO {table} ({columns!list}) OVERRIDING SYSTEM VALUE
    SELECT {columns!list.q}
    FROM {trash} AS q
    WHERE q.ctid = ANY (CAST(:tids AS tid[]))
    ON CONFLICT DO NOTHING
    RETURNING {id} AS qmon_id
),
emptied AS (
    DELETE FROM {trash} AS q
    WHERE q.ctid = ANY (CAST(:tids AS tid[])) AND q.{id} IN (SELECT b.qmon_id FROM back AS b)
    RETURNING 1
)
SELECT count(*) AS done
FROM emptied
