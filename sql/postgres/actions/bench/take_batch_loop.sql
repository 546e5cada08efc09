-- Pops and completes batches until the slice ends, in two transactions each; otherwise like take_loop.sql. A setting of
-- the session also contains the committed counts, because an error does not undo a setting; see salvage.sql.
-- {loop}           the procedure
-- {pop_batch}      function of the design
-- {complete_batch} function of the design
-- {popped}         gate: counts popped messages
CREATE PROCEDURE {loop}(
    p_until double precision, p_batch integer, p_unit bigint, p_ahead bigint, p_bytes integer,
    INOUT carry bigint, INOUT messages bigint, INOUT missed bigint, INOUT spent bigint[], INOUT completed bigint[]
)
LANGUAGE plpgsql
AS $qmon_body$
DECLARE
    v_end    timestamptz := to_timestamp(p_until);
    v_began  timestamptz;
    v_popped timestamptz;
    v_now    timestamptz := clock_timestamp();
    v_pause  double precision := 0.001;
    v_ids    bigint[];
    v_tries  integer[];
    v_at     integer;
BEGIN
    messages := 0;
    missed := 0;
    spent := array_fill(CAST(0 AS bigint), ARRAY[192]);
    completed := spent;
    WHILE v_now < v_end LOOP
        v_began := clock_timestamp();
        SELECT coalesce(array_agg(p.id), '{}'), array_agg(p.attempt)
        INTO v_ids, v_tries
        FROM {pop_batch}(p_batch) AS p;
        COMMIT;
        v_popped := clock_timestamp();
        IF cardinality(v_ids) = 0 THEN
            missed := missed + 1;
            PERFORM pg_sleep(v_pause);
            v_pause := least(v_pause * 2, 0.016);
            v_now := clock_timestamp();
            CONTINUE;
        END IF;
        v_pause := 0.001;
        messages := messages + {complete_batch}(v_ids, v_tries);
        carry := carry + cardinality(v_ids);
        PERFORM set_config('qmon.bench', format('%s %s %s', p_until, messages, carry), false);
        COMMIT;
        v_now := clock_timestamp();
        v_at := least(192, 1 + floor(11.54156 * ln(1 + greatest(0, date_part('epoch', v_popped - v_began) * 1e6))));
        spent[v_at] := spent[v_at] + 1;
        v_at := least(192, 1 + floor(11.54156 * ln(1 + greatest(0, date_part('epoch', v_now - v_popped) * 1e6))));
        completed[v_at] := completed[v_at] + 1;
        WHILE carry >= p_unit LOOP
            PERFORM nextval({popped!literal}::regclass);
            carry := carry - p_unit;
        END LOOP;
    END LOOP;
END
$qmon_body$
