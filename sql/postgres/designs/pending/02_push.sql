-- Push one message that is due at p_due_time, NULL: at once; returns its id. The article's usp_enqueuePending.
-- {table}      the queue
-- {push}       the function
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push}(p_payload bytea, p_due_time timestamptz DEFAULT NULL) RETURNS bigint
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
    INSERT INTO {table} (due_time, payload)
    VALUES (coalesce(p_due_time, clock_timestamp()), p_payload)
    RETURNING id INTO v_id;
    RETURN v_id;
END
$qmon_body$;
