-- Skip number p_number if it is a proven hole: drawn by a producer whose transaction has ended, and no message in its
-- slot. True if it was skipped. Called by sessions that wait for the number; never waits itself.
--
-- The proof takes time: the transactions that had drawn when the number was first looked at are remembered in a
-- setting of the session, and the hole is proven when none of them is left. Skipping sets turn to n + size: a producer
-- that comes back with this number is refused and draws a new one. SKIP LOCKED: a producer that is writing the slot now
-- is no hole.
--
-- Producers that wait for room in open transactions would each wait here for the end of the others. So each declares
-- with an advisory lock, whose keys are the sequence and the lower 32 bits of a number, that it will use no smaller one
-- (see push); a smaller hole then does not wait for its end. A savepoint that gives it back a smaller number takes the
-- lock with it.
-- {table}     the ring
-- {skip_hole} the function
-- {drawing}   function: open transactions that have drawn from a sequence
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
