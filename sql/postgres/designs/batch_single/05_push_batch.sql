-- Push many messages in one statement; returns their ids. p_title NULL: the first 60 characters of each payload.
-- {table}      QueueSlow
-- {push_batch} the function
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push_batch}(p_text_data text[], p_title text DEFAULT NULL) RETURNS SETOF bigint
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
    RETURN QUERY
    INSERT INTO {table} (queue_date_time, title, text_data)
    SELECT clock_timestamp(), coalesce(p_title, left(d.text_data, 60)), d.text_data
    FROM unnest(p_text_data) AS d(text_data)
    RETURNING queue_id;
END
$qmon_body$;
