-- Requeues rows that we have locked: ready at their old place, which is the front, or dead after too many attempts.
-- {table}          the queue's table
-- {state}          column: the state
-- {attempts?}      column: how often it was popped
-- {cleared!nulls}  columns that say who popped it and when
-- :ready           the row as JSON with the state of a ready message: the server makes its own type of it
-- :dead            likewise of a dead one
-- :max_attempts    after so many attempts it is dead; NULL: never
-- :tids            where the rows lie, an array as text
-- :keys            likewise, and in which partition
UPDATE {table} AS q
SET {state} = CASE
        WHEN coalesce(CAST({attempts?} AS int) >= CAST(:max_attempts AS int), false)
            THEN (SELECT d.{state} FROM json_populate_record(CAST(NULL AS {table}), CAST(:dead AS json)) AS d)
        ELSE (SELECT r.{state} FROM json_populate_record(CAST(NULL AS {table}), CAST(:ready AS json)) AS r)
    END{cleared!nulls}
WHERE q.ctid = ANY (CAST(:tids AS tid[]))
  AND q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[]))
