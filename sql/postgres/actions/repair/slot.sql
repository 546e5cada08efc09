-- The current state of a number's slot.
-- {table}        the ring's table
-- {slot}         column: the slot
-- {turn}         column: the turn
-- {message_id}   column: the message's number
-- {unread?}      column: subscribers that have not read the message yet
-- {size!int}     slots in the ring
-- :number        the number
-- > turn         its turn
-- > message_id   the message in it, NULL if it is empty
-- > unread       subscribers that have not read it yet
SELECT
    CAST({turn} AS bigint) AS turn,
    CAST({message_id} AS bigint) AS message_id,
    CAST({unread?} AS int) AS unread
FROM {table}
WHERE {slot} = CAST(:number AS bigint) % {size!int}
