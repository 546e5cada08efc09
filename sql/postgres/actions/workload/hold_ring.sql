-- Fault: lock the slots of the next messages of a ring, until the transaction ends.
-- {table}    the ring
-- {slot}     column: the slot
-- {pop_seq}  the sequence of pop numbers
-- {size!int} slots
-- :rows      so many
-- > held     slots locked
SELECT CAST(count(*) AS integer) AS held
FROM (
    SELECT q.{slot}
    FROM {pop_seq} AS s
    CROSS JOIN LATERAL generate_series(s.last_value + 1, s.last_value + CAST(:rows AS bigint)) AS n(number)
    JOIN {table} AS q ON q.{slot} = n.number % {size!int}
    FOR UPDATE OF q
) AS h
