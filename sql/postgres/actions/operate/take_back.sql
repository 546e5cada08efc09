-- Restores the values that a requeue changed, for messages that we have locked, and returns which of them have these
-- values.
-- {table}          the queue's table
-- {kept}           changed rows as they were before
-- {key!list}       columns: the key of a row, or its id
-- {columns!list}   the columns that were changed
-- {certain!list}   those of them that must be as before: all but times that the server's clock gave
-- :rows            kept rows, an array as text
-- :tids            where their messages lie, an array as text
-- > place          current position of a written message, with the partition
-- > same           it is as it was before
WITH made AS (
    UPDATE {table} AS q
    SET {columns!set.k}
    FROM {kept} AS k
    WHERE k.qmon_row = ANY (CAST(:rows AS bigint[])) AND ({key!list.q}) = ({key!list.k}) AND q.xmin = k.xmin
      AND q.ctid = ANY (CAST(:tids AS tid[]))
    RETURNING q.tableoid || CAST(q.ctid AS text) AS place,
              CAST(ROW({key!list.q}, {certain!list.q}) AS text) = CAST(ROW({key!list.k}, {certain!list.k}) AS text) AS same
)
SELECT d.place, d.same
FROM made AS d
