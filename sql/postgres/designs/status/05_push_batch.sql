-- Push many messages in one statement; returns their ids. An addition: the article pushes one at a time.
-- {table}      the queue
-- {push_batch} the function
CREATE FUNCTION {push_batch}(p_messages bytea[]) RETURNS SETOF bigint
LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    RETURN QUERY
    INSERT INTO {table} (status, message)
    SELECT 1, m.message
    FROM unnest(p_messages) AS m(message)
    RETURNING id;
END
$qmon_body$;
