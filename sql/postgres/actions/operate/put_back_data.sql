-- Puts the other half of split messages back: of those that are in the queue again and no longer in the trash.
-- {table}         the queue's table
-- {id}            column: the id
-- {trash}         the trash of the queue's table
-- {data_table}    the second table
-- {data_id}       column of the second table: the id
-- {data_trash}    the trash of the second table
-- {columns!list}  the columns of the second table that can be written
-- :operation      the purge
-- :ids            the messages of this batch, an array as text
-- > done          rows put back
WITH emptied AS (
    DELETE FROM {data_trash} AS q
    WHERE q.qmon_operation = CAST(:operation AS text)
      AND q.{data_id} = ANY (:ids)
      AND NOT EXISTS (
          SELECT FROM {trash} AS t WHERE t.qmon_operation = CAST(:operation AS text) AND t.{id} = q.{data_id}
      )
      AND EXISTS (SELECT FROM {table} AS m WHERE m.{id} = q.{data_id})
    RETURNING {columns!list.q}
),
back AS (
    INSERT INTO {data_table} ({columns!list}) OVERRIDING SYSTEM VALUE
    SELECT {columns!list.e}
    FROM emptied AS e
    RETURNING 1
)
SELECT count(*) AS done
FROM back
