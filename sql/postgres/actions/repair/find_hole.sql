-- Numbers that a producer has taken and whose message is missing, in some slots of a ring.
-- {table}         the ring's table
-- {slot}          column: the slot
-- {turn}          column: the turn
-- {message_id}    column: the message's number
-- {time}          column: time when the slot was last written; in the future if it never was
-- :from_slot      look from this slot on
-- :to_slot        up to this one
-- :position       the last number taken by a producer
-- :min_age_s      minimum seconds since the slot was last written
-- :limit          maximum number of rows
-- > number        the number
-- > age_s         seconds since its slot was last written; NULL if it never was
-- > payload       NULL: there is no message
SELECT
    CAST({turn} AS bigint) AS number,
    CASE
        WHEN {time!utc} < clock_timestamp()
            THEN CAST(extract(epoch FROM clock_timestamp() - {time!utc}) AS float8)
    END AS age_s,
    CAST(NULL AS text) AS payload
FROM {table}
WHERE {slot} BETWEEN CAST(:from_slot AS int) AND CAST(:to_slot AS int)
    AND {turn} <= CAST(:position AS bigint)
    AND {message_id} IS NULL
    AND (
        {time!utc} < clock_timestamp() - make_interval(secs => CAST(:min_age_s AS float8))
        OR {time!utc} > clock_timestamp()
    )
ORDER BY {turn}
LIMIT CAST(:limit AS int)
