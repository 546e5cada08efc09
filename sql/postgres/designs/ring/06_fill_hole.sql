-- Repair: skip number p_number. Waits up to p_wait_ms milliseconds for the proof that the number is a hole: every
-- transaction that may have taken it has ended. True if it was skipped; false if it is not a hole, or not proven in
-- time.
-- {fill_hole} the function
-- {skip_hole} function: skip a proven hole
CREATE FUNCTION {fill_hole}(p_number bigint, p_wait_ms integer DEFAULT 1000) RETURNS boolean
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $qmon_body$
DECLARE
    v_end timestamptz := clock_timestamp() + p_wait_ms * interval '1 millisecond';
BEGIN
    LOOP
        IF {skip_hole}(p_number) THEN
            RETURN true;
        END IF;
        IF clock_timestamp() >= v_end THEN
            RETURN false;
        END IF;
        PERFORM pg_sleep(0.005);
    END LOOP;
END
$qmon_body$;
