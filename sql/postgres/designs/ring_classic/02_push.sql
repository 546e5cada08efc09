-- Push one message; returns its number, or NULL if its slot did not become free within p_wait_ms milliseconds: call
-- again from the same session, which keeps the number it has taken (setting qmon.classic_push) and continues to wait
-- with it. As published: take a number, and try the slot every 100 ms until it is free. A session that ends in the
-- meantime, or a transaction that is rolled back, loses the number: a hole.
--
-- The row lock of the UPDATE is the article's ROWLOCK. No deadlock: one row is locked, and nothing is waited for with
-- it. A try sees new commits only in READ COMMITTED, so at other isolation levels there is one try.
-- {table}      the ring
-- {push}       the function
-- {push_seq}   the sequence of push numbers
-- {size!int}   slots
-- {push_until} end of the producers' pause
-- {paused}     function: waits or raises an error during a pause
CREATE FUNCTION {push}(p_message text, p_wait_ms integer DEFAULT 1000) RETURNS bigint
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan
AS $qmon_body$
DECLARE
    v_name   text := {push_seq!literal}::regclass::oid || ' ';
    v_kept   text := current_setting('qmon.classic_push', true);
    v_number bigint;
    v_end    timestamptz := clock_timestamp() + p_wait_ms * interval '1 millisecond';
BEGIN
    IF pg_sequence_last_value({push_until!literal}::regclass) > 0
        AND pg_sequence_last_value({push_until!literal}::regclass) > date_part('epoch', clock_timestamp()) * 1000
    THEN
        PERFORM {paused}('producers');
    END IF;
    IF starts_with(v_kept, v_name) THEN
        v_number := substr(v_kept, length(v_name) + 1);
    ELSE
        v_number := nextval({push_seq!literal}::regclass);
    END IF;
    LOOP
        UPDATE {table} AS q
        SET time = clock_timestamp(),
            message = p_message,
            message_id = v_number,
            reference_count = q.reference_count + 1
        WHERE q.slot = v_number % {size!int}
            AND q.reference_count = 0;
        IF FOUND THEN
            PERFORM set_config('qmon.classic_push', '', false);
            RETURN v_number;
        END IF;
        IF clock_timestamp() >= v_end OR current_setting('transaction_isolation') <> 'read committed' THEN
            PERFORM set_config('qmon.classic_push', v_name || v_number, false);
            RETURN NULL;
        END IF;
        PERFORM pg_sleep(least(0.1, extract(epoch FROM v_end - clock_timestamp())));
    END LOOP;
END
$qmon_body$;
