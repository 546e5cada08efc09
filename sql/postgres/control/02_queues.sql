-- The registry: the queues that qmon installed here, and how their tables act as queues. Does nothing if it exists. If
-- the role qmon_monitor already exists, it may read the registry.
DO $$
DECLARE
    v_role text := pg_catalog.current_setting('role');
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('qmon control'));
    PERFORM pg_catalog.set_config('role', pg_catalog.pg_get_userbyid(n.nspowner), true)
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname OPERATOR(pg_catalog.=) 'qmon';
    IF to_regclass('qmon.queues') IS NULL THEN
        CREATE TABLE qmon.queues (
            queue        text        NOT NULL PRIMARY KEY,
            design       text        NOT NULL,
            layout       json        NOT NULL,
            version      integer     NOT NULL DEFAULT 1,
            installed_by text        NOT NULL DEFAULT session_user,
            installed_at timestamptz NOT NULL DEFAULT now()
        );
        COMMENT ON TABLE qmon.queues IS 'qmon: the registry of installed queues';
        COMMENT ON COLUMN qmon.queues.version IS 'format of the layout column';
        IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'qmon_monitor') THEN
            GRANT USAGE ON SCHEMA qmon TO qmon_monitor;
            GRANT SELECT ON qmon.queues TO qmon_monitor;
        END IF;
    END IF;
    PERFORM pg_catalog.set_config('role', v_role, true);
END
$$
