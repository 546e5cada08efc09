-- Puts rows that we have locked into a state, with what goes with it, and to the front of the queue; a row whose place
-- is before that already keeps it. Says what of them came out as it was written.
-- {table}         the queue's table
-- {known?!list}   columns: what makes a row known, and is not written
-- {attempts?}     column: how often it was popped
-- {most?}         column: after how many attempts it is dead
-- {front}         column that pops go by
-- {written!list}  the columns that are written besides: the state, and what goes with it
-- {certain!list}  those of them that must stay as written: all but times that the server's clock gives
-- :written        their values and that of the front, a row as JSON: the server makes its own types of them
-- :clock          JSON: those of them that get the time, each with "time", or "seconds" since the epoch
-- :max_attempts   after so many attempts a message is dead; NULL: never
-- :dead           whether those that have had so many are meant, or the others
-- :tids           where the rows lie, an array as text
-- :keys           likewise, and in which partition
-- > place         where a row that was written lies now, and in which partition
-- > same          it has what was written, and is known by what it was
WITH given AS MATERIALIZED (
    SELECT n.{front} AS qmon_front, {written!list.n}
    -- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
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
