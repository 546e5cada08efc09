-- The open transactions that have taken a number from a sequence, without this session's own.
--
-- nextval() locks its sequence (RowExclusiveLock) until the transaction ends, even after a rollback to a savepoint. So
-- if a number is taken, its transaction is in this list or has ended. This proves a hole. All prepared transactions
-- (two-phase commit) are one entry, 'prepared'.
-- {drawing} the function
CREATE FUNCTION {drawing}(p_sequence regclass) RETURNS text[]
LANGUAGE sql
SET search_path = pg_catalog, pg_temp
AS $qmon_body$
    SELECT coalesce(
        array_agg(DISTINCT CASE WHEN l.pid IS NULL THEN 'prepared' ELSE l.virtualtransaction END),
        ARRAY[]::text[]
    )
    FROM pg_locks AS l
    WHERE l.locktype = 'relation'
        AND l.relation = p_sequence
        AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        AND l.mode = 'RowExclusiveLock'
        AND l.pid IS DISTINCT FROM pg_backend_pid()
$qmon_body$;
