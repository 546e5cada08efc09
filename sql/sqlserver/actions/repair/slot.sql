-- How the slot of a number stands now, read without waiting for who writes it.
-- {table}        the ring's table
-- {slot}         column: the slot
-- {turn}         column: whose turn it is
-- {message_id}   column: the message's number
-- {unread?}      column: who has still to read the message
-- {size!int}     slots in the ring
-- :number        the number
-- > turn         whose turn it is
-- > message_id   the message in it, NULL where there is none
-- > unread       who has still to read it
SELECT
    CAST({turn} AS bigint) AS turn,
    CAST({message_id} AS bigint) AS message_id,
    CAST({unread?} AS int) AS unread
FROM {table} WITH (NOLOCK)
WHERE {slot} = CAST(CAST(:number AS bigint) % {size!int} AS int)
