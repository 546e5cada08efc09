-- Fault: lock the slots of the next messages of a ring, until the transaction ends.
-- {table}    the ring
-- {slot}     column: the slot
-- {pop_seq}  the sequence of pop numbers
-- {size!int} slots
-- :rows      number of rows
-- > held     slots locked
SELECT CAST(count(*) AS integer) AS held
FROM (
    SELECT q.{slot}
    FROM generate_series(1, CAST(:rows AS integer)) AS n(ahead)
    JOIN {table} AS q ON q.{slot} = (
        (SELECT CASE WHEN s.is_called THEN s.last_value ELSE s.last_value - 1 END FROM {pop_seq} AS s) + n.ahead
    ) % {size!int}
    FOR UPDATE OF q
) AS h
