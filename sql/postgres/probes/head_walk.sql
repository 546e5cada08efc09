-- The oldest ready message, if the index with the order of pops contains rows of every state, and a limited count. The
-- walk begins at a place known from an earlier poll, or at the beginning, and ends after :walk rows in any state.
-- {table}        the queue's table
-- {id}           column: the order of pops (such as a queue date); several rows may have the same
-- {message_id}   column: the id
-- {state}        column: the state
-- {enqueued_at?} column: when it was pushed
-- :ready         the state value of a ready message
-- :head          last known place, NULL at first
-- :limit         maximum number of ready rows to count
-- :walk          maximum number of rows to read
-- > place        place where the next walk may begin: the first ready row, or the last row read
-- > head_id      id of the oldest ready message
-- > oldest_s     its age in seconds
-- > counted      ready rows seen, at most :limit
-- > whole        the walk reached the end of the index or :limit
WITH walked AS MATERIALIZED (
    SELECT
        {id} AS place,
        {message_id} AS id,
        {state} = :ready AS ready,
        {enqueued_at?!moment} AS enqueued_at
    FROM {table} AS q
    WHERE q.{id} >= coalesce(:head, (SELECT {id} FROM {table} ORDER BY {id} LIMIT 1))
    ORDER BY q.{id}
    LIMIT :walk
),
seen AS MATERIALIZED (
    SELECT w.place, w.id, w.enqueued_at
    FROM walked AS w
    WHERE w.ready
    LIMIT :limit
),
first AS (
    SELECT s.place, s.id, s.enqueued_at
    FROM seen AS s
    LIMIT 1
)
SELECT
    CAST(coalesce((SELECT f.place FROM first AS f), (SELECT max(w.place) FROM walked AS w)) AS text) AS place,
    (SELECT CAST(f.id AS text) FROM first AS f) AS head_id,
    (SELECT CAST(extract(epoch FROM clock_timestamp() - f.enqueued_at) AS float8) FROM first AS f) AS oldest_s,
    (SELECT CAST(count(*) AS int) FROM seen) AS counted,
    (SELECT count(*) FROM walked) < :walk OR (SELECT count(*) FROM seen) >= :limit AS whole
