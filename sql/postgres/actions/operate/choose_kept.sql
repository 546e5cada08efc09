-- The messages of a requeue that can be restored, because they have not changed since. One transaction wrote the kept
-- row and the requeued message: both have the same xmin until one of them changes. If the unchanged columns are not
-- unique, rows that exist twice are skipped.
-- {kept}       changed rows as they were before
-- {table}      the queue's table
-- {key!list}   columns: the key of such a row, which does not change
-- {named?!list} columns of :ids
-- :operation   the operation
-- :ids         only these, a JSON array of rows; NULL: all
-- :some        whether :ids are given
-- :limit       maximum number of rows
-- :chunk       number of keys per row of the result
-- > what       chosen, or the code of the reason why rows are left out
-- > count      number
-- > keys       JSON array of text, of the chosen
-- > versions   JSON array of text: where their messages lie
WITH ids AS MATERIALIZED (
    SELECT {named?!list.r}
    -- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
    FROM (SELECT (CAST(NULL AS {kept})).*) AS qmon_nulls
    CROSS JOIN LATERAL json_populate_recordset(CAST(qmon_nulls AS {kept}), CAST(:ids AS json)) AS r
),
mine AS MATERIALIZED (
    SELECT k.qmon_row, k.xmin AS qmon_by, {key!list.k}
    FROM {kept} AS k
    WHERE k.qmon_operation = CAST(:operation AS text)
      AND (NOT CAST(:some AS boolean) OR ({named?!list.k}) IN (SELECT {named?!list.i} FROM ids AS i))
),
twins AS MATERIALIZED (
    SELECT m.qmon_row
    FROM mine AS m
    JOIN {kept} AS o ON ({key!list.o}) = ({key!list.m}) AND o.xmin = m.qmon_by
    WHERE o.qmon_operation = CAST(:operation AS text) AND o.qmon_row <> m.qmon_row
),
there AS MATERIALIZED (
    SELECT m.qmon_row, count(*) AS qmon_rows, min(CAST(q.ctid AS text)) AS qmon_place
    FROM mine AS m
    JOIN {table} AS q ON ({key!list.q}) = ({key!list.m}) AND q.xmin = m.qmon_by
    GROUP BY 1
),
told AS (
    SELECT m.qmon_row, t.qmon_place,
           CASE WHEN t.qmon_rows = 1 AND m.qmon_row NOT IN (SELECT w.qmon_row FROM twins AS w)
                THEN 'chosen'
                WHEN t.qmon_rows > 1 OR m.qmon_row IN (SELECT w.qmon_row FROM twins AS w) OR NOT ROW({key!list.m}) IS NOT NULL
                THEN 'ambiguous' ELSE 'changed' END AS qmon_why
    FROM mine AS m
    LEFT JOIN there AS t ON t.qmon_row = m.qmon_row
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
       CAST(json_agg(t.qmon_place ORDER BY t.place)
            FILTER (WHERE t.qmon_why = 'chosen' AND t.place <= CAST(:limit AS bigint)) AS text) AS versions
FROM sorted AS t
GROUP BY 1, CASE WHEN t.qmon_why = 'chosen' AND t.place <= CAST(:limit AS bigint)
                 THEN (t.place - 1) / CAST(:chunk AS bigint) END
ORDER BY min(t.place), 1
