-- The pauses: the operator, side, table, reason and end of each; past ones stay. And the gate: the function called by
-- the trigger on a table that qmon has not installed; see actions/pause/gate. Does nothing if they exist. A pause is in
-- force while its switch, a sequence, contains a later time: see probes/pauses.
-- A row-level trigger lets a row pass by returning it; for a statement-level trigger the result has no meaning. That of
-- one queue of several is given its name, too. The gate runs as its owner, because producers may have no right in this
-- schema.
DO $$
DECLARE
    v_role text := pg_catalog.current_setting('role');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('qmon control'));
    PERFORM pg_catalog.set_config('role', pg_catalog.pg_get_userbyid(n.nspowner), true)
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname OPERATOR(pg_catalog.=) 'qmon';
    IF to_regclass('qmon.pauses') IS NULL THEN
        CREATE TABLE qmon.pauses (
            id        bigint      NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            queue     text        NOT NULL,
            about     text        NOT NULL,
            side      text        NOT NULL,
            switch    regclass    NOT NULL,
            since     timestamptz NOT NULL DEFAULT clock_timestamp(),
            until     timestamptz NOT NULL,
            by        text        NOT NULL,
            login     text        NOT NULL DEFAULT session_user,
            reason    text        NOT NULL,
            way       text        NOT NULL,
            lifted_at timestamptz NULL,
            lifted_by text        NULL
        );
        COMMENT ON TABLE qmon.pauses IS 'qmon: pauses of producers and consumers';
        COMMENT ON COLUMN qmon.pauses.about IS 'the table';
        COMMENT ON COLUMN qmon.pauses.switch IS 'the sequence that holds the end, in milliseconds since the epoch';
        CREATE INDEX ON qmon.pauses (until) WHERE lifted_at IS NULL;
        IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'qmon_monitor') THEN
            GRANT SELECT ON qmon.pauses TO qmon_monitor;
        END IF;
        IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'qmon_operator') THEN
            GRANT SELECT, INSERT (queue, about, side, switch, until, by, reason, way) ON qmon.pauses TO qmon_operator;
        END IF;
    END IF;
    IF to_regproc('qmon.lift_pauses') IS NULL THEN
        CREATE FUNCTION qmon.lift_pauses(p_about text, p_side text, p_by text) RETURNS int8
        LANGUAGE sql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        AS $body$
            WITH lifted AS (
                UPDATE qmon.pauses AS p
                SET lifted_at = clock_timestamp(), lifted_by = p_by
                WHERE p.lifted_at IS NULL AND p.about = p_about AND p.side = p_side AND p.until > clock_timestamp()
                RETURNING p.id
            )
            SELECT count(*) FROM lifted
        $body$;
        REVOKE ALL ON FUNCTION qmon.lift_pauses(text, text, text) FROM PUBLIC;
        IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'qmon_operator') THEN
            GRANT EXECUTE ON FUNCTION qmon.lift_pauses(text, text, text) TO qmon_operator;
        END IF;
    END IF;
    IF to_regprocedure('qmon.gate()') IS NULL THEN
        CREATE FUNCTION qmon.gate() RETURNS trigger
        LANGUAGE plpgsql SECURITY DEFINER
        SET search_path = pg_catalog, pg_temp
        AS $body$
        DECLARE
            v_asked   text        := nullif(current_setting('qmon.pause_wait_ms', true), '');
            v_wait_ms float8      := least(60000, coalesce(v_asked::float8, 0));
            v_begun   timestamptz := clock_timestamp();
            v_end     timestamptz;
        BEGIN
            IF current_setting('qmon.let_through', true) = 'on' THEN
                RETURN NEW;
            END IF;
            LOOP
                v_end := to_timestamp(coalesce(pg_sequence_last_value(TG_ARGV[0]::regclass), 0) / 1000.0::float8);
                IF v_end <= clock_timestamp() THEN
                    RETURN NEW;
                END IF;
                EXIT WHEN clock_timestamp() >= v_begun + v_wait_ms * interval '1 millisecond';
                PERFORM pg_sleep(0.02);
            END LOOP;
            RAISE EXCEPTION 'the producers of %.% are paused until % UTC', quote_ident(TG_TABLE_SCHEMA),
                    quote_ident(TG_TABLE_NAME) || coalesce(', queue ' || TG_ARGV[1] || ',', ''), to_char(v_end AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS')
                USING ERRCODE = 'QM001',
                    HINT = 'Nothing was inserted. Try again later, or SET qmon.pause_wait_ms to wait for the end.';
        END
        $body$;
        COMMENT ON FUNCTION qmon.gate() IS 'qmon: refuses inserts while the producers of a table are paused';
    END IF;
    PERFORM pg_catalog.set_config('role', v_role, true);
END
$$
