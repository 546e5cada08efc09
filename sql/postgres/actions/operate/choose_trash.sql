-- The rows of one purge that are in the trash and can be put back.
-- {trash}      the trash of the queue's table
-- {table}      the queue's table
-- {key?!list}  columns: the key of such a row
-- {named?!list} columns of :ids
-- :operation   the operation
-- :ids         only these, a JSON array of rows; NULL: all
-- :some        whether :ids are given
-- :limit       maximum number of rows
-- :chunk       number of keys per row of the result
-- > what       chosen, or the code of the reason why rows are left out
-- > count      number
-- > keys       JSON array of text, of the chosen
-- > versions   JSON array of empty texts
WITH ids AS MATERIALIZED (
    SELECT {named?!list.r}
    -- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
    FROM (SELECT (CAST(NULL AS {trash})).*) AS qmon_nulls
    CROSS JOIN LATERAL json_populate_recordset(CAST(qmon_nulls AS {trash}), CAST(:ids AS json)) AS r
),
told AS MATERIALIZED (
    SELECT q.qmon_row,
           CASE WHEN EXISTS (SELECT FROM {table} AS t WHERE ({key?!list.t}) = ({key?!list.q})) THEN 'id_taken'
                ELSE 'chosen' END AS qmon_why
    FROM {trash} AS q
    WHERE q.qmon_operation = CAST(:operation AS text)
      AND (NOT CAST(:some AS boolean) OR ({named?!list.q}) IN (SELECT {named?!list.i} FROM ids AS i))
),
sorted AS (
    SELECT t.*, row_number() OVER (PARTITION BY t.qmon_why ORDER BY t.qmon_row) AS place
    FROM told AS t
)
SELECT CASE WHEN t.qmon_why <> 'chosen' THEN t.qmon_why
            WHEN t.place > CAST(:limit AS bigint) THEN 'over_limit' ELSE 'chosen' END    AS what,
       count(*)                                                                                AS count,
       CAST(json_agg(CAST(t.qmon_row AS text) ORDER BY t.place)
            FILTER (WHERE t.qmon_why = 'chosen' AND t.place <= CAST(:limit AS bigint)) AS text) AS keys,
       CAST(json_agg(CAST('' AS text) ORDER BY t.place)
            FILTER (WHERE t.qmon_why = 'chosen' AND t.place <= CAST(:limit AS bigint)) AS text) AS versions
FROM sorted AS t
GROUP BY 1, CASE WHEN t.qmon_why = 'chosen' AND t.place <= CAST(:limit AS bigint)
                 THEN (t.place - 1) / CAST(:chunk AS bigint) END
ORDER BY min(t.place), 1
