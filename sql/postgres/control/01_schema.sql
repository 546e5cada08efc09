-- qmon's own schema. Does nothing if it exists; the right to create one is then not needed.
DO $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('qmon control'));
    IF to_regnamespace('qmon') IS NULL THEN
        CREATE SCHEMA qmon;
        COMMENT ON SCHEMA qmon IS 'qmon: what it knows about the queues of this database';
    END IF;
END
$$
