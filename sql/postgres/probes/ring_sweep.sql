-- What looks like a hole or an orphan in some of a ring's slots; see action/repair/find_hole and find_orphan. Reads so
-- many slots by their key, whatever the depth.
-- {table}          the ring's table
-- {slot}           column: the slot
-- {turn}           column: whose turn it is
-- {message_id}     column: the message's number
-- {enqueued_at}    column: when the slot was last written; in the future where it never was
-- :from_slot       look from this slot on
-- :to_slot         up to this one
-- :push_sequence   id of the push sequence
-- :pop_sequences   ids of the pop sequences as an array
-- :min_age_s       the slot has not moved for so many seconds
-- > from_slot      as asked
-- > push_last      last number drawn by a pusher
-- > pop_last       last number that every popper's side has drawn
-- > holes          numbers drawn by pushers without a message
-- > hole           the first of them
-- > orphans        messages whose number was drawn by poppers, not popped
-- > orphan         the first of them
-- > orphan_s       seconds since that was pushed
WITH pos AS MATERIALIZED (
    SELECT
        coalesce(pg_sequence_last_value(p.seqrelid), p.seqstart - 1) AS push_last,
        (
            SELECT min(coalesce(pg_sequence_last_value(o.seqrelid), o.seqstart - 1))
            FROM pg_sequence AS o
            WHERE o.seqrelid = ANY (CAST(:pop_sequences AS oid[]))
        ) AS pop_last
    FROM pg_sequence AS p
    WHERE p.seqrelid = CAST(:push_sequence AS oid)
),
seen AS MATERIALIZED (
    SELECT {turn} AS turn, {message_id} AS message_id, {enqueued_at!utc} AS time
    FROM {table}
    WHERE {slot} BETWEEN CAST(:from_slot AS int) AND CAST(:to_slot AS int)
),
found AS MATERIALIZED (
    SELECT
        s.*,
        s.message_id IS NULL AND s.turn <= pos.push_last
            AND (s.time < clock_timestamp() - make_interval(secs => CAST(:min_age_s AS float8))
                OR s.time > clock_timestamp()) AS is_hole,
        s.turn = s.message_id + 1 AND s.message_id <= pos.pop_last
            AND s.time < clock_timestamp() - make_interval(secs => CAST(:min_age_s AS float8)) AS is_orphan
    FROM seen AS s
    CROSS JOIN pos
)
SELECT
    CAST(:from_slot AS int) AS from_slot,
    pos.push_last,
    pos.pop_last,
    (SELECT CAST(count(*) AS int) FROM found AS f WHERE f.is_hole) AS holes,
    (SELECT CAST(min(f.turn) AS bigint) FROM found AS f WHERE f.is_hole) AS hole,
    (SELECT CAST(count(*) AS int) FROM found AS f WHERE f.is_orphan) AS orphans,
    (SELECT CAST(min(f.message_id) AS bigint) FROM found AS f WHERE f.is_orphan) AS orphan,
    (
        SELECT CAST(extract(epoch FROM clock_timestamp() - f.time) AS float8)
        FROM found AS f
        WHERE f.is_orphan
        ORDER BY f.message_id
        LIMIT 1
    ) AS orphan_s
FROM pos
