-- What of a purge is in the trash and can be put back: the rows of one operation, frozen.
-- {trash}      the trash of the queue's table
-- {table}      the queue's table
-- {id?}        column: the id
-- :operation   the operation
-- :ids         only these, an array as text; NULL: all
-- :some        whether :ids are given
-- :limit       so many at most
-- :chunk       rows of the result hold so many each
-- > what       chosen, or why rows are left out
-- > count      how many
-- > keys       JSON array of text, of the chosen
-- > versions   JSON array of text, of the chosen
WITH seen AS MATERIALIZED (
    SELECT q.tableoid || CAST(q.ctid AS text)                                                AS qmon_key,
           q.tableoid || '/' || CAST(q.xmin AS text) || '/' || coalesce(CAST({id?} AS text), '') AS qmon_version,
           {id?}                                                                             AS qmon_id
    FROM {trash} AS q
    WHERE q.qmon_operation = CAST(:operation AS text)
      AND (NOT CAST(:some AS boolean) OR {id?} = ANY (:ids))
),
told AS MATERIALIZED (
    SELECT s.*, EXISTS (SELECT FROM {table} WHERE {id?} = s.qmon_id) AS qmon_taken
    FROM seen AS s
),
sorted AS (
    SELECT t.*, row_number() OVER (PARTITION BY coalesce(t.qmon_taken, false) ORDER BY t.qmon_id) AS place
    FROM told AS t
)
SELECT CASE WHEN t.qmon_taken THEN 'id taken again'
            WHEN t.place > CAST(:limit AS bigint) THEN 'beyond the limit' ELSE 'chosen' END    AS what,
       count(*)                                                                              AS count,
       CAST(json_agg(t.qmon_key ORDER BY t.place)
            FILTER (WHERE NOT coalesce(t.qmon_taken, false) AND t.place <= CAST(:limit AS bigint)) AS text) AS keys,
       CAST(json_agg(t.qmon_version ORDER BY t.place)
            FILTER (WHERE NOT coalesce(t.qmon_taken, false) AND t.place <= CAST(:limit AS bigint)) AS text) AS versions
FROM sorted AS t
GROUP BY 1, CASE WHEN NOT coalesce(t.qmon_taken, false) AND t.place <= CAST(:limit AS bigint)
                 THEN (t.place - 1) / CAST(:chunk AS bigint) END
ORDER BY min(t.place), 1
