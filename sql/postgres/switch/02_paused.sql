-- Stops a paused producer (p_side 'producers') or consumer ('consumers'): raises an error that allows a later retry
-- (SQLSTATE QM001 for producers, QM002 for consumers) with the end of the pause in UTC. If the session asked to wait,
-- it first waits for the end of the pause. push and pop call it before they take a number or touch a row.
--
-- Settings of the session (SET, ALTER ROLE, or the connection's options):
--   qmon.pause_wait_ms  maximum milliseconds to wait before the error; 60,000 at most, since the statement's
--                       transaction stays open and keeps vacuum from removing dead rows;
--   qmon.let_through    'on': pauses do not stop this session, which acts for an operator.
-- {push_until}      the sequence for producers
-- {pop_until}       the sequence for consumers
-- {paused}          the function
-- {table}           the queue
CREATE FUNCTION {paused}(p_side text) RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $qmon_body$
DECLARE
    v_sequence regclass := CASE p_side WHEN 'producers' THEN {push_until!literal}::regclass
                                       ELSE {pop_until!literal}::regclass END;
    v_asked    text := nullif(current_setting('qmon.pause_wait_ms', true), '');
    v_wait_ms  double precision := least(60000, coalesce(v_asked::float8, 0));
    v_begun    timestamptz := clock_timestamp();
    v_end      timestamptz;
BEGIN
    IF current_setting('qmon.let_through', true) = 'on' THEN
        RETURN;
    END IF;
    LOOP
        v_end := to_timestamp(coalesce(pg_sequence_last_value(v_sequence), 0) / 1000.0::float8);
        IF v_end <= clock_timestamp() THEN
            RETURN;
        END IF;
        EXIT WHEN clock_timestamp() >= v_begun + v_wait_ms * interval '1 millisecond';
        PERFORM pg_sleep(greatest(0.001, least(
            0.05,
            extract(epoch FROM v_end - clock_timestamp()),
            extract(epoch FROM v_begun + v_wait_ms * interval '1 millisecond' - clock_timestamp())
        )));
    END LOOP;
    RAISE EXCEPTION 'the % of % are paused until % UTC', p_side, {table!literal},
            to_char(v_end AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
        USING ERRCODE = CASE p_side WHEN 'producers' THEN 'QM001' ELSE 'QM002' END,
            HINT = 'Nothing was done. Try again later, or SET qmon.pause_wait_ms to wait for the end of the pause.';
END
$qmon_body$;
