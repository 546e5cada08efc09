-- Puts rows that we have locked into a state, with the related columns, and to the front of the queue; a row that is
-- already further in front keeps its place. Returns which rows have the written values.
-- {table}         the queue's table
-- {known?!list}   columns: the key of a row, which is not written
-- {attempts?}     column: number of pops
-- {most?}         column: attempts after which it is dead
-- {front}         column that orders the pops
-- {written!list}  the other columns that are written: the state and related ones
-- {certain!list}  those of them that must stay as written: all but times that the server's clock gives
-- :written        their values and that of the front, a row as JSON: the server makes its own types of them
-- :clock          JSON: those of them that get the time, each with "time", or "seconds" since the epoch
-- :max_attempts   attempts after which a message is dead; NULL: never
-- :dead           true: messages with that many attempts; false: the others
-- :tids           positions of the rows, an array as text
-- :keys           the same, with the partition
-- > place         current position of a written row, with the partition
-- > same          true: it has the written values, and its key is unchanged
WITH given AS MATERIALIZED (
    SELECT n.{front} AS qmon_front, {written!list.n}
    -- A value of a row of NULLs: a plain NULL is refused if the domain of a column does not allow it.
    FROM (SELECT (CAST(NULL AS {table})).*) AS qmon_nulls
    CROSS JOIN LATERAL json_populate_record(CAST(qmon_nulls AS {table}), CAST(CAST(:written AS jsonb) || (
        SELECT coalesce(jsonb_object_agg(c.key, CASE c.value
            WHEN 'time' THEN to_jsonb(clock_timestamp())
            ELSE to_jsonb(floor(extract(epoch FROM clock_timestamp())))
        END), '{}')
        FROM jsonb_each_text(CAST(:clock AS jsonb)) AS c
    ) AS json)) AS n
),
meant AS MATERIALIZED (
    SELECT q.tableoid || CAST(q.ctid AS text) AS qmon_key, CAST(ROW({known?!list.q}) AS text) AS qmon_known,
           q.{front} AS qmon_front
    FROM {table} AS q
    WHERE q.ctid = ANY (CAST(:tids AS tid[]))
      AND q.tableoid || CAST(q.ctid AS text) = ANY (CAST(:keys AS text[]))
      AND coalesce(CAST({attempts?} AS bigint) >= coalesce(CAST({most?} AS bigint), CAST(:max_attempts AS bigint)), false)
          = CAST(:dead AS boolean)
),
made AS (
    UPDATE {table} AS q
    SET {front} = least(m.qmon_front, g.qmon_front), {written!set.g}
    FROM given AS g
    CROSS JOIN meant AS m
    WHERE q.ctid = ANY (CAST(:tids AS tid[])) AND q.tableoid || CAST(q.ctid AS text) = m.qmon_key
    RETURNING q.tableoid || CAST(q.ctid AS text) AS place,
              q.{front} IS NOT DISTINCT FROM least(m.qmon_front, g.qmon_front)
                  AND CAST(ROW({certain!list.q}) AS text) = CAST(ROW({certain!list.g}) AS text)
                  AND CAST(ROW({known?!list.q}) AS text) = m.qmon_known AS same
)
SELECT d.place, d.same
FROM made AS d
