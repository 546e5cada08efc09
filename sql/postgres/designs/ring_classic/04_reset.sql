-- Renumber the ring: its messages get new numbers, in the order of the old ones, and both sequences are set to fit;
-- returns the number of messages. An addition: the published ring stops for good once a number is lost, and must be
-- restarted by hand. Only while no producer and no consumer is connected: a session that keeps a number from before
-- would use it in the wrong place. The lock waits for running transactions and holds up new ones.
-- {table}    the ring
-- {reset}    the function
-- {push_seq} the sequence of push numbers
-- {pop_seq}  the sequence of pop numbers
-- {size!int} slots
CREATE FUNCTION {reset}() RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $qmon_body$
DECLARE
    v_messages text[];
    v_base     bigint;
    v_count    bigint;
BEGIN
    LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE;
    v_messages := ARRAY(
        SELECT q.message FROM {table} AS q WHERE q.message_id IS NOT NULL ORDER BY q.message_id
    );
    v_count := cardinality(v_messages);
    v_base := greatest(
        coalesce(pg_sequence_last_value({push_seq!literal}::regclass), 0),
        coalesce(pg_sequence_last_value({pop_seq!literal}::regclass), 0)
    );
    UPDATE {table} AS q
    SET message_id = NULL, reference_count = 0
    WHERE q.message_id IS NOT NULL
        OR q.reference_count <> 0;
    UPDATE {table} AS q
    SET message_id = v_base + m.place, message = m.message, reference_count = 1, time = clock_timestamp()
    FROM unnest(v_messages) WITH ORDINALITY AS m(message, place)
    WHERE q.slot = (v_base + m.place) % {size!int};
    PERFORM setval({push_seq!literal}::regclass, greatest(v_base + v_count, 1), v_base + v_count > 0);
    PERFORM setval({pop_seq!literal}::regclass, greatest(v_base, 1), v_base > 0);
    RETURN v_count;
END
$qmon_body$;
