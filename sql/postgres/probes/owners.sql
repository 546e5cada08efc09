-- Who has popped the messages in progress, and what that proves, of the longest-running ones. The same words as
-- action/operate/choose.
-- {table}       the queue's table
-- {called!text}  columns: what a message is called by
-- {state}       column: the state
-- {started_at?} column: when it was popped
-- {order}       the same column where an index leads along it, else the state, which is the same for all and sorts none
-- {owner?}      column: who popped it
-- {lease?}      column: until when it is taken
-- {beat?}       column: when its owner was last heard of
-- {attempts?}   column: how often it was popped
-- :in_progress  the state value of a message in progress
-- :kind         what the owner proves: session, lease, heartbeat, name; none without an owner
-- :sees         whether the sessions of others can be seen
-- :vanished     whether a session that is gone proves that its consumer is dead
-- :timeout      seconds after which a heartbeat is stale
-- :limit        so many at most
-- > id          id as text
-- > owner       who popped it, as the row says
-- > owner_state dead, alive, unknown; none without an owner
-- > attempts    how often it was popped
-- > age_s       seconds since it was popped
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
        {started_at?!moment} AS started_at
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
    CAST(extract(epoch FROM clock_timestamp() - s.started_at) AS float8) AS age_s
FROM seen AS s
