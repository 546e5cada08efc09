-- Skip number p_number if it is a proven hole: the transaction of the producer that took it has ended, and its slot has
-- no message. Returns true if it was skipped. Sessions that wait for the number call this function. It never waits.
--
-- The proof takes time. A setting of the session contains the transactions that had taken a number when the number was
-- first checked. When all these transactions have ended, the hole is proven. Skipping sets turn to n + size: if a
-- producer comes back with this number, the slot refuses the number, and the producer takes a new number. SKIP LOCKED:
-- a slot that a producer is writing now is no hole.
--
-- Producers that wait for room in open transactions would all wait for each other. So each producer declares, with an
-- advisory lock whose keys are the sequence and the lower 32 bits of a number, that it will use no smaller number (see
-- push). The proof of a smaller hole then does not wait for this producer. If a rollback to a savepoint gives the
-- producer a smaller number again, it also releases the lock.
-- {table}     the ring
-- {skip_hole} the function
-- {drawing}   function: open transactions that have taken a number from a sequence
-- {push_seq}  the sequence of push numbers
-- {size!int}  slots
CREATE FUNCTION {skip_hole}(p_number bigint) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_name  text   := {push_seq!literal}::regclass::oid || ':' || p_number;
    v_known text[] := string_to_array(current_setting('qmon.hole', true), ' ');
    v_open  text[];
BEGIN
    IF p_number > (SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END FROM {push_seq} AS s) THEN
        RETURN false;
    END IF;
    v_open := {drawing}({push_seq!literal}::regclass);
    IF v_known[1] = v_name THEN
        v_open := ARRAY(SELECT unnest(v_known[2:] || 'prepared'::text) INTERSECT SELECT unnest(v_open));
    END IF;
    IF EXISTS (
        SELECT unnest(v_open)
        EXCEPT
        SELECT l.virtualtransaction
        FROM pg_locks AS l
        WHERE l.locktype = 'advisory'
            AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND l.classid = {push_seq!literal}::regclass
            AND l.objsubid = 2
            AND (CAST(l.objid AS bigint) - p_number % 4294967296 + 4294967296) % 4294967296 BETWEEN 1 AND 2147483647
    ) THEN
        PERFORM set_config('qmon.hole', array_to_string(v_name || v_open, ' '), false);
        RETURN false;
    END IF;
    PERFORM FROM {table} AS q
    WHERE q.slot = p_number % {size!int}
        AND q.turn = p_number
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE {table} AS q
    SET turn = p_number + {size!int}
    WHERE q.slot = p_number % {size!int}
        AND q.turn = p_number;
    RETURN FOUND;
END
$qmon_body$;
