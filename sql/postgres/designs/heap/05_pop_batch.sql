-- Pop up to p_limit messages, any. An addition: the article pops one at a time. Begins where the session popped last,
-- and reads again before it returns no row, like pop.
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
    v_name  text := {table!literal}::regclass::oid || ' ';
    v_last  text := current_setting('qmon.heap', true);
    v_from  tid  := '(0,0)';
    v_known tid[];
    v_seen  tid[];
    v_rows  tid[];
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    IF starts_with(v_last, v_name) AND random() > 0.001 THEN
        v_from := CAST(substr(v_last, length(v_name) + 1) AS tid);
    END IF;
    FOR v_try IN 1..200 LOOP
        -- An array first: the subquery runs exactly once, before the DELETE.
        v_rows := ARRAY(
            SELECT r.ctid
            FROM {table} AS r
            WHERE r.ctid > v_from
            LIMIT p_limit
            FOR UPDATE SKIP LOCKED
        );
        IF cardinality(v_rows) > 0 THEN
            PERFORM set_config('qmon.heap', v_name || v_rows[cardinality(v_rows)], false);
            EXIT;
        END IF;
        IF v_from > CAST('(0,0)' AS tid) THEN
            v_from := '(0,0)';
            CONTINUE;
        END IF;
        v_known := v_seen;
        v_seen := ARRAY(SELECT r.ctid FROM {table} AS r WHERE r.ctid > v_from LIMIT 1000);
        EXIT WHEN cardinality(v_seen) = 0 OR v_seen = v_known;
    END LOOP;
    RETURN QUERY
    DELETE FROM {table} AS q
    WHERE q.ctid = ANY (v_rows)
    RETURNING CAST(NULL AS bigint), q.payload;
END
$qmon_body$;
