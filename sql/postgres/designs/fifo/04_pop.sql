-- Pop the oldest message that nobody else is popping; no row where there is none. The article's usp_dequeueFifo.
--
-- FOR UPDATE is the update lock of the article's CTE, SKIP LOCKED its READPAST, row locks its ROWLOCK. One statement finds,
-- locks, deletes and returns: two poppers cannot get the same row. A row that another popper has deleted and committed
-- since our statement began is passed over as well, so "no row" is true.
-- No deadlock: a pop never waits for a lock, and a push locks nothing that exists.
--
-- "= (SELECT …)" and not IN: the subquery then runs exactly once, before the DELETE.
-- enable_seqscan and enable_bitmapscan off: a plan made while the table was empty would read and sort the whole table, and the
-- session would keep it after a burst has filled the queue. The primary key gives the order at any size.
-- {table} the queue
-- {pop}   the function
CREATE FUNCTION {pop}() RETURNS TABLE (id bigint, payload bytea)
LANGUAGE plpgsql ROWS 1
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
BEGIN
    RETURN QUERY
    DELETE FROM {table} AS q
    WHERE q.id = (
        SELECT r.id
        FROM {table} AS r
        ORDER BY r.id
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    )
    RETURNING q.id, q.payload;
END
$qmon_body$;
