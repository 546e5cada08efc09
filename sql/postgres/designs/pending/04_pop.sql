-- Pop the message that has been due longest and that no other consumer is popping; no row if none is due. The article's
-- usp_dequeuePending.
--
-- FOR UPDATE replaces the update lock of the article's CTE, SKIP LOCKED replaces READPAST, and row locks replace
-- ROWLOCK. One statement finds, locks, deletes and returns the row, so two consumers cannot get the same row. There is
-- no deadlock: a pop never waits for a lock, and a push locks no existing row.
--
-- The clock is read once into v_now, as in the article: with a variable, the index search ends at the first message
-- that is not due, while clock_timestamp() in the statement would be evaluated for every scheduled message. "= (SELECT
-- …)" and not IN: the subquery then runs exactly once, before the DELETE. enable_seqscan and enable_bitmapscan are off:
-- a plan for an empty table would read and sort the whole table, and the session would keep this plan after a burst has
-- filled the queue.
--
-- "No row" means that no message can be popped. One read cannot prove this: it sees the rows that were committed when
-- it began and due by v_now, and other consumers may have popped all these rows while new messages arrived or became
-- due. So pop reads again until no message is due, or until it finds exactly the due messages of the previous read:
-- then other consumers hold all these messages.
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
    v_now   timestamptz;
    v_next  timestamptz;
    v_known bigint[];
    v_seen  bigint[];
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    FOR v_try IN 1..100 LOOP
        v_now := clock_timestamp();
        RETURN QUERY
        DELETE FROM {table} AS q
        WHERE q.id = (
            SELECT r.id
            FROM {table} AS r
            WHERE r.due_time <= v_now
            ORDER BY r.due_time, r.id
            LIMIT 1
            FOR UPDATE SKIP LOCKED
        )
        RETURNING q.id, q.payload;
        EXIT WHEN FOUND;
        -- One statement, so that both are of one moment; whether the next one is due is asked after that moment.
        SELECT
            ARRAY(SELECT r.id FROM {table} AS r WHERE r.due_time <= v_now ORDER BY r.due_time, r.id LIMIT 1000),
            (SELECT r.due_time FROM {table} AS r WHERE r.due_time > v_now ORDER BY r.due_time LIMIT 1)
        INTO v_seen, v_next;
        CONTINUE WHEN v_next <= clock_timestamp();
        EXIT WHEN cardinality(v_seen) = 0 OR v_seen = v_known;
        v_known := v_seen;
    END LOOP;
END
$qmon_body$;
