-- What of a requeue can be taken back: the messages that nobody has touched since, frozen. A row kept and the message
-- as the requeue left it were written by the same transaction: they have the same xmin until somebody touches one.
-- Where what does not change need not be unique, what is there twice is left alone.
-- {kept}       what was changed, as it was before
-- {table}      the queue's table
-- {key!list}   columns: what makes a row of that known and does not change
-- {named?!list} columns of :ids
-- :operation   the operation
-- :ids         only these, a JSON array of rows; NULL: all
-- :some        whether :ids are given
-- :limit       so many at most
-- :chunk       rows of the result hold so many each
-- > what       chosen, or why rows are left out
-- > count      how many
-- > keys       JSON array of text, of the chosen
-- > versions   JSON array of empty texts
WITH ids AS MATERIALIZED (
    SELECT {named?!list.r}
    -- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
    FROM (SELECT (CAST(NULL AS {kept})).*) AS qmon_nulls
    CROSS JOIN LATERAL json_populate_recordset(CAST(qmon_nulls AS {kept}), CAST(:ids AS json)) AS r
),
told AS MATERIALIZED (
    SELECT k.qmon_row,
           CASE WHEN (SELECT count(*) FROM {table} AS q WHERE ({key!list.q}) = ({key!list.k}) AND q.xmin = k.xmin) = 1
                     AND NOT EXISTS (
                         SELECT FROM {kept} AS o
                         WHERE ({key!list.o}) = ({key!list.k}) AND o.xmin = k.xmin
                           AND o.qmon_operation = k.qmon_operation AND o.qmon_row <> k.qmon_row
                     )
                THEN 'chosen' ELSE 'popped again, or changed since' END AS qmon_why
    FROM {kept} AS k
    WHERE k.qmon_operation = CAST(:operation AS text)
      AND (NOT CAST(:some AS boolean) OR ({named?!list.k}) IN (SELECT {named?!list.i} FROM ids AS i))
),
sorted AS (
    SELECT t.*, row_number() OVER (PARTITION BY t.qmon_why ORDER BY t.qmon_row) AS place
    FROM told AS t
)
SELECT CASE WHEN t.qmon_why <> 'chosen' THEN t.qmon_why
            WHEN t.place > CAST(:limit AS bigint) THEN 'beyond the limit' ELSE 'chosen' END    AS what,
       count(*)                                                                                AS count,
       CAST(json_agg(CAST(t.qmon_row AS text) ORDER BY t.place)
            FILTER (WHERE t.qmon_why = 'chosen' AND t.place <= CAST(:limit AS bigint)) AS text) AS keys,
       CAST(json_agg(CAST('' AS text) ORDER BY t.place)
            FILTER (WHERE t.qmon_why = 'chosen' AND t.place <= CAST(:limit AS bigint)) AS text) AS versions
FROM sorted AS t
GROUP BY 1, CASE WHEN t.qmon_why = 'chosen' AND t.place <= CAST(:limit AS bigint)
                 THEN (t.place - 1) / CAST(:chunk AS bigint) END
ORDER BY min(t.place), 1
