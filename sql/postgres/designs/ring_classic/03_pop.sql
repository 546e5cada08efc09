-- Pop the next message; no row if it did not come within p_wait_ms milliseconds: call again from the same session,
-- which keeps the number it has taken (setting qmon.classic_pop) and continues to wait for that message. As published:
-- take a number, and try its slot every second until the message is there. A session that ends in the meantime, or a
-- transaction that is rolled back, loses the number, and its message waits forever.
--
-- p_head_start: take no number unless producers are this far ahead (the article: "it is generally a good idea to let
-- push get a head start"); 0: take a number at once and run ahead of the producers, as its code does.
--
-- No deadlock: one row is locked, and nothing is waited for with it. A try sees new commits only in READ COMMITTED, so
-- at other isolation levels there is one try.
-- {table}     the ring
-- {pop}       the function
-- {push_seq}  the sequence of push numbers
-- {pop_seq}   the sequence of pop numbers
-- {size!int}  slots
-- {pop_until} end of the consumers' pause
-- {paused}    function: waits or raises an error during a pause
CREATE FUNCTION {pop}(p_wait_ms integer DEFAULT 0, p_head_start integer DEFAULT 1)
RETURNS TABLE (id bigint, payload text)
LANGUAGE plpgsql ROWS 1
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_name   text := {pop_seq!literal}::regclass::oid || ' ';
    v_kept   text := current_setting('qmon.classic_pop', true);
    v_number bigint;
    v_end    timestamptz := clock_timestamp() + p_wait_ms * interval '1 millisecond';
BEGIN
    IF pg_sequence_last_value({pop_until!literal}::regclass) > 0
        AND pg_sequence_last_value({pop_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('consumers');
    END IF;
    IF starts_with(v_kept, v_name) THEN
        v_number := substr(v_kept, length(v_name) + 1);
    END IF;
    LOOP
        IF v_number IS NULL AND (
            p_head_start <= 0
            OR coalesce(pg_sequence_last_value({push_seq!literal}::regclass), 0)
                - coalesce(pg_sequence_last_value({pop_seq!literal}::regclass), 0) >= p_head_start
        ) THEN
            v_number := nextval({pop_seq!literal}::regclass);
        END IF;
        IF v_number IS NOT NULL THEN
            UPDATE {table} AS q
            SET time = clock_timestamp(),
                message_id = NULL,
                reference_count = q.reference_count - 1
            WHERE q.slot = v_number % {size!int}
                AND q.message_id = v_number
            RETURNING q.message INTO payload;
            IF FOUND THEN
                PERFORM set_config('qmon.classic_pop', '', false);
                id := v_number;
                RETURN NEXT;
                RETURN;
            END IF;
        END IF;
        IF clock_timestamp() >= v_end OR current_setting('transaction_isolation') <> 'read committed' THEN
            IF v_number IS NOT NULL THEN
                PERFORM set_config('qmon.classic_pop', v_name || v_number, false);
            END IF;
            RETURN;
        END IF;
        PERFORM pg_sleep(least(1, extract(epoch FROM v_end - clock_timestamp())));
    END LOOP;
END
$qmon_body$;
