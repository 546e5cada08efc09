-- Possible holes and orphans in some slots of a ring; see action/repair/find_hole and find_orphan. Reads a fixed number
-- of slots by key, whatever the depth.
-- {table}          the ring's table
-- {slot}           column: the slot
-- {turn}           column: the turn
-- {message_id}     column: the message's number
-- {enqueued_at}    column: time when the slot was last written; in the future if it never was
-- :from_slot       look from this slot on
-- :to_slot         up to this one
-- :push_sequence   id of the push sequence
-- :pop_sequences   ids of the pop sequences as an array
-- :min_age_s       minimum seconds since the slot was last written
-- > from_slot      as asked
-- > push_last      last number taken by a producer
-- > pop_last       last number that every consumer's side has taken
-- > holes          numbers taken by producers without a message
-- > hole           the first of them
-- > orphans        messages whose number consumers have taken but not popped
-- > orphan         the first of them
-- > orphan_s       seconds since that was pushed
WITH pos AS MATERIALIZED (
    SELECT
        coalesce(pg_sequence_last_value(p.seqrelid), p.seqstart - 1) AS push_last,
        (
            SELECT min(coalesce(pg_sequence_last_value(o.seqrelid), o.seqstart - 1))
            FROM pg_sequence AS o
            WHERE o.seqrelid = ANY (CAST(:pop_sequences AS oid[]))
        ) AS pop_last,
        clock_timestamp() AS now_at,
        clock_timestamp() - make_interval(secs => CAST(:min_age_s AS float8)) AS moved_before
    FROM pg_sequence AS p
    WHERE p.seqrelid = CAST(:push_sequence AS oid)
),
found AS (
    SELECT
        s.turn,
        s.message_id,
        s.time,
        s.message_id IS NULL AND s.turn <= pos.push_last AND (s.time < pos.moved_before OR s.time > pos.now_at) AS is_hole,
        s.turn = s.message_id + 1 AND s.message_id <= pos.pop_last AND s.time < pos.moved_before AS is_orphan
    FROM pos
    CROSS JOIN (
        SELECT {turn} AS turn, {message_id} AS message_id, {enqueued_at!moment} AS time
        FROM {table}
        WHERE {slot} BETWEEN CAST(:from_slot AS int) AND CAST(:to_slot AS int)
    ) AS s
),
summed AS MATERIALIZED (
    SELECT
        CAST(count(*) FILTER (WHERE f.is_hole) AS int) AS holes,
        CAST(min(f.turn) FILTER (WHERE f.is_hole) AS bigint) AS hole,
        CAST(count(*) FILTER (WHERE f.is_orphan) AS int) AS orphans,
        CAST(min(f.message_id) FILTER (WHERE f.is_orphan) AS bigint) AS orphan,
        (array_agg(f.time ORDER BY f.message_id) FILTER (WHERE f.is_orphan))[1] AS orphaned_at
    FROM found AS f
)
SELECT
    CAST(:from_slot AS int) AS from_slot,
    pos.push_last,
    pos.pop_last,
    s.holes,
    s.hole,
    s.orphans,
    s.orphan,
    CAST(extract(epoch FROM clock_timestamp() - s.orphaned_at) AS float8) AS orphan_s
FROM pos
CROSS JOIN summed AS s
