-- Push many messages in one statement; returns a row for each. An addition: the article pushes one at a time.
-- {table}      the queue
-- {push_batch} the function
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push_batch}(p_payloads bytea[]) RETURNS SETOF bigint
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
    INSERT INTO {table} (payload)
    SELECT p.payload
    FROM unnest(p_payloads) AS p(payload)
    RETURNING CAST(1 AS bigint);
END
$qmon_body$;
