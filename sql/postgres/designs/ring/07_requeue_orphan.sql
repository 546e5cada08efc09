-- Repair: requeue message p_number, whose consumer took the number and died, with a new number. Returns the new number,
-- or NULL if the message is not an orphan, if a transaction that may have taken it is still open, or if the ring stayed
-- full for p_wait_ms ms.
--
-- If the consumer is still alive and comes back with the number, the slot's turn refuses the number, and the consumer
-- takes a new one: the message is delivered once. The old slot is freed before the push, in the same transaction: the
-- new number may need it.
-- With qmon.let_through, a pause of the producers does not stop a repair.
-- {table}          the ring
-- {requeue_orphan} the function
-- {push}           function: push a message
-- {drawing}        function: open transactions that have taken a number from a sequence
-- {pop_seq}        the sequence of pop numbers
-- {size!int}       slots
CREATE FUNCTION {requeue_orphan}(p_number bigint, p_wait_ms integer DEFAULT 1000) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
SET qmon.let_through = 'on'
AS $qmon_body$
DECLARE
    v_message text;
    v_new     bigint;
    v_end     timestamptz := clock_timestamp() + p_wait_ms * interval '1 millisecond';
    v_open    text[];
BEGIN
    IF p_number > coalesce(pg_sequence_last_value({pop_seq!literal}::regclass), 0) THEN
        RETURN NULL;
    END IF;
    v_open := {drawing}({pop_seq!literal}::regclass);
    WHILE cardinality(v_open) > 0 LOOP
        IF clock_timestamp() >= v_end THEN
            RETURN NULL;
        END IF;
        PERFORM pg_sleep(0.005);
        v_open := ARRAY(
            SELECT unnest(v_open || 'prepared'::text)
            INTERSECT
            SELECT unnest({drawing}({pop_seq!literal}::regclass))
        );
    END LOOP;
    SELECT q.message
    INTO v_message
    FROM {table} AS q
    WHERE q.slot = p_number % {size!int}
        AND q.turn = p_number + 1
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE {table} AS q
    SET message_id = NULL, reference_count = q.reference_count - 1, turn = p_number + {size!int}
    WHERE q.slot = p_number % {size!int};
    v_new := {push}(v_message, p_wait_ms, true);
    IF v_new IS NULL THEN
        UPDATE {table} AS q
        SET message_id = p_number, reference_count = q.reference_count + 1, turn = p_number + 1
        WHERE q.slot = p_number % {size!int};
    END IF;
    RETURN v_new;
END
$qmon_body$;
