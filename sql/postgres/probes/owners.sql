-- The owners of the longest-running messages in progress, and the proof about each owner. Uses the same words as
-- action/operate/choose.
-- {table}       the queue's table
-- {called!text}  columns: the name of a message
-- {state}       column: the state
-- {started_at?} column: when it was popped
-- {order}       the same column if an index gives its order, otherwise the state, which is equal for all rows and sorts nothing
-- {owner?}      column: its consumer
-- {lease?}      column: end of its lease
-- {beat?}       column: when its owner was last heard of
-- {attempts?}   column: number of pops
-- {error?}      column: its last error
-- :in_progress  the state value of a message in progress
-- :kind         kind of the owner: session, lease, heartbeat, name; none without an owner
-- :sees         whether our role can see other sessions
-- :vanished     whether a session that is gone proves that its consumer is dead
-- :timeout      seconds after which a heartbeat is stale
-- :limit        maximum number of rows
-- > id          id as text
-- > owner       its consumer, from the row
-- > owner_state dead, alive, unknown; none without an owner
-- > attempts    number of pops
-- > age_s       seconds since it was popped
-- > error       the end of its last error, if it was popped before
WITH living AS MATERIALIZED (
    SELECT a.pid, a.pid || '/' || CAST(floor(extract(epoch FROM a.backend_start)) AS bigint) AS name
    FROM pg_stat_get_activity(NULL) AS a
    WHERE CAST(:kind AS text) = 'session'
),
seen AS MATERIALIZED (
    SELECT
        {called!text} AS id,
        CAST({owner?} AS text) AS owner,
        {lease?!utc} AS lease,
        {beat?!utc} AS beat,
        CAST({attempts?} AS int) AS attempts,
        {started_at?!moment} AS started_at,
        CASE WHEN CAST({attempts?} AS int) > 1 THEN {error?!newest} END AS error
    FROM {table}
    WHERE {state} = :in_progress
    ORDER BY {order}
    LIMIT CAST(:limit AS int)
)
SELECT
    s.id,
    coalesce(s.owner) AS owner,
    CASE
        WHEN CAST(:kind AS text) = 'none' THEN 'none'
        WHEN s.owner IS NULL THEN 'unknown'
        WHEN CAST(:kind AS text) = 'lease' THEN CASE WHEN s.lease < clock_timestamp() THEN 'dead' ELSE 'alive' END
        WHEN CAST(:kind AS text) = 'heartbeat'
            THEN CASE WHEN s.beat < clock_timestamp() - make_interval(secs => CAST(:timeout AS float8))
                THEN 'dead' ELSE 'alive' END
        WHEN CAST(:kind AS text) = 'session' AND CAST(:sees AS boolean) AND s.owner ~ '^[0-9]{1,10}(/[0-9]{1,12})?$'
            THEN CASE
                WHEN EXISTS (SELECT FROM living AS v WHERE s.owner IN (v.name, CAST(v.pid AS text))) THEN 'alive'
                WHEN CAST(:vanished AS boolean) THEN 'dead'
                ELSE 'unknown'
            END
        ELSE 'unknown'
    END AS owner_state,
    coalesce(s.attempts) AS attempts,
    CAST(extract(epoch FROM clock_timestamp() - s.started_at) AS float8) AS age_s,
    s.error
FROM seen AS s
