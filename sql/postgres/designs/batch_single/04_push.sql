-- Push one message; returns its id. p_title NULL: the first 60 characters of the payload, which people then see in
-- lists. A p_queue_date_time in the past puts the message before existing ones (the article's priority); NULL: now.
-- {table}      QueueSlow
-- {push}       the function
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push}(p_text_data text, p_title text DEFAULT NULL, p_queue_date_time timestamptz DEFAULT NULL)
RETURNS bigint
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
    INSERT INTO {table} (queue_date_time, title, text_data)
    VALUES (coalesce(p_queue_date_time, clock_timestamp()), coalesce(p_title, left(p_text_data, 60)), p_text_data)
    RETURNING queue_id INTO v_id;
    RETURN v_id;
END
$qmon_body$;
