-- Name of the consumer in this session: "pid/start", see the table. Called once per session; the setting qmon.owner
-- keeps the name, because reading pg_stat_activity at every pop would cost more than the pop.
-- {owner} the function
CREATE FUNCTION {owner}() RETURNS text
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $qmon_body$
DECLARE
    v_owner text := current_setting('qmon.owner', true);
BEGIN
    IF v_owner IS NULL OR v_owner = '' THEN
        SELECT a.pid || '/' || floor(extract(epoch FROM a.backend_start))::bigint
        INTO v_owner
        FROM pg_stat_activity AS a
        WHERE a.pid = pg_backend_pid();
        PERFORM set_config('qmon.owner', v_owner, false);
    END IF;
    RETURN v_owner;
END
$qmon_body$;
