-- Messages whose number a consumer has taken and not popped, in some slots of a ring.
-- {table}         the ring's table
-- {slot}          column: the slot
-- {turn}          column: the turn
-- {message_id}    column: the message's number
-- {time}          column: when the slot was last written
-- {payload?}      column: the message
-- {sized?}        the same column, if its type gives the size without unpacking the value
-- :from_slot      look from this slot on
-- :to_slot        up to this one
-- :position       the last number taken by a consumer
-- :min_age_s      minimum seconds since the slot was last written
-- :limit          maximum number of rows
-- > number        the message's number
-- > age_s         seconds since it was pushed
-- > payload       its first characters; only its size if it is large
SELECT
    CAST({message_id} AS bigint) AS number,
    CAST(extract(epoch FROM clock_timestamp() - {time!moment}) AS float8) AS age_s,
    CASE
        WHEN pg_column_size({payload?}) > 65536 THEN coalesce(
            pg_size_pretty(CAST(octet_length({sized?}) AS bigint)),
            pg_size_pretty(CAST(pg_column_size({payload?}) AS bigint)) || ' stored')
        ELSE left(CAST({payload?} AS text), 200)
    END AS payload
FROM {table}
WHERE {slot} BETWEEN CAST(:from_slot AS int) AND CAST(:to_slot AS int)
    AND {message_id} <= CAST(:position AS bigint)
    AND {turn} = {message_id} + 1
    AND {time!utc} < clock_timestamp() - make_interval(secs => CAST(:min_age_s AS float8))
ORDER BY {message_id}
LIMIT CAST(:limit AS int)
