-- Whether some ids name several messages each.
-- {table}       the queue's table
-- {named!list}  columns of :ids
-- {first}       column: the first of them
-- {last}        column: the last of them
-- :ids          a JSON array of rows
-- > done        1, or 0
WITH ids AS MATERIALIZED (
    SELECT {named!list.r}
    FROM json_populate_recordset(CAST(NULL AS {table}), CAST(:ids AS json)) AS r
)
SELECT CAST(EXISTS (
           SELECT FROM {table} AS q
           WHERE {first} = ANY (ARRAY(SELECT {first} FROM ids)) AND {last} = ANY (ARRAY(SELECT {last} FROM ids))
             AND ({named!list.q}) IN (SELECT {named!list.i} FROM ids AS i)
           GROUP BY {named!list.q}
           HAVING count(*) > 1
       ) AS int) AS done
