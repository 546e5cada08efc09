-- The oldest ready message, if the index with the order of pops contains rows of every state, and a limited count. The
-- walk begins at a place known from an earlier poll, or at the beginning, and ends after :walk rows in any state.
-- {table}        the queue's table
-- {id}           column: the order of pops (such as a queue date); several rows may have the same
-- {message_id}   column: the id
-- {state}        column: the state
-- {enqueued_at?} column: when it was pushed
-- {walk_index}   the index that leads with that order
-- :ready         the state value of a ready message
-- :head          last known place, NULL at first
-- :limit         maximum number of ready rows to count
-- :walk          maximum number of rows to read
-- > place        place where the next walk may begin: the first ready row, or the last row read
-- > head_id      id of the oldest ready message
-- > oldest_s     its age in seconds
-- > counted      ready rows seen, at most :limit
-- > whole        the walk reached the end of the index or :limit
SELECT
    COALESCE(
        MIN(CASE WHEN s.qmon_ready = 1 AND s.qmon_nth = 1 THEN s.qmon_at_place END),
        MAX(CASE WHEN s.qmon_step = s.qmon_steps THEN s.qmon_at_place END)
    ) AS place,
    MIN(CASE WHEN s.qmon_ready = 1 AND s.qmon_nth = 1 THEN s.qmon_id END) AS head_id,
    MIN(CASE WHEN s.qmon_ready = 1 AND s.qmon_nth = 1 THEN CAST(
        DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()) * 86400.0
        + DATEDIFF(MILLISECOND, DATEADD(DAY, DATEDIFF(DAY, s.qmon_at, SYSUTCDATETIME()), s.qmon_at), SYSUTCDATETIME()) / 1000.0
    AS float) END) AS oldest_s,
    CAST(COUNT(CASE WHEN s.qmon_ready = 1 AND s.qmon_nth <= CAST(:limit AS int) THEN 1 END) AS int) AS counted,
    CAST(CASE
        WHEN COUNT(*) < CAST(:walk AS int) THEN 1
        WHEN COUNT(CASE WHEN s.qmon_ready = 1 THEN 1 END) >= CAST(:limit AS int) THEN 1
        ELSE 0
    END AS bit) AS whole
FROM (
    SELECT
        CONVERT(nvarchar(450), w.qmon_raw, 126) AS qmon_at_place,
        CONVERT(nvarchar(450), w.qmon_key, 126) AS qmon_id,
        w.qmon_pushed AS qmon_at,
        w.qmon_ready,
        SUM(w.qmon_ready) OVER (ORDER BY w.qmon_raw ROWS UNBOUNDED PRECEDING) AS qmon_nth,
        ROW_NUMBER() OVER (ORDER BY w.qmon_raw) AS qmon_step,
        COUNT(*) OVER () AS qmon_steps
    FROM (
        SELECT COALESCE(
            CAST(:head AS {id!type}(450)),
            (SELECT TOP (1) f.{id} FROM {table} AS f WITH (INDEX ({walk_index})) ORDER BY f.{id})
        ) AS qmon_from
    ) AS b
    CROSS APPLY (
        SELECT TOP (:walk)
            q.{id} AS qmon_raw,
            q.{message_id} AS qmon_key,
            {enqueued_at?!moment} AS qmon_pushed,
            CASE WHEN q.{state} = CAST(:ready AS {state!type}(100)) THEN 1 ELSE 0 END AS qmon_ready
        FROM {table} AS q WITH (INDEX ({walk_index}))
        WHERE q.{id} >= b.qmon_from
        ORDER BY q.{id}
    ) AS w
) AS s
OPTION (MAXDOP 1)
