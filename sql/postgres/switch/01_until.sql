-- The switch of an installed queue, of any design: until when its producers and its consumers are paused, in
-- milliseconds since the epoch on the server's wall clock. Read by push and pop before any number is drawn; see paused.
--
-- Sequences, because their value counts at once for every session, in the middle of its transaction and at any
-- isolation level, survives a restart, and costs a push next to nothing to read. Not paused: 0, which push sees without
-- looking at the clock, or a time that is over, so that a pause ends by itself. Nothing draws from them: setval() sets
-- them. Every role may read them, because a producer must see that it is paused.
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
