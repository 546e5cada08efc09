-- Puts rows of the trash that we have locked back into the queue, and returns which of them were restored: the rows
-- themselves stay in the trash until take_out.
-- {table}          the queue's table
-- {trash}          qmon's table for that
-- {columns!list}   the columns that can be written
-- {certain!list}   those of them that must be restored unchanged
-- :rows            rows of the trash, an array as text
-- > done           number of restored rows
-- > other          of these: rows with another value in such a column
-- > altered        of these: rows with another value in any column
-- > places         their current positions, with the partition, a JSON array
WITH kept AS MATERIALIZED (
    SELECT {columns!list.q}
    FROM {trash} AS q
    WHERE q.qmon_row = ANY (CAST(:rows AS bigint[]))
),
back AS (
    INSERT INTO {table} ({columns!list}) OVERRIDING SYSTEM VALUE
    SELECT {columns!list.k}
    FROM kept AS k
    RETURNING tableoid || CAST(ctid AS text) AS qmon_key, {columns!list}
)
SELECT (SELECT count(*) FROM back)                                               AS done,
       (SELECT count(*) FROM (SELECT CAST(ROW({certain!list.b}) AS text) FROM back AS b
                              EXCEPT ALL
                              SELECT CAST(ROW({certain!list.k}) AS text) FROM kept AS k) AS o) AS other,
       (SELECT count(*) FROM (SELECT CAST(ROW({columns!list.b}) AS text) FROM back AS b
                              EXCEPT ALL
                              SELECT CAST(ROW({columns!list.k}) AS text) FROM kept AS k) AS a) AS altered,
       (SELECT CAST(json_agg(b.qmon_key) AS text) FROM back AS b)                AS places
