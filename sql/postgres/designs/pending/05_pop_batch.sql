-- Pop up to p_limit messages that are due, the longest due first. An addition: the article pops one at a time.
-- Reads again, like pop, before it returns no row.
-- {table}     the queue
-- {pop_batch} the function
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop_batch}(p_limit integer) RETURNS TABLE (id bigint, payload bytea)
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_now   timestamptz;
    v_next  timestamptz;
    v_known bigint[];
    v_seen  bigint[];
    v_ids   bigint[];
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    FOR v_try IN 1..100 LOOP
        v_now := clock_timestamp();
        -- An array first: it is in the order of pops, and the DELETE goes through it by index at any size.
        v_ids := ARRAY(
            SELECT r.id
            FROM {table} AS r
            WHERE r.due_time <= v_now
            ORDER BY r.due_time, r.id
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        );
        EXIT WHEN cardinality(v_ids) > 0;
        -- One statement, so that both are of one moment; whether the next one is due is asked after that moment.
        SELECT
            ARRAY(SELECT r.id FROM {table} AS r WHERE r.due_time <= v_now ORDER BY r.due_time, r.id LIMIT 1000),
            (SELECT r.due_time FROM {table} AS r WHERE r.due_time > v_now ORDER BY r.due_time LIMIT 1)
        INTO v_seen, v_next;
        CONTINUE WHEN v_next <= clock_timestamp();
        EXIT WHEN cardinality(v_seen) = 0 OR v_seen = v_known;
        v_known := v_seen;
    END LOOP;
    RETURN QUERY
    WITH popped AS (
        DELETE FROM {table} AS q
        WHERE q.id = ANY (v_ids)
        RETURNING q.id, q.payload, q.due_time
    )
    SELECT p.id, p.payload
    FROM popped AS p
    ORDER BY p.due_time, p.id;
END
$qmon_body$;
