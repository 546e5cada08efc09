-- The current states of messages that a redrive has made ready, without deleted messages.
-- {table}        the queue's table
-- {called!list}  columns: the name of a message
-- {first}        column: the first of them
-- {last}         column: the last of them
-- {state}        column: the state
-- {attempts?}    column: number of pops
-- :ids           which, a JSON array of rows
-- :fresh         whether their attempts began at 0
-- :in_progress   the state value of a message in progress; NULL: there is none
-- :dead          the state value of a dead one
-- :done          the state value of a finished one; NULL: there is none
-- > id           id as text
-- > what         failed, done, or waiting
WITH ids AS MATERIALIZED (
    SELECT {called!list.r}
    -- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
    FROM (SELECT (CAST(NULL AS {table})).*) AS qmon_nulls
    CROSS JOIN LATERAL json_populate_recordset(CAST(qmon_nulls AS {table}), CAST(:ids AS json)) AS r
)
SELECT {called!text.q} AS id,
       CASE WHEN q.{state} = :dead THEN 'failed'
            WHEN q.{state} = :done THEN 'done'
            WHEN CAST(:fresh AS boolean)
                AND CAST({attempts?} AS bigint) > CASE WHEN q.{state} = :in_progress THEN 1 ELSE 0 END THEN 'failed'
            ELSE 'waiting' END AS what
FROM {table} AS q
WHERE {first} = ANY (ARRAY(SELECT {first} FROM ids)) AND {last} = ANY (ARRAY(SELECT {last} FROM ids))
  AND ({called!list.q}) IN (SELECT {called!list.i} FROM ids AS i)
