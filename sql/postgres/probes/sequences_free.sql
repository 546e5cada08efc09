-- The same as `sequences`, without sequences on which a session has or waits for an exclusive lock. Used after
-- `sequences` could not lock one of them.
-- :sequences sequence ids as an array, {1,2}
-- > sequence_id as asked
-- > last_value  last number issued; NULL if there is none yet, or if our role may not see it
-- > visible     false where our role may not see it
WITH locked AS MATERIALIZED (
    SELECT l.relation
    FROM pg_locks AS l
    WHERE l.locktype = 'relation'
        AND l.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
)
SELECT
    CAST(s.id AS bigint) AS sequence_id,
    CASE WHEN has_sequence_privilege(s.id, 'USAGE, SELECT') THEN pg_sequence_last_value(s.id) END AS last_value,
    coalesce(has_sequence_privilege(s.id, 'USAGE, SELECT'), false) AS visible
FROM unnest(CAST(:sequences AS oid[])) AS s(id)
WHERE NOT EXISTS (SELECT FROM locked AS l WHERE l.relation = s.id)
