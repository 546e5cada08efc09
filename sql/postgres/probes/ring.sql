-- Positions of a ring and the slots around both of them, in one statement; looks at no more than 2 x :window slots.
-- LIMIT 1 keeps the planner from reading the whole ring instead of going to each slot by its key.
-- A slot whose turn is n is free for message n, n + 1 holds it, n + size has been popped: see the design "ring".
-- {table}         the ring's table
-- {slot}          column: the slot
-- {turn}          column: whose turn it is
-- {enqueued_at?}  column: when the message was pushed
-- {size!int}      slots in the ring
-- :push_sequence  id of the push sequence
-- :pop_sequence   id of the pop sequence
-- :window         numbers to look at behind each position
-- > push_last     last number drawn by a pusher
-- > pop_last      last number drawn by a popper
-- > push_open     numbers near push_last whose message is not there yet
-- > push_open_ahead numbers beyond pop_last, near push_last, that have no message: not there yet, or given up as a hole
-- > pop_waiting   numbers up to pop_last that wait for their message
-- > pop_held      numbers up to pop_last whose message is there and not popped yet
-- > oldest_s      seconds since the oldest ready message was pushed
WITH pos AS MATERIALIZED (
    SELECT
        coalesce(pg_sequence_last_value(p.seqrelid), p.seqstart - 1) AS push_last,
        coalesce(pg_sequence_last_value(o.seqrelid), o.seqstart - 1) AS pop_last
    FROM pg_sequence AS p, pg_sequence AS o
    WHERE p.seqrelid = CAST(:push_sequence AS oid)
        AND o.seqrelid = CAST(:pop_sequence AS oid)
),
pushes AS MATERIALIZED (
    SELECT w.n, t.{turn} AS turn, pos.pop_last
    FROM pos
    CROSS JOIN LATERAL generate_series(greatest(pos.push_last - CAST(:window AS bigint) + 1, 0), pos.push_last) AS w(n)
    CROSS JOIN LATERAL (SELECT q.{turn} FROM {table} AS q WHERE q.{slot} = w.n % {size!int} LIMIT 1) AS t
),
pops AS MATERIALIZED (
    SELECT w.n, t.{turn} AS turn
    FROM pos
    CROSS JOIN LATERAL generate_series(greatest(pos.pop_last - CAST(:window AS bigint) + 1, 0), pos.pop_last) AS w(n)
    CROSS JOIN LATERAL (SELECT q.{turn} FROM {table} AS q WHERE q.{slot} = w.n % {size!int} LIMIT 1) AS t
)
SELECT
    pos.push_last,
    pos.pop_last,
    (SELECT CAST(count(*) AS int) FROM pushes AS p WHERE p.turn <= p.n) AS push_open,
    (SELECT CAST(count(*) AS int) FROM pushes AS p WHERE p.turn <> p.n + 1 AND p.n > p.pop_last) AS push_open_ahead,
    (SELECT CAST(count(*) AS int) FROM pops AS p WHERE p.turn <= p.n) AS pop_waiting,
    (SELECT CAST(count(*) AS int) FROM pops AS p WHERE p.turn = p.n + 1) AS pop_held,
    (
        SELECT CAST(extract(epoch FROM clock_timestamp() - CAST({enqueued_at?} AS timestamptz)) AS float8)
        FROM {table} AS t
        WHERE t.{slot} = (pos.pop_last + 1) % {size!int}
            AND t.{turn} = pos.pop_last + 2
    ) AS oldest_s
FROM pos
