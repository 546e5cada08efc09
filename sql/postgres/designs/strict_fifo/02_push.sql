-- Push one message; returns its id. The article's usp_enqueueFifo, and one push at a time.
--
-- The lock is what makes the order of ids that of commits. Without it a producer may take 1 and commit after another
-- one that has taken 2; in SQL Server the consumer would wait at the row that is not committed, in PostgreSQL it does
-- not see it, pops 2 and meets 1 too late. The lock is the transaction's (advisory: it touches no row), keyed by "qmon"
-- and the table's oid, and it ends with the transaction.
--
-- No deadlock among producers, which take only this lock. A transaction that pops and pushes here pops first: one that
-- pushes first holds the lock while it waits for a consumer, and if that one wants to push they wait for each other.
-- PostgreSQL then ends one of the two after a second, and its client must retry.
-- {table}      the queue
-- {push}       the function
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push}(p_payload bytea) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_id bigint;
BEGIN
    IF pg_sequence_last_value({push_until!literal}::regclass) > 0
        AND pg_sequence_last_value({push_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('producers');
    END IF;
    PERFORM pg_advisory_xact_lock((1903062894::bigint << 32) | {table!literal}::regclass::oid::bigint);
    INSERT INTO {table} (payload)
    VALUES (p_payload)
    RETURNING id INTO v_id;
    RETURN v_id;
END
$qmon_body$;
