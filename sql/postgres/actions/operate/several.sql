-- Whether some of these ids belong to several messages.
-- {table}       the queue's table
-- {named!list}  columns of :ids
-- {first}       column: the first of them
-- {last}        column: the last of them
-- :ids          a JSON array of rows
-- > done        1, or 0
WITH ids AS MATERIALIZED (
    SELECT {named!list.r}
    -- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
    FROM (SELECT (CAST(NULL AS {table})).*) AS qmon_nulls
    CROSS JOIN LATERAL json_populate_recordset(CAST(qmon_nulls AS {table}), CAST(:ids AS json)) AS r
)
SELECT CAST(EXISTS (
           SELECT FROM {table} AS q
           WHERE {first} = ANY (ARRAY(SELECT {first} FROM ids)) AND {last} = ANY (ARRAY(SELECT {last} FROM ids))
             AND ({named!list.q}) IN (SELECT {named!list.i} FROM ids AS i)
           GROUP BY {named!list.q}
           HAVING count(*) > 1
       ) AS int) AS done
