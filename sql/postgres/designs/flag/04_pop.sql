-- Pop the oldest ready message that no other consumer is popping: it is now processed. Returns no row if there is none.
-- The article's UPDATE of a CTE with READPAST and OUTPUT.
--
-- FOR UPDATE is the update lock of that CTE, SKIP LOCKED its READPAST: one statement finds, locks, marks and returns,
-- so that two consumers cannot get the same row. A row that another consumer has taken and committed since our statement
-- began is looked at again and passed over. No deadlock: a pop never waits for a lock.
--
-- "= (SELECT …)" and not IN: the subquery then runs exactly once, before the UPDATE. enable_seqscan and
-- enable_bitmapscan are off: a plan for an empty table would read and sort the whole table, and the session would keep
-- this plan after a burst has filled the queue. The primary key gives the order at any size.
--
-- "No row" means that no message can be popped. One read cannot prove this: it sees the rows committed when it began,
-- and other consumers may have popped all these rows while new messages arrived. So pop reads again until no message is
-- ready, or until the first and the last ready message are the same as before: then other consumers hold all ready
-- messages.
-- {table}     the queue
-- {pop}       the function
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop}() RETURNS TABLE (id bigint, payload text)
LANGUAGE plpgsql ROWS 1
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_known bigint[];
    v_seen  bigint[];
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    FOR v_try IN 1..100 LOOP
        RETURN QUERY
        UPDATE {table} AS q
        SET processed = 1, processed_at = clock_timestamp()
        WHERE q.processed = 0::smallint
            AND q.id = (
                SELECT r.id
                FROM {table} AS r
                WHERE r.processed = 0::smallint
                ORDER BY r.id
                LIMIT 1
                FOR UPDATE SKIP LOCKED
            )
        RETURNING q.id, q.command;
        EXIT WHEN FOUND;
        v_known := v_seen;
        v_seen := ARRAY[
            (SELECT r.id FROM {table} AS r WHERE r.processed = 0::smallint ORDER BY r.id LIMIT 1),
            (SELECT r.id FROM {table} AS r WHERE r.processed = 0::smallint ORDER BY r.id DESC LIMIT 1)
        ];
        EXIT WHEN v_seen[1] IS NULL OR v_seen = v_known;
    END LOOP;
END
$qmon_body$;
