-- Pop any message that no other consumer is popping; no row if there is none. The article's usp_dequeueHeap. id is
-- NULL.
--
-- FOR UPDATE SKIP LOCKED is the article's ROWLOCK and READPAST: one statement finds, locks, deletes and returns, and
-- two consumers neither wait for each other nor get the same row. There is no deadlock: a pop never waits for a lock,
-- and a push locks no existing row. Rows are addressed by their position (ctid), which does not change until they are
-- deleted: nothing updates a row here, and locked rows are not deleted.
--
-- The session remembers where it popped last (setting qmon.heap) and continues from there, then from the beginning:
-- otherwise every pop would read all the dead rows at the front that vacuum has not removed yet. One pop in a thousand
-- begins at the beginning all the same, so that under a load that never ends no message is left behind the
-- consumers.
-- enable_seqscan off: a range of places is read, not the table.
--
-- "No row" means that no message can be popped. One read cannot prove this: it sees the rows committed when it began,
-- and other consumers may have popped all these rows while new messages arrived. So pop reads again until no row is
-- left, or until it finds exactly the rows of the previous read: then other consumers hold all these rows.
-- {table}     the queue
-- {pop}       the function
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop}() RETURNS TABLE (id bigint, payload bytea)
LANGUAGE plpgsql ROWS 1
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_name  text := {table!literal}::regclass::oid || ' ';
    v_last  text := current_setting('qmon.heap', true);
    v_from  tid  := '(0,0)';
    v_at    tid;
    v_known tid[];
    v_seen  tid[];
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
        DELETE FROM {table} AS q
        WHERE q.ctid = (
            SELECT r.ctid
            FROM {table} AS r
            WHERE r.ctid > v_from
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        )
        RETURNING q.ctid, q.payload INTO v_at, payload;
        IF FOUND THEN
            PERFORM set_config('qmon.heap', v_name || v_at, false);
            RETURN NEXT;
            RETURN;
        END IF;
        IF v_from > CAST('(0,0)' AS tid) THEN
            v_from := '(0,0)';
            CONTINUE;
        END IF;
        v_known := v_seen;
        v_seen := ARRAY(SELECT r.ctid FROM {table} AS r WHERE r.ctid > v_from LIMIT 1000);
        EXIT WHEN cardinality(v_seen) = 0 OR v_seen = v_known;
    END LOOP;
END
$qmon_body$;
