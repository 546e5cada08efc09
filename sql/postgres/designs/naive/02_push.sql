-- Push one message; returns its number. clock_timestamp(), because now() is when the transaction began. The generic
-- plan, since a queue's statistics are never right: one plan that needs none is better than one guess a call.
-- {table}      the queue
-- {push}       the function
-- {seq}        the sequence that numbers messages
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push}(p_message text) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_number bigint;
BEGIN
    IF pg_sequence_last_value({push_until!literal}::regclass) > 0
        AND pg_sequence_last_value({push_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('producers');
    END IF;
    INSERT INTO {table} (message_id, time, message)
    VALUES (nextval({seq!literal}::regclass), clock_timestamp(), p_message)
    RETURNING message_id INTO v_number;
    RETURN v_number;
END
$qmon_body$;
