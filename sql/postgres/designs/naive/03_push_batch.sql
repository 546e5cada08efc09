-- Push many messages in one statement; returns their numbers. An addition: the article pushes one at a time.
-- {table}      the queue
-- {push_batch} the function
-- {seq}        the sequence that numbers messages
CREATE FUNCTION {push_batch}(p_messages text[]) RETURNS SETOF bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    RETURN QUERY
    INSERT INTO {table} (message_id, time, message)
    SELECT nextval({seq!literal}::regclass), clock_timestamp(), m.message
    FROM unnest(p_messages) AS m(message)
    RETURNING message_id;
END
$qmon_body$;
