-- The messages that an action would change: for each message, the position of the row (key) and its version (the
-- writing transaction, and the row's key, state, time and owner), so that the action leaves out rows that change in the
-- meantime. Reads committed rows, and locks no rows.
-- {table}      the queue's table
-- {id?}        column: the id, which orders them
-- {key?!list}  columns: the key of a row
-- {named?!list} columns of :ids
-- {first?}     column: the first of them
-- {last?}      column: the last of them
-- {state?}     column: the state
-- {since?}     column: when it was popped, or pushed
-- {owner?}     column: its consumer
-- {lease?}     column: end of its lease
-- {beat?}      column: when its owner was last heard of
-- :ids         only these, a JSON array of rows; NULL: all
-- :some        whether :ids are given
-- :any_state   whether the state does not matter
-- :state       the state value
-- {holds!where} condition: texts in the message and its error
-- :cutoff      only messages popped or pushed until then; NULL: all
-- :from        only messages popped or pushed after that; NULL: all
-- :stuck       unless the owner is dead, only messages popped until then; NULL: all
-- :owner       only this owner's; NULL: all
-- :kind        kind of the owner: session, lease, heartbeat, name; none without an owner
-- :sees        whether our role can see other sessions
-- :vanished    whether a session that is gone proves that its consumer is dead
-- :timeout     seconds after which a heartbeat is stale
-- :wanted      the owner states to act on, an array as text
-- :limit       maximum number of rows
-- :chunk       number of keys per row of the result
-- > what       chosen, or the code of the reason why rows are left out
-- > count      number
-- > keys       JSON array of text, of the chosen
-- > versions   JSON array of text, of the chosen
WITH living AS MATERIALIZED (
    SELECT a.pid || '/' || CAST(floor(extract(epoch FROM a.backend_start)) AS bigint) AS name
    FROM pg_catalog.pg_stat_activity AS a
    WHERE CAST(:kind AS text) = 'session'
    UNION ALL
    SELECT CAST(a.pid AS text)
    FROM pg_catalog.pg_stat_activity AS a
    WHERE CAST(:kind AS text) = 'session'
),
writing AS MATERIALIZED (
    SELECT l.transactionid AS holder
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock'
),
ids AS MATERIALIZED (
    SELECT {named?!list.r}
    -- Of a row of NULLs: one that is NULL itself is refused where the domain of a column takes none.
    FROM (SELECT (CAST(NULL AS {table})).*) AS qmon_nulls
    CROSS JOIN LATERAL json_populate_recordset(CAST(qmon_nulls AS {table}), CAST(:ids AS json)) AS r
),
seen AS MATERIALIZED (
    SELECT q.tableoid || CAST(q.ctid AS text)                                                            AS qmon_key,
           q.xmin || '/' || hashtextextended(CAST(ROW({key?!list.q}, {state?}, {since?}, {owner?}) AS text), 0)
                                                                                                         AS qmon_version,
           {id?}                                                                                         AS qmon_id,
           q.xmax IN (SELECT w.holder FROM writing AS w)                                                 AS qmon_locked,
           {since?!moment}                                                                 AS qmon_since,
           CASE
               WHEN CAST(:kind AS text) = 'none' THEN 'none'
               WHEN CAST({owner?} AS text) IS NULL THEN 'unknown'
               WHEN CAST(:kind AS text) = 'lease'
                   THEN CASE WHEN {lease?!utc} < clock_timestamp() THEN 'dead' ELSE 'alive' END
               WHEN CAST(:kind AS text) = 'heartbeat'
                   THEN CASE WHEN {beat?!utc}
                                  < clock_timestamp() - make_interval(secs => CAST(:timeout AS float8))
                             THEN 'dead' ELSE 'alive' END
               WHEN CAST(:kind AS text) = 'session' AND CAST(:sees AS boolean)
                   AND CAST({owner?} AS text) ~ '^[0-9]{1,10}(/[0-9]{1,12})?$'
                   THEN CASE WHEN CAST({owner?} AS text) IN (SELECT v.name FROM living AS v) THEN 'alive'
                             WHEN CAST(:vanished AS boolean) THEN 'dead'
                             ELSE 'unknown' END
               ELSE 'unknown'
           END                                                                                           AS qmon_owner
    FROM {table} AS q
    WHERE (NOT CAST(:some AS boolean) OR {first?} = ANY (ARRAY(SELECT {first?} FROM ids)) AND {last?} = ANY (ARRAY(SELECT {last?} FROM ids))
           AND ({named?!list.q}) IN (SELECT {named?!list.i} FROM ids AS i))
      AND (CAST(:any_state AS boolean) OR {state?} = :state)
      AND (CAST(:cutoff AS timestamptz) IS NULL OR {since?!utc} <= CAST(:cutoff AS timestamptz))
      AND (CAST(:from AS timestamptz) IS NULL OR {since?!utc} > CAST(:from AS timestamptz))
      AND {holds!where}
      AND (CAST(:owner AS text) IS NULL OR CAST({owner?} AS text) = CAST(:owner AS text))
),
sorted AS (
    SELECT s.qmon_key, s.qmon_version,
           CASE WHEN CAST(:stuck AS timestamptz) IS NOT NULL AND s.qmon_owner <> 'dead'
                     AND coalesce(s.qmon_since > CAST(:stuck AS timestamptz), true) THEN 'not_stuck'
                WHEN s.qmon_owner <> ALL (CAST(:wanted AS text[])) THEN 'owner_' || s.qmon_owner
                WHEN s.qmon_locked THEN 'locked'
                ELSE 'chosen' END                                                                        AS what,
           row_number() OVER (
               PARTITION BY (CASE WHEN CAST(:stuck AS timestamptz) IS NOT NULL AND s.qmon_owner <> 'dead'
                                       AND coalesce(s.qmon_since > CAST(:stuck AS timestamptz), true) THEN 1
                                  WHEN s.qmon_owner <> ALL (CAST(:wanted AS text[])) THEN 2
                                  WHEN s.qmon_locked THEN 3
                                  ELSE 0 END)
               ORDER BY s.qmon_id
           )                                                                                             AS place
    FROM seen AS s
)
SELECT CASE WHEN t.what = 'chosen' AND t.place > CAST(:limit AS bigint) THEN 'over_limit' ELSE t.what END AS what,
       count(*)                                                                                          AS count,
       CAST(json_agg(t.qmon_key ORDER BY t.place)
            FILTER (WHERE t.what = 'chosen' AND t.place <= CAST(:limit AS bigint)) AS text)              AS keys,
       CAST(json_agg(t.qmon_version ORDER BY t.place)
            FILTER (WHERE t.what = 'chosen' AND t.place <= CAST(:limit AS bigint)) AS text)              AS versions
FROM sorted AS t
GROUP BY 1, CASE WHEN t.what = 'chosen' AND t.place <= CAST(:limit AS bigint)
                 THEN (t.place - 1) / CAST(:chunk AS bigint) END
ORDER BY min(t.place), 1
