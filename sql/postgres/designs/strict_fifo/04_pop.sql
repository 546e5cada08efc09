-- Pop the oldest message; no row if there is none. If another consumer has it, wait until that one has committed (then
-- it is gone, and the next one is ours) or rolled back (then it is ours). The article: usp_dequeueFifo without
-- READPAST.
--
-- FOR UPDATE is the update lock of the article's CTE. Several consumers wait for the same row; if it is gone when a
-- consumer wakes up, the consumer goes on to the next row that it saw when it began, and if all of them are gone it has
-- none. That is no empty queue: messages may have come since. So it reads again, until a read shows no message at all.
-- A row that a consumer holds is still visible, so "no row" also means that no consumer can put one back.
--
-- No deadlock among consumers: all lock from the smallest id on. For a transaction that also pushes see push. Under
-- REPEATABLE READ, a consumer that waited gets a serialization error (40001) and must retry; nothing is lost.
--
-- "= (SELECT …)" and not IN: the subquery then runs exactly once, before the DELETE. enable_seqscan and
-- enable_bitmapscan are off: a plan for an empty table would read and sort the whole table, and the session would keep
-- this plan after a burst has filled the queue. The primary key gives the order at any size.
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
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    LOOP
        RETURN QUERY
        DELETE FROM {table} AS q
        WHERE q.id = (
            SELECT r.id
            FROM {table} AS r
            ORDER BY r.id
            LIMIT 1
            FOR UPDATE
        )
        RETURNING q.id, q.payload;
        EXIT WHEN FOUND OR (SELECT r.id FROM {table} AS r ORDER BY r.id LIMIT 1) IS NULL;
    END LOOP;
END
$qmon_body$;
