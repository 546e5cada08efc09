-- The switch of an installed queue, of any design: the times until which its producers and its consumers are paused, in
-- milliseconds since the epoch on the server's wall clock. push and pop read it before they take a number; see paused.
--
-- The switch consists of sequences, because a new value takes effect at once in every session, within a transaction and
-- at any isolation level. The value survives a restart, and costs a push almost nothing to read. Without a pause, the
-- value is 0, so that push need not read the clock, or a past time, so that a pause ends by itself. Only setval() sets
-- the sequences. Every role may read them, because a producer must see that it is paused.
-- {push_until} the sequence for producers
-- {pop_until}  the sequence for consumers
CREATE SEQUENCE {push_until} AS bigint MINVALUE 0 CACHE 1;
CREATE SEQUENCE {pop_until} AS bigint MINVALUE 0 CACHE 1;
GRANT SELECT ON SEQUENCE {push_until}, {pop_until} TO PUBLIC;

-- Who may act on queues may pause them.
DO $qmon_body$
BEGIN
    PERFORM setval({push_until!literal}::regclass, 0), setval({pop_until!literal}::regclass, 0);
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'qmon_operator') THEN
        GRANT UPDATE ON SEQUENCE {push_until}, {pop_until} TO qmon_operator;
    END IF;
END
$qmon_body$;
