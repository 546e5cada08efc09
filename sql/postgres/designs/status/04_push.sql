-- Push one message; returns its id. The article's EnqueueMessage.
-- {table}      the queue
-- {push}       the function
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push}(p_message bytea) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_id bigint;
BEGIN
    IF pg_sequence_last_value({push_until!literal}::regclass) > 0
        AND pg_sequence_last_value({push_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('producers');
    END IF;
    INSERT INTO {table} (status, message)
    VALUES (1, p_message)
    RETURNING id INTO v_id;
    RETURN v_id;
END
$qmon_body$;
