-- Push one message; returns the number of pushed messages: 1. The article's usp_enqueueHeap. A heap's messages have no
-- id.
-- {table}      the queue
-- {push}       the function
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push}(p_payload bytea) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    IF pg_sequence_last_value({push_until!literal}::regclass) > 0
        AND pg_sequence_last_value({push_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('producers');
    END IF;
    INSERT INTO {table} (payload)
    VALUES (p_payload);
    RETURN 1;
END
$qmon_body$;
