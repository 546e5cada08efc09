-- What of a requeue can be taken back: the messages that nobody has touched since, frozen. A row kept and the message
-- as the requeue left it were written by the same transaction: they have the same xmin until somebody touches one.
-- {kept}       what was changed, as it was before
-- {table}      the queue's table
-- {id}         column: the id
-- :operation   the operation
-- :ids         only these, an array as text; NULL: all
-- :some        whether :ids are given
-- :limit       so many at most
-- :chunk       rows of the result hold so many each
-- > what       chosen, or why rows are left out
-- > count      how many
-- > keys       JSON array of text, of the chosen
-- > versions   JSON array of text, of the chosen
WITH told AS MATERIALIZED (
    SELECT k.tableoid || CAST(k.ctid AS text)                                        AS qmon_key,
           k.tableoid || '/' || CAST(k.xmin AS text) || '/' || CAST(k.{id} AS text)  AS qmon_version,
           k.{id}                                                                    AS qmon_id,
           q.{id} IS NULL                                                            AS qmon_touched
    FROM {kept} AS k
    LEFT JOIN {table} AS q ON q.{id} = k.{id} AND q.xmin = k.xmin
    WHERE k.qmon_operation = CAST(:operation AS text)
      AND (NOT CAST(:some AS boolean) OR k.{id} = ANY (:ids))
),
sorted AS (
    SELECT t.*, row_number() OVER (PARTITION BY t.qmon_touched ORDER BY t.qmon_id) AS place
    FROM told AS t
)
SELECT CASE WHEN t.qmon_touched THEN 'popped again, or changed since'
            WHEN t.place > CAST(:limit AS bigint) THEN 'beyond the limit' ELSE 'chosen' END          AS what,
       count(*)                                                                                      AS count,
       CAST(json_agg(t.qmon_key ORDER BY t.place)
            FILTER (WHERE NOT t.qmon_touched AND t.place <= CAST(:limit AS bigint)) AS text)         AS keys,
       CAST(json_agg(t.qmon_version ORDER BY t.place)
            FILTER (WHERE NOT t.qmon_touched AND t.place <= CAST(:limit AS bigint)) AS text)         AS versions
FROM sorted AS t
GROUP BY 1, CASE WHEN NOT t.qmon_touched AND t.place <= CAST(:limit AS bigint)
                 THEN (t.place - 1) / CAST(:chunk AS bigint) END
ORDER BY min(t.place), 1
