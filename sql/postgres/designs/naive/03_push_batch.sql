-- Push many messages in one statement; returns their numbers. An addition: the article pushes one at a time.
-- {table}      the queue
-- {push_batch} the function
-- {seq}        the sequence that numbers messages
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push_batch}(p_messages text[]) RETURNS SETOF bigint
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
    INSERT INTO {table} (message_id, time, message)
    SELECT nextval({seq!literal}::regclass), clock_timestamp(), m.message
    FROM unnest(p_messages) AS m(message)
    RETURNING message_id;
END
$qmon_body$;
